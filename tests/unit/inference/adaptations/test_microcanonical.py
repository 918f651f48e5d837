"""Warm-up of the microcanonical kernels: what it reaches, that it freezes, and its collapse."""

from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.adaptations.microcanonical import Control, follow
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.chain_arrays import sample_stats, to_arrays
from nlobayes.inference.chain_checks import check_alive, check_tuned
from nlobayes.inference.kernel import Info, Kernel, Posterior
from nlobayes.inference.sampling import Draws, draw
from nlobayes.inference.warmup import adapt
from nlobayes.kernels.mclmc import TunedMomentum
from tests.members import build_kernel, build_warmup
from tests.refusals import refused

CHAINS, STEPS, ADAPTING, DRAWS = 2, 500, 450, 500
SETTINGS: dict[str, Any] = {
    "steps": STEPS,
    "adaptation_share": 0.9,
    "initial_step_size": 1e-3,
    "length_factor": 1.0,
    "target_acceptance": 0.9,
    "energy_variance": 5e-4,
}
SD, CORRELATION = np.geomspace(0.1, 10.0, 6), 0.95
RNG = np.random.default_rng(1)
FEATURES = RNG.normal(size=(200, 5))
TARGET = np.sin(FEATURES[:, 0]) + FEATURES[:, 1] * FEATURES[:, 2] + 0.1 * RNG.normal(size=200)
every_kernel = pytest.mark.parametrize("name", ["mclmc", "adjusted_mclmc"])


def covariance() -> np.ndarray:
    """Neighbours in pairs, correlated by 0.95."""
    return np.kron(np.eye(3), [[1, CORRELATION], [CORRELATION, 1]]) * np.outer(SD, SD)


def log_gaussian(q: jax.Array) -> jax.Array:
    return -0.5 * q @ jnp.linalg.inv(covariance()) @ q


def network(q: jax.Array, features: np.ndarray) -> jax.Array:
    """Give the output of a 5-8-1 tanh network."""
    inner = features @ q[:40].reshape(5, 8) + q[40:48]
    return jnp.tanh(inner) @ q[48:56] + q[56]


def log_posterior(q: jax.Array) -> jax.Array:
    """200 rows, sigma 0.1, standard normal weights."""
    misfit = jnp.sum((TARGET - network(q, FEATURES)) ** 2) / 0.1**2
    return -0.5 * (misfit + jnp.sum(q**2))


@cache
def build(name: str, log_density: Any = log_gaussian) -> Kernel:
    if name == "mclmc":
        return build_kernel("mclmc", Posterior(log_density), integration_steps=16)
    return build_kernel(
        "adjusted_mclmc", Posterior(log_density), most_integration_steps=64, jitter=1.0
    )


class Warmed(NamedTuple):
    """A warm-up: the carry after each piece, what is frozen after it, and the info of all."""

    carries: list[Any]
    tuned: list[TunedMomentum]
    info: Info


@cache
def warm_up(kernel: Kernel, size: int, pieces: tuple[int, ...] = (STEPS,)) -> Warmed:
    """Warm two chains up piece by piece."""
    adaptation = build_warmup("microcanonical", Untuned(kernel), **SETTINGS)
    keys = jax.random.split(jax.random.key(2), CHAINS)
    carry = adaptation.start(0.3 * jax.random.normal(jax.random.key(3), (CHAINS, size)))
    carries, tuned, infos = [], [], []

    @partial(jax.jit, static_argnames="steps")
    def run(carry: Any, first: int, steps: int) -> Any:
        return adapt(keys, adaptation, carry, first=first, steps=steps)

    for first, last in pairwise(np.cumsum([0, *pieces]).tolist()):
        carry, info, _ = run(carry, first, steps=last - first)
        carries.append(carry)
        tuned.append(adaptation.finish(carry)[1])
        infos.append(info)
    return Warmed(carries, tuned, jax.tree.map(lambda *x: np.concatenate(x, axis=1), *infos))


def sample(kernel: Kernel, warmed: Warmed, observe: Any) -> Draws:
    """Draw with what was frozen."""
    state, tuned = warmed.carries[-1].state, warmed.tuned[-1]
    only = {"first": 0, "kept": DRAWS, "thin": 1, "observe": observe}
    keys = jax.random.split(jax.random.key(4), CHAINS)
    _, draws = jax.jit(lambda state: draw(keys, kernel, state, tuned, **only))(state)
    frozen = np.broadcast_to(tuned.step_size[:, None], (CHAINS, DRAWS))
    np.testing.assert_array_equal(draws.info.step_size, frozen)
    return draws


@every_kernel
@pytest.mark.by_day(1)
@pytest.mark.slow
def test_pieces_equal_one_long_warmup_bit_for_bit(name: str) -> None:
    """The last of ten pieces is frozen."""
    kernel = build(name)
    whole, pieces = warm_up(kernel, 6), warm_up(kernel, 6, (STEPS // 10,) * 10)
    jax.tree.map(np.testing.assert_array_equal, pieces.carries[-1], whole.carries[-1])
    jax.tree.map(np.testing.assert_array_equal, pieces.info, whole.info)
    for chain in range(CHAINS):
        assert len(np.unique(pieces.info.step_size[chain, :ADAPTING])) > 400
        frozen = pieces.tuned[-2].step_size[chain]
        np.testing.assert_array_equal(pieces.info.step_size[chain, ADAPTING:], frozen)
    jax.tree.map(np.testing.assert_array_equal, pieces.tuned[-2], pieces.tuned[-1])
    jax.tree.map(np.testing.assert_array_equal, pieces.carries[-1].tuned, pieces.tuned[-1])


@pytest.mark.statistical
@every_kernel
def test_learns_the_variances_and_keeps_the_length(name: str) -> None:
    """Each variance to a factor of three, over four decades; the length is sqrt(d)."""
    tuned = warm_up(build(name), 6).tuned[-1]
    factor = tuned.inverse_mass_matrix / SD**2
    assert 1 / 3 < factor.min() <= factor.max() < 3
    np.testing.assert_allclose(tuned.decoherence_length, np.sqrt(6))
    check(tuned)


@pytest.mark.statistical
def test_unadjusted_reaches_its_energy_variance_and_the_moments() -> None:
    """Frozen: the variance to a factor of 3, and the mean square per dimension to 10 %."""
    kernel = build("mclmc")
    whitening = np.linalg.inv(np.linalg.cholesky(covariance()))
    draws = sample(kernel, warm_up(kernel, 6), lambda q: jnp.mean((whitening @ q) ** 2))
    ratio = draws.info.extra["energy_variance"].mean(axis=1) / 5e-4
    assert ((ratio > 1 / 3) & (ratio < 3)).all()
    np.testing.assert_allclose(draws.observed.mean(), 1, atol=0.1)


@pytest.mark.statistical
def test_adjusted_reaches_its_acceptance() -> None:
    kernel = build("adjusted_mclmc")
    draws = sample(kernel, warm_up(kernel, 6), lambda q: q)
    np.testing.assert_allclose(draws.info.acceptance_rate.mean(axis=1), 0.9, atol=0.1)
    assert draws.info.num_integration_steps.max() <= 2 * 64


@pytest.mark.statistical
@pytest.mark.slow
@every_kernel
def test_does_not_collapse_on_a_network(name: str) -> None:
    """5-8-1, 200 rows, sigma 0.1: it fits the data, and every draw goes on moving the network."""
    kernel = build(name, log_posterior)
    warmed = warm_up(kernel, 57)
    check_tuned(to_arrays(warmed.tuned[-1]), range(CHAINS), "network", begin=1e-3)
    adapted = jax.tree.map(lambda value: value[:, 250:ADAPTING], warmed.info)
    if kernel.exact:
        np.testing.assert_allclose(adapted.acceptance_rate.mean(axis=1), 0.9, atol=0.1)
    else:
        ratio = np.median(adapted.extra["energy_variance"], axis=1) / 5e-4
        assert ((ratio > 1 / 5) & (ratio < 5)).all()
    draws = sample(kernel, warmed, lambda q: network(q, FEATURES[:10]))
    assert draws.info.is_divergent.mean() < 0.01
    assert draws.info.acceptance_rate.mean() > 0.5
    assert (np.abs(draws.observed.mean(axis=(0, 1)) - TARGET[:10]) < 0.5).all()
    spread = draws.observed.std(axis=1)
    assert ((spread > 0.02) & (spread < 0.3)).all()


def test_step_size_recovers_from_divergences() -> None:
    """A cap on the step size would hold for ever; here the excess is that of a cubic law."""
    control = Control(*jnp.asarray([1.0, 1.0, 50.0]))
    for _ in range(5):
        control = follow(control, jnp.asarray(np.inf))
    assert 0.1 < control.step_size < 0.4
    for _ in range(1000):
        control = follow(control, (control.step_size / 0.7) ** 3)
    np.testing.assert_allclose(control.step_size, 0.7, rtol=1e-3)


@pytest.mark.parametrize("initial", [1e-5, 1e3])
def test_first_step_size_does_not_matter(initial: float) -> None:
    control = Control(*jnp.asarray([initial, 0.0, 0.0]))
    for _ in range(100):
        control = follow(control, (control.step_size / 0.7) ** 6)
    np.testing.assert_allclose(control.step_size, 0.7, rtol=0.05)


def tuned(step_size: float = 0.3, variance: Any = (1.0, 2.0)) -> TunedMomentum:
    return TunedMomentum(jnp.asarray(step_size), jnp.asarray(variance), jnp.asarray(1.4))


def check(*records_of_chains: TunedMomentum) -> None:
    """Check a group of chains, numbered from 3."""
    chain_group = to_arrays(jax.tree.map(lambda *leaves: np.stack(leaves), *records_of_chains))
    check_tuned(chain_group, range(3, 3 + len(records_of_chains)), "here", begin=1e-3)


@pytest.mark.parametrize(
    ("broken", "fault", "fields"),
    [
        (tuned(np.nan), "tuned_not_finite", {"name": "step_size"}),
        (tuned(np.inf), "tuned_not_finite", {"name": "step_size"}),
        (tuned(0.0), "step_size_collapsed", {"begin": 1e-3, "step_size": 0.0}),
        (tuned(1e-5), "step_size_collapsed", {"step_size": pytest.approx(1e-5)}),
        (tuned(variance=(1.0, np.nan)), "tuned_not_finite", {"name": "inverse_mass_matrix"}),
    ],
)
def test_collapse_is_refused(broken: TunedMomentum, fault: str, fields: dict[str, Any]) -> None:
    with refused(f"inference.{fault}", where="here", chain=4, **fields):
        check(tuned(), broken)


@every_kernel
@pytest.mark.by_day(1)
def test_warmup_without_a_way_out_is_refused(name: str) -> None:
    """The density is finite at the start only: every step diverges, the position never changes."""

    def log_density(q: jax.Array) -> jax.Array:
        return jnp.where((q == 0.5).all(), -jnp.sum(q**2), jnp.nan)

    adaptation = build_warmup(
        "microcanonical", Untuned(build(name, log_density)), **SETTINGS | {"steps": 150}
    )
    carry = adaptation.start(jnp.full((CHAINS, 3), 0.5))
    keys = jax.random.split(jax.random.key(2), CHAINS)
    run = jax.jit(lambda carry: adapt(keys, adaptation, carry, first=0, steps=150))
    _, info, log_density_of = run(carry)
    with refused("inference.never_moved", chain=0, steps=150):
        check_alive(sample_stats(info, log_density_of), range(CHAINS), "here")
