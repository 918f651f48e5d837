"""Warm-up: its stages, what it learns against formulas by hand, and that it freezes."""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference import warmup
from nlobayes.inference.kernels import KERNELS
from nlobayes.inference.kernels.protocol import Info, Kernel
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import FAST, FROZEN, SLOW, Adaptation, Schedule, plan

SD = np.geomspace(0.1, 10.0, 10)
SETTINGS: dict[str, dict[str, Any]] = {
    "hmc": {"integration_steps": 8, "jitter": 0.2, "divergence_threshold": 1000.0},
    "nuts": {"max_depth": 6, "divergence_threshold": 1000.0},
}
INITIAL_STEP_SIZE = 1e-3


def gaussian_kernel(name: str = "hmc", sd: float | np.ndarray = SD) -> Kernel:
    return KERNELS[name](lambda q: -0.5 * jnp.sum((q / sd) ** 2), **SETTINGS[name])


def adapt(
    kernel: Kernel, schedule: Schedule, pieces: list[int], target_acceptance: float = 0.8
) -> tuple[list[Adaptation], Info, np.ndarray]:
    """Warm up piece by piece; give the adaptation after each, and the info of every step."""

    @jax.jit
    def run(carry: Adaptation, first: int, schedule: Any) -> Any:
        return warmup.adapt(
            jax.random.key(7),
            kernel,
            carry,
            first=first,
            schedule=schedule,
            target_acceptance=target_acceptance,
        )

    carry = warmup.start(kernel, jnp.asarray(SD), initial_step_size=INITIAL_STEP_SIZE)
    carries, infos = [], []
    for first, last in pairwise(np.cumsum([0, *pieces])):
        part = Schedule(*(stage[first:last] for stage in schedule))
        carry, *info = run(carry, first, part)
        carries.append(carry)
        infos.append(info)
    info, logdensity = jax.tree.map(lambda *parts: np.concatenate(parts), *infos)
    return carries, info, logdensity


def test_windows_are_those_of_stan() -> None:
    """Stan Reference Manual: 75 fast, then 25, 50, 100, 200 and 500 slow, then 50 fast."""
    schedule = plan(1000, adaptation_share=1.0, mass_matrix="diagonal")
    expected = np.repeat([FAST, SLOW, FAST], [75, 875, 50])
    np.testing.assert_array_equal(schedule.stage, expected)
    assert np.flatnonzero(schedule.window_ends).tolist() == [99, 149, 249, 449, 949]


@pytest.mark.parametrize("mass_matrix", ["diagonal", "identity"])
@pytest.mark.parametrize(
    ("steps", "share", "adapting"), [(500, 0.8, 400), (500, 1.0, 500), (7, 0.1, 1)]
)
def test_the_last_share_is_frozen(
    steps: int, share: float, adapting: int, mass_matrix: str
) -> None:
    schedule = plan(steps, adaptation_share=share, mass_matrix=mass_matrix)
    assert len(schedule.stage) == len(schedule.window_ends) == steps
    assert (schedule.stage[adapting:] == FROZEN).all()
    assert (schedule.stage[:adapting] != FROZEN).all()
    slow = mass_matrix == "diagonal" and adapting > 20
    assert (schedule.stage == SLOW).any() == slow
    assert schedule.window_ends.any() == slow
    assert not schedule.window_ends[schedule.stage != SLOW].any()


def test_step_sizes_follow_dual_averaging() -> None:
    """Hoffman & Gelman (2014), section 3.2, with gamma 0.05, t0 10, kappa 0.75.

    The average is over the step sizes that were used.
    """
    schedule = plan(60, adaptation_share=1.0, mass_matrix="identity")
    [carry], info, _ = adapt(gaussian_kernel(), schedule, [60], target_acceptance=0.7)
    mu, error, averaged, expected = np.log(10 * INITIAL_STEP_SIZE), 0.0, 0.0, [INITIAL_STEP_SIZE]
    for t, acceptance in enumerate(info.acceptance_rate, start=1):
        averaged = t**-0.75 * np.log(expected[-1]) + (1 - t**-0.75) * averaged
        error += (0.7 - acceptance - error) / (t + 10)
        expected.append(np.exp(mu - np.sqrt(t) / 0.05 * error))
    np.testing.assert_allclose(info.step_size, expected[:-1], rtol=1e-10)
    np.testing.assert_allclose(carry.tuned.step_size, expected[-1], rtol=1e-10)
    np.testing.assert_allclose(warmup.finish(carry).step_size, np.exp(averaged), rtol=1e-10)
    np.testing.assert_array_equal(carry.tuned.inverse_mass_matrix, 1.0)


def test_mass_matrix_is_the_variance_of_the_last_window() -> None:
    """Regularised as in Stan: n / (n + 5) of the variance and 5 / (n + 5) of a thousandth."""
    schedule = plan(230, adaptation_share=1.0, mass_matrix="diagonal")
    carries, _, _ = adapt(gaussian_kernel(), schedule, [1] * 230)
    ends = np.flatnonzero(schedule.window_ends)
    assert len(ends) == 2
    positions = np.array([carry.state.position for carry in carries])
    for begin, end in ((75, ends[0] + 1), (ends[0] + 1, ends[1] + 1)):
        window = positions[begin:end]
        n = len(window)
        expected = n / (n + 5) * window.var(axis=0, ddof=1) + 5 / (n + 5) * 1e-3
        inverse = carries[end - 1].tuned.inverse_mass_matrix
        np.testing.assert_allclose(inverse, expected, rtol=1e-10)
    np.testing.assert_array_equal(warmup.finish(carries[-1]).inverse_mass_matrix, inverse)


def test_pieces_equal_one_long_warmup_bit_for_bit() -> None:
    kernel = gaussian_kernel()
    schedule = plan(300, adaptation_share=0.8, mass_matrix="diagonal")
    whole = adapt(kernel, schedule, [300])
    pieces = adapt(kernel, schedule, [60, 240])
    jax.tree.map(np.testing.assert_array_equal, pieces[0][-1], whole[0][-1])
    jax.tree.map(np.testing.assert_array_equal, pieces[1:], whole[1:])
    assert len(np.unique(whole[2])) > 200  # every step draws anew


@pytest.mark.parametrize("mass_matrix", ["diagonal", "identity"])
def test_frozen_steps_use_what_is_frozen(mass_matrix: str) -> None:
    """From the first frozen step on: the averaged step size and one mass matrix."""
    schedule = plan(250, adaptation_share=0.8, mass_matrix=mass_matrix)
    (adapted, *frozen), info, _ = adapt(gaussian_kernel(), schedule, [200, 25, 25])
    tuned = warmup.finish(adapted)
    assert len(np.unique(info.step_size[:200])) > 150
    np.testing.assert_array_equal(info.step_size[200:], tuned.step_size)
    for carry in frozen:
        jax.tree.map(np.testing.assert_array_equal, carry.tuned, tuned)
        jax.tree.map(np.testing.assert_array_equal, warmup.finish(carry), tuned)


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "target"), [("hmc", 0.6), ("hmc", 0.9), ("nuts", 0.8)])
def test_reaches_the_target_acceptance(name: str, target: float) -> None:
    """While adapting to 0.02; frozen, the averaged step size errs on the safe side."""
    kernel = gaussian_kernel(name, sd=1.0)
    schedule = plan(1000, adaptation_share=1.0, mass_matrix="identity")
    [carry], info, _ = adapt(kernel, schedule, [1000], target_acceptance=target)
    np.testing.assert_allclose(info.acceptance_rate[500:].mean(), target, atol=0.02)
    frozen = acceptance_rates(kernel, carry)
    assert target - 0.02 < frozen.mean() < target + 0.08


@pytest.mark.statistical
def test_learns_scales_over_two_decades() -> None:
    """Each variance to 35 %: 4 standard deviations of 300 independent draws."""
    schedule = plan(600, adaptation_share=1.0, mass_matrix="diagonal")
    [carry], _, _ = adapt(gaussian_kernel(), schedule, [600])
    variances = warmup.finish(carry).inverse_mass_matrix
    np.testing.assert_allclose(variances / SD**2, 1.0, atol=0.35)


def acceptance_rates(kernel: Kernel, carry: Adaptation) -> np.ndarray:
    """Draw 2000 times with what was learned, which no draw changes."""
    tuned = warmup.finish(carry)
    lengths = {"first": 0, "kept": 2000, "keep_every": 1, "observe": lambda q: q[0]}
    sample = jax.jit(lambda state: draw(jax.random.key(8), kernel, state, tuned, **lengths))
    _, draws = sample(carry.state)
    np.testing.assert_array_equal(draws.info.step_size, tuned.step_size)
    return np.asarray(draws.info.acceptance_rate)
