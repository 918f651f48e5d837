"""Segments: equal however they are cut, thinned where they should be, observed at every draw."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference import records
from nlobayes.inference.kernels import KERNELS
from nlobayes.inference.kernels.protocol import Kernel, State, Tuned
from nlobayes.inference.sampling import Draws, draw

SETTINGS: dict[str, dict[str, Any]] = {
    "hmc": {"integration_steps": 4, "jitter": 0.2, "divergence_threshold": 1000.0},
    "nuts": {"max_depth": 3, "divergence_threshold": 1000.0},
}
TUNED = Tuned(jnp.asarray(0.2), jnp.array([0.5, 1.0, 2.0]))


def quartic_kernel(name: str) -> Kernel:
    return KERNELS[name](lambda q: -jnp.sum(q**4) - 0.5 * jnp.sum(q**2), **SETTINGS[name])


def observe(q: jax.Array) -> dict[str, jax.Array]:
    return {"position": q, "norm": jnp.sqrt(jnp.sum(q**2))}


@cache
def compiled(name: str, kept: int, keep_every: int) -> tuple[Kernel, Callable[..., Any]]:
    kernel = quartic_kernel(name)
    lengths = {"kept": kept, "keep_every": keep_every}
    return kernel, jax.jit(
        lambda key, state, first: draw(
            key, kernel, state, TUNED, first=first, observe=observe, **lengths
        )
    )


def sample(
    name: str, state: State | None, *, first: int, kept: int, keep_every: int = 3, seed: int = 0
) -> tuple[State, Draws]:
    kernel, run = compiled(name, kept, keep_every)
    begin = kernel.init(jnp.array([0.1, -0.2, 0.3])) if state is None else state
    return run(jax.random.key(seed), begin, first)


@pytest.mark.parametrize("name", KERNELS)
def test_segments_equal_one_long_run_bit_for_bit(name: str) -> None:
    """Two segments, the second continued from a record of arrays, against one run of 24 draws."""
    expected = sample(name, None, first=0, kept=8)
    state, pieces = None, []
    for first, kept in ((0, 4), (12, 4)):
        state, piece = sample(name, state, first=first, kept=kept)
        pieces.append(piece)
        state, tuned = records.restore(records.chain_state(0, first + 3 * kept, state, TUNED))
        jax.tree.map(np.testing.assert_array_equal, tuned, TUNED)
    assert state is not None
    jax.tree.map(np.testing.assert_array_equal, state, expected[0])
    jax.tree.map(np.testing.assert_array_equal, records.join(pieces), expected[1])


def test_every_draw_is_observed_and_every_third_is_kept() -> None:
    state, draws = sample("hmc", None, first=0, kept=8, keep_every=3)
    positions = draws.observed["position"]
    assert positions.shape == (24, 3)
    np.testing.assert_array_equal(draws.kept, positions[2::3])
    np.testing.assert_array_equal(state.position, positions[-1])
    np.testing.assert_allclose(draws.observed["norm"], np.linalg.norm(positions, axis=1))
    log_density = -np.sum(positions**4 + positions**2 / 2, axis=1)
    np.testing.assert_allclose(draws.logdensity, log_density, rtol=1e-12)
    assert all(np.shape(field) == (24,) for field in draws.info)
    assert len(np.unique(positions[:, 0])) > 5


def test_thinning_only_selects() -> None:
    all_, thinned = (sample("hmc", None, first=0, kept=24 // n, keep_every=n) for n in (1, 3))
    jax.tree.map(np.testing.assert_array_equal, thinned[0], all_[0])
    np.testing.assert_array_equal(thinned[1].kept, all_[1].kept[2::3])
    np.testing.assert_array_equal(thinned[1].logdensity, all_[1].logdensity)


def test_randomness_follows_the_key_and_the_number_of_the_draw() -> None:
    reference = sample("hmc", None, first=0, kept=2)[1].info.energy
    for changed in ({"first": 6, "seed": 0}, {"first": 0, "seed": 1}):
        other = sample("hmc", None, kept=2, **changed)[1].info.energy
        assert not np.isin(other, reference).any()
