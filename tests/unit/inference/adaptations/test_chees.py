"""ChEES: its gradient and its optimum in closed form, its step size, and that it freezes."""

from functools import cache
from itertools import pairwise
from typing import Any

import arviz
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from nlobayes.adaptations import chees as adaptation
from nlobayes.inference import warmup
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.sampling import draw
from nlobayes.kernels import chees
from nlobayes.kernels.chees import ChEESKernel, TrajectoryState, TunedTrajectory
from tests.members import build_kernel, build_warmup
from tests.refusals import refused

SD = np.geomspace(0.1, 1.0, 20)
CHAINS, MOST = 16, 256


def log_gaussian(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    return -0.5 * inverse_temperature * jnp.sum((position / SD) ** 2)


KERNEL = build_kernel("chees", Posterior(log_gaussian), most_integration_steps=MOST)


def build(steps: int, share: float = 1.0, most: int = MOST, **settings: Any) -> Adaptation:
    usual: dict[str, Any] = {
        "initial_step_size": 0.01,
        "initial_trajectory_length": 0.1,
        "target_acceptance": 0.651,
        "learning_rate": 0.025,
    }
    untuned = Untuned(KERNEL, ChEESKernel(kind="chees", most_integration_steps=most))
    return build_warmup("chees", untuned, steps=steps, adaptation_share=share, **usual | settings)


@cache
def warm_up(pieces: tuple[int, ...], *, seed: int = 0, **settings: Any) -> Any:
    """Warm up from the target, piece by piece: what each piece learned, last carry and infos."""
    adapt = build(sum(pieces), **settings)
    key_start, key_chains = jax.random.split(jax.random.key(seed))
    carry = adapt.start(jnp.asarray(SD) * jax.random.normal(key_start, (CHAINS, SD.size)))
    keys = jax.random.split(key_chains, CHAINS)
    learned, infos = [], []
    for first, last in pairwise(np.cumsum([0, *pieces])):
        carry, info, _ = jax.jit(
            lambda carry, first=first, last=last: warmup.adapt(
                keys, adapt, carry, first=first, steps=int(last - first)
            )
        )(carry)
        learned.append(adapt.finish(carry)[1])
        infos.append(info)
    return learned, carry, jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *infos)


def test_slope_is_that_of_the_criterion() -> None:
    """Harmonic motion for a time t: the criterion is sum sd^4 sin(t / sd)^2."""
    sd, chains, length, rng = np.array([0.5, 1.0, 2.0]), 400_000, 0.9, np.random.default_rng(1)
    q, p = sd * rng.normal(size=(chains, 3)), rng.normal(size=(chains, 3))
    here = jnp.asarray(q)
    state = TrajectoryState(here, here[:, 0], here, jnp.full(chains, 4), here, here)
    jitter = float(chees.jitter_of(jnp.asarray(4)))
    angle = jitter * length / sd
    new = state._replace(
        proposal=jnp.asarray(q * np.cos(angle) + sd * p * np.sin(angle)),
        proposal_momentum=jnp.asarray(p * np.cos(angle) - q / sd * np.sin(angle)),
    )
    expected = jitter * np.sum(sd**3 * np.sin(2 * angle))
    half = jnp.where(jnp.arange(chains) % 2, 1.0, 0.0)
    for weights in (jnp.ones(chains), half):
        slope = adaptation.slope(state, new, weights)
        np.testing.assert_allclose(slope, expected, rtol=0.03)


def test_slope_of_six_chains_by_hand() -> None:
    """Proposals are centred by their weighted mean; chains of no weight do not count."""
    rng = np.random.default_rng(2)
    before, after, momentum = (jnp.asarray(rng.normal(size=(6, 3))) for _ in range(3))
    old = TrajectoryState(before, before[:, 0], before, jnp.zeros(6, int), before, before)
    new = old._replace(proposal=after, proposal_momentum=momentum)
    weights = jnp.array([0.5, 1.0, 0.3, 0.0, 0.9, 0.7])
    slope = adaptation.slope(old, new, weights)
    start, end = before - before.mean(0), after - np.average(after, axis=0, weights=weights)
    gains = ((end**2).sum(1) - (start**2).sum(1)) * (end * momentum).sum(1)
    jitter = 2 * 0.5  # the Halton sequence begins at a half
    np.testing.assert_allclose(slope, jitter * np.average(gains, weights=weights))
    moved_old, moved_new = (
        state._replace(position=state.position + 7, proposal=state.proposal + 7)
        for state in (old, new)
    )
    np.testing.assert_allclose(adaptation.slope(moved_old, moved_new, weights), slope)
    lost = new._replace(proposal=after.at[3].set(1e3))
    np.testing.assert_allclose(adaptation.slope(old, lost, weights), slope)
    assert adaptation.slope(old, new, jnp.zeros(6)) == 0


@pytest.mark.statistical
@pytest.mark.slow
def test_length_is_that_of_the_largest_criterion() -> None:
    """Over jitter in (0, 2): sum sd^4 (1 - sin(4 T / sd) / (4 T / sd)) / 2, to 20 %.

    Over many repeats the standard deviation of what 16 chains learn in 400 steps is 7 %.
    """
    best = minimize_scalar(
        lambda t: -np.sum(SD**4 * (1 - np.sinc(4 * t / SD / np.pi))),
        bounds=(0.1, 2.0),
        method="bounded",
    ).x
    [learned], _, _ = warm_up((400,))
    np.testing.assert_allclose(learned.trajectory_length, best, rtol=0.2)
    assert learned.trajectory_length.shape == learned.step_size.shape == (CHAINS,)
    np.testing.assert_array_equal(learned.inverse_mass_matrix, np.ones((CHAINS, SD.size)))


@pytest.mark.statistical
def test_length_is_near_the_best_effective_size() -> None:
    """Effective draws per gradient of the widest coordinate, against a scan of lengths."""
    [learned], carry, _ = warm_up((400,))
    keys = jax.random.split(jax.random.key(3), CHAINS)

    @jax.jit
    def sample(tuned: TunedTrajectory) -> Any:
        options: dict[str, Any] = {"first": 0, "kept": 500, "thin": 1}
        _, draws = draw(keys, KERNEL, carry.state, tuned, observe=lambda q: q[-1], **options)
        return draws.observed, draws.info.num_integration_steps

    def efficiency(length: jax.Array) -> float:
        widest, steps = sample(learned._replace(trajectory_length=length))
        return float(arviz.ess(np.asarray(widest)) / steps.sum())

    every_chain = jnp.ones(CHAINS)
    scan = [efficiency(length * every_chain) for length in (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)]
    threshold = 0.6 * max(scan)
    assert efficiency(learned.trajectory_length) > threshold
    assert max(scan[0], scan[-1]) < threshold


@pytest.mark.statistical
def test_harmonic_mean_of_acceptance_reaches_the_target() -> None:
    """Dual averaging drives its mean over the steps to the target, here to 0.03."""
    _, _, info = warm_up((400,))
    harmonic = 1 / np.mean(1 / info.acceptance_rate[:, 100:], axis=0)
    np.testing.assert_allclose(harmonic.mean(), 0.651, atol=0.03)


@pytest.mark.slow
def test_frozen_steps_use_what_is_frozen() -> None:
    (adapted, last), carry, info = warm_up((80, 20), share=0.8)
    jax.tree.map(np.testing.assert_array_equal, adapted, last)
    assert len(np.unique(info.step_size[0, :80])) == 80
    np.testing.assert_array_equal(info.step_size[:, 80:], np.tile(last.step_size, (20, 1)).T)
    jitter = jax.jit(jax.vmap(chees.jitter_of))(jnp.arange(80, 100))
    steps = np.round(jitter * last.trajectory_length[0] / last.step_size[0])
    expected = np.broadcast_to(np.maximum(steps, 1), (CHAINS, 20))
    np.testing.assert_array_equal(info.num_integration_steps[:, 80:], expected)
    assert carry.length.updates == 80
    assert last.step_size[0] != np.exp(carry.step_size.log_step_size)
    assert last.trajectory_length[0] != np.exp(carry.length.log_length)


@pytest.mark.slow
def test_pieces_equal_one_long_warmup_bit_for_bit() -> None:
    for pieces in ((37, 63), (100,)):
        _, carry, info = warm_up(pieces, share=0.8)
        _, whole, whole_info = warm_up((80, 20), share=0.8)
        jax.tree.map(np.testing.assert_array_equal, (carry, info), (whole, whole_info))
    _, other, _ = warm_up((100,), share=0.8, seed=1)
    assert not np.array_equal(other.state.position, whole.state.position)


def test_chains_make_the_same_number_of_steps() -> None:
    _, _, info = warm_up((80, 20), share=0.8)
    assert (info.num_integration_steps == info.num_integration_steps[0]).all()
    assert len(np.unique(info.num_integration_steps)) > 3


def test_too_few_chains_are_refused_with_the_remedy() -> None:
    few = adaptation.FEWEST_CHAINS - 1
    with refused("inference.few_chains_for_chees", chains=few, fewest=few + 1):
        build(10).start(jnp.zeros((few, SD.size)))
