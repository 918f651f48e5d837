"""The ladder's warm-up: equal rejections, step sizes and masses by rung, and that it freezes."""

from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.adaptations.ladder import Carry
from nlobayes.inference import replicas, warmup
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Info, Kernel, Posterior
from nlobayes.inference.replicas import TunedLadder
from nlobayes.inference.windows import plan
from tests.members import build_kernel, build_warmup

SD = np.array([0.5, 1.0, 1.0, 2.0])
UNEVEN = (1.0, 0.8, 0.6, 0.4, 0.2, 0.05)
TARGET, CHAINS = 0.8, 2
STEPS, ADAPTING, PIECE = 4000, 1200, 50


def flattened(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    """A Gaussian whose variances are the temperature times SD^2; best spaced geometrically."""
    return -0.5 * inverse_temperature * jnp.sum((position / SD) ** 2)


@cache
def gaussian_kernel() -> Kernel:
    return build_kernel(
        "tempering",
        Posterior(flattened),
        integration_steps=5,
        jitter=0.4,
        inverse_temperatures=UNEVEN,
    )


class Warmed(NamedTuple):
    """The carry after each piece, the info of each step (chain, step), and what was learned."""

    carries: list[Carry]
    info: Info
    tuned: list[TunedLadder]


@cache
def warm_up(piece: int = STEPS) -> Warmed:
    """Warm two chains up, in pieces of that many steps."""
    adaptation = build_warmup(
        "ladder",
        Untuned(gaussian_kernel()),
        steps=STEPS,
        adaptation_share=ADAPTING / STEPS,
        target_acceptance=TARGET,
        initial_step_size=0.05,
    )
    keys = jax.random.split(jax.random.key(3), CHAINS)

    @jax.jit
    def run(carry: Carry, first: int) -> Any:
        carry, info, _ = warmup.adapt(keys, adaptation, carry, first=first, steps=piece)
        return carry, info, adaptation.finish(carry)[1]

    carry = adaptation.start(jnp.tile(jnp.asarray(SD), (CHAINS, 1)))
    carries, infos, tuned = [], [], []
    for first in range(0, STEPS, piece):
        carry, info, learned = run(carry, first)
        carries.append(carry)
        infos.append(info)
        tuned.append(learned)
    joined = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *infos)
    return Warmed(carries, joined, tuned)


def rejection(inverse_temperatures: np.ndarray) -> np.ndarray:
    """Rejection of neighbours (rung - 1,), each in equilibrium, by many independent swaps."""
    rng = np.random.default_rng(2)
    hot, cold = (rng.chisquare(len(SD), 200_000) / 2 for _ in range(2))
    log_alpha = [
        (b - c) * (cold / b - hot / c) for b, c in pairwise(np.asarray(inverse_temperatures))
    ]
    return 1 - np.exp(np.minimum(log_alpha, 0)).mean(axis=1)


@pytest.mark.statistical
def test_warm_up_equalises_the_rejections() -> None:
    """From 0.21 to 0.76 between neighbours before; within 0.1 of each other after."""
    before = rejection(np.array(UNEVEN))
    assert np.ptp(before) > 0.5
    tuned = warm_up().tuned[-1]
    for learned in np.asarray(tuned.inverse_temperatures):
        assert learned[0] == 1.0
        assert learned[-1] == UNEVEN[-1]
        assert (np.diff(learned) < 0).all()
        assert np.ptp(rejection(learned)) < 0.1


@pytest.mark.statistical
def test_frozen_steps_reject_as_the_ladder_should_and_accept_as_requested() -> None:
    """The averaged step sizes of dual averaging accept a little more than its target."""
    warmed = warm_up()
    extra = {name: value[:, ADAPTING:] for name, value in warmed.info.extra.items()}
    expected = [rejection(b) for b in np.asarray(warmed.tuned[-1].inverse_temperatures)]
    np.testing.assert_allclose(1 - extra["swap_acceptance"].mean(axis=1), expected, atol=0.05)
    rates = extra["rung_acceptance"].mean(axis=1)
    assert ((rates > TARGET - 0.05) & (rates < 0.97)).all()


def test_respacing_with_exact_rejections_ends_geometric() -> None:
    """In two dimensions neighbours reject with (b - c) / (b + c), equal on a geometric ladder."""
    spaced = jnp.asarray(UNEVEN)
    for _ in range(20):
        b, c = spaced[:-1], spaced[1:]
        spaced = replicas.respace(spaced, (b - c) / (b + c))
    np.testing.assert_allclose(spaced, np.geomspace(1, 0.05, 6), rtol=1e-6)


@pytest.mark.parametrize("rejected", [np.zeros(3), np.ones(3), np.array([0.0, 1.0, 0.0])])
@pytest.mark.parametrize("hottest", [0.0, 0.05])
def test_respacing_keeps_a_ladder(rejected: np.ndarray, hottest: float) -> None:
    old = jnp.array([1.0, 0.4, 0.2, hottest])
    new = np.asarray(replicas.respace(old, jnp.asarray(rejected)))
    assert new[0] == 1.0
    assert new[-1] == hottest
    assert (np.diff(new) < 0).all()
    if np.ptp(rejected) == 0:
        np.testing.assert_allclose(new, old, rtol=1e-6)
    else:
        assert ((new[1:3] > 0.2) & (new[1:3] < 0.4)).all()


def test_masses_are_the_variances_of_their_rungs() -> None:
    """Variance SD^2 / b of each rung, from a window of 500 correlated draws."""
    tuned = warm_up().tuned[-1]
    expected = SD**2 / np.asarray(tuned.inverse_temperatures)[..., None]
    np.testing.assert_allclose(tuned.inverse_mass_matrix / expected, 1.0, atol=0.4)


@pytest.mark.statistical
@pytest.mark.slow
def test_masses_are_those_of_the_rungs_that_have_just_moved() -> None:
    """After the first window: 25 draws, shrunk by 25/30, while rungs moved by up to half."""
    tuned = warm_up(PIECE).carries[1].tuned
    ladders = np.asarray(tuned.inverse_temperatures)
    assert (ladders[:, 3] < 0.6 * UNEVEN[3]).all()
    variances = SD**2 / ladders[..., None]
    error = np.log(np.asarray(tuned.inverse_mass_matrix) / variances).mean(axis=(0, 2))
    assert np.abs(error).max() < 0.55


@pytest.mark.slow
def test_step_sizes_follow_dual_averaging_on_every_rung() -> None:
    """Hoffman & Gelman (2014), section 3.2, with gamma 0.05, t0 10, kappa 0.75."""
    warmed = warm_up(PIECE)
    acceptance = warmed.info.extra["rung_acceptance"]
    error, averaged = np.zeros((2, CHAINS, len(UNEVEN)))
    log_step = np.full_like(error, np.log(0.05))
    for t in range(1, PIECE + 1):
        averaged = t**-0.75 * log_step + (1 - t**-0.75) * averaged
        error += (TARGET - acceptance[:, t - 1] - error) / (t + 10)
        log_step = np.log(0.5) - np.sqrt(t) / 0.05 * error
    np.testing.assert_allclose(warmed.carries[0].tuned.step_size, np.exp(log_step), rtol=1e-9)
    np.testing.assert_allclose(warmed.tuned[0].step_size, np.exp(averaged), rtol=1e-9)


def test_step_sizes_and_masses_move_with_their_rung() -> None:
    """Values that are a power of the inverse temperature stay so, but for the interpolation."""
    old, new = jnp.geomspace(1, 1e-3, 13), jnp.geomspace(1, 1e-3, 13) ** jnp.linspace(1.0, 0.9, 13)
    new = new.at[-1].set(old[-1])
    np.testing.assert_allclose(replicas.move_to(old**-0.5, old, new), new**-0.5, rtol=0.02)
    masses = jnp.stack([1 / old, 3 * old**0.2], axis=1)
    expected = jnp.stack([1 / new, 3 * new**0.2], axis=1)
    np.testing.assert_allclose(replicas.move_to(masses, old, new), expected, rtol=0.04)


def test_nothing_is_learned_after_the_adaptation_share() -> None:
    """No later piece changes a bit of what is learned."""
    warmed = warm_up(PIECE)
    first, *later = warmed.tuned[ADAPTING // PIECE - 1 :]
    for learned in later:
        jax.tree.map(np.testing.assert_array_equal, first, learned)
    jax.tree.map(np.testing.assert_array_equal, first, warmed.carries[-1].tuned)
    steps = warmed.info.step_size
    assert (np.diff(steps[:, :ADAPTING], axis=1) != 0).all()
    assert (steps[:, ADAPTING:] == first.step_size[:, :1]).all()


def test_ladder_moves_at_the_ends_of_the_windows_alone() -> None:
    """Windows that end in a piece of 50 steps: 75 fast, then 25, 50, 100, 200, the rest slow."""
    ladders = np.array([tuned.inverse_temperatures for tuned in warm_up(PIECE).tuned])
    moved = (np.diff(ladders, axis=0)[..., 1:-1] != 0).all(axis=(1, 2))
    ends = np.flatnonzero(plan(ADAPTING, adaptation_share=1.0, mass_matrix="diagonal").window_ends)
    np.testing.assert_array_equal(np.flatnonzero(moved) + 1, ends // PIECE)


def test_pieces_equal_one_long_warm_up_bit_for_bit() -> None:
    whole, cut = warm_up(), warm_up(PIECE)
    jax.tree.map(np.testing.assert_array_equal, whole.carries[-1], cut.carries[-1])
    jax.tree.map(np.testing.assert_array_equal, whole.info, cut.info)


def test_barrier_and_the_rungs_it_needs() -> None:
    acceptance = np.array([[0.5, 0.25], [0.7, 0.75]])
    assert replicas.communication_barrier(acceptance) == pytest.approx(0.9)
    assert replicas.communication_barrier(acceptance[None]) == pytest.approx(0.9)
    assert replicas.rungs_needed(0.9) == 3
    assert replicas.rungs_needed(16.0) == 33
