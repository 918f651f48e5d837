"""Segments: equal however they are cut, thinned where they should be, observed at every draw."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference import chain_arrays
from nlobayes.inference.chain_groups import each_chain
from nlobayes.inference.emulator import begin_at_mode
from nlobayes.inference.kernel import Kernel, Posterior, Tuned
from nlobayes.inference.sampling import Draws, draw
from tests.members import build_kernel

SETTINGS: dict[str, dict[str, Any]] = {
    "random_walk": {},
    "hmc": {"integration_steps": 4, "jitter": 0.2, "divergence_threshold": 1000.0},
    "nuts": {"max_depth": 3, "divergence_threshold": 1000.0},
}
TUNED = Tuned(jnp.array([0.2]), jnp.array([[0.5, 1.0, 2.0]]))


def quartic_kernel(name: str) -> Kernel:
    return build_kernel(
        name,
        Posterior(lambda q, b=1.0: b * (-jnp.sum(q**4) - 0.5 * jnp.sum(q**2))),
        **SETTINGS[name],
    )


def observe(q: jax.Array) -> dict[str, jax.Array]:
    return {"position": q, "norm": jnp.sqrt(jnp.sum(q**2))}


@cache
def compiled(name: str, kept: int, thin: int) -> tuple[Kernel, Callable[..., Any]]:
    kernel = quartic_kernel(name)
    lengths: dict[str, Any] = {"kept": kept, "thin": thin}
    return kernel, jax.jit(
        lambda keys, states, tuned, first: draw(
            keys, kernel, states, tuned, first=first, observe=observe, **lengths
        )
    )


def sample(
    name: str, state: Any, *, first: int, kept: int, thin: int = 3, seed: int = 0
) -> tuple[Any, Draws]:
    """Draw with one chain; its state has a leading axis, its draws are without."""
    kernel, run = compiled(name, kept, thin)
    begin = each_chain(kernel.init)(jnp.array([[0.1, -0.2, 0.3]])) if state is None else state
    state, draws = run(jax.random.key(seed)[None], begin, TUNED, first)
    return state, jax.tree.map(lambda leaf: leaf[0], draws)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.by_day(1)
def test_segments_equal_one_long_run_bit_for_bit(name: str) -> None:
    """Two segments, the second continued from a record of arrays, against one run of 24 draws."""
    expected = sample(name, None, first=0, kept=8)
    state, pieces = None, []
    for first, kept in ((0, 4), (12, 4)):
        state, piece = sample(name, state, first=first, kept=kept)
        pieces.append(jax.tree.map(lambda leaf: leaf[None], piece))
        state = chain_arrays.from_arrays(state, chain_arrays.to_arrays(state), "here")
    jax.tree.map(np.testing.assert_array_equal, state, expected[0])
    joined = jax.tree.map(lambda leaf: leaf[0], chain_arrays.join(pieces))
    jax.tree.map(np.testing.assert_array_equal, joined, expected[1])


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.by_day(1)
def test_a_chain_group_draws_what_its_chains_draw_alone(name: str) -> None:
    """Vectorised over two chains, within rounding: the same keys, the same draws."""
    kernel, run = compiled(name, 4, 1)
    keys, starts = jax.random.split(jax.random.key(5), 2), jnp.array([[0.1, -0.2, 0.3], [1, 1, 0]])
    states = each_chain(kernel.init)(starts)
    tuned = jax.tree.map(lambda leaf: jnp.concatenate([leaf, 0.5 * leaf]), TUNED)
    _, together = run(keys, states, tuned, 7)
    for chain in range(2):
        row = slice(chain, chain + 1)
        mine = jax.tree.map(lambda leaf, row=row: leaf[row], (states, tuned))
        _, alone = run(keys[row], *mine, 7)
        for field in ("kept", "logdensity", "observed"):
            jax.tree.map(
                lambda a, b, row=row: np.testing.assert_allclose(a, b[row], rtol=1e-9),
                getattr(alone, field),
                getattr(together, field),
            )


def test_every_draw_is_observed_and_every_third_is_kept() -> None:
    state, draws = sample("hmc", None, first=0, kept=8, thin=3)
    positions = draws.observed["position"]
    assert positions.shape == (24, 3)
    np.testing.assert_array_equal(draws.kept, positions[2::3])
    np.testing.assert_array_equal(state.position[0], positions[-1])
    np.testing.assert_allclose(draws.observed["norm"], np.linalg.norm(positions, axis=1))
    log_density = -np.sum(positions**4 + positions**2 / 2, axis=1)
    np.testing.assert_allclose(draws.logdensity, log_density, rtol=1e-12)
    assert all(np.shape(field) == (24,) for field in draws.info[:-1])
    assert len(np.unique(positions[:, 0])) > 5


def test_randomness_follows_the_key_and_the_number_of_the_draw() -> None:
    reference = sample("hmc", None, first=0, kept=2)[1].info.energy
    for changed in ({"first": 6, "seed": 0}, {"first": 0, "seed": 1}):
        other = sample("hmc", None, kept=2, **changed)[1].info.energy
        assert not np.isin(other, reference).any()


def test_draws_are_observed_with_the_by_product_of_their_density() -> None:
    """It is that of the position, whether a proposal or a move on the density led there."""

    def density(q: jax.Array, power: float | jax.Array = 1.0) -> jax.Array:
        return power * (-jnp.sum(q**4) - 0.5 * jnp.sum(q**2))

    target = Posterior(density, with_by_product=lambda q: (density(q), q**3))
    kernel = build_kernel("emulated_hmc", target)
    begin = jnp.array([[0.1, -0.2, 0.3], [0.5, 0.1, 0.0]])
    emulator = begin_at_mode(density, begin[0], points=1, step_size=0.3)._replace(
        every=jnp.array(4)
    )
    each = jax.tree.map(lambda x: jnp.broadcast_to(x, (2, *jnp.shape(x))), emulator)
    run = partial(draw, kernel=kernel, first=0, kept=20, thin=2)
    keys, states = jax.random.split(jax.random.key(2), 2), each_chain(kernel.init)(begin)
    _, drawn = jax.jit(
        lambda keys, states: run(keys, states=states, tuned=each, observe=lambda *both: both)
    )(keys, states)
    positions, cubes = drawn.observed
    moves = np.any(np.diff(positions, axis=1) != 0, axis=2)
    assert 0.3 < moves.mean() < 1
    np.testing.assert_allclose(cubes, positions**3, rtol=1e-12)
