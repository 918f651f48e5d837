"""Warm-up: its stages, what it learns against formulas by hand, and that it freezes."""

from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blackjax.adaptation.step_size import dual_averaging_adaptation

from nlobayes.adaptations.windows import DualAveraging
from nlobayes.inference import windows
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Info, Kernel, Posterior, State, Tuned
from nlobayes.inference.sampling import Draws, draw
from nlobayes.inference.warmup import adapt
from nlobayes.inference.windows import FAST, FROZEN, SLOW, Carry, Schedule, plan
from tests.members import build_kernel, build_warmup

SD = np.geomspace(0.1, 10.0, 10)
SETTINGS: dict[str, dict[str, Any]] = {
    "hmc": {"integration_steps": 8, "jitter": 0.2},
    "nuts": {"max_depth": 6},
}
INITIAL_STEP_SIZE = 1e-3


@cache
def gaussian_kernel(name: str = "hmc", sd: float | None = None) -> Kernel:
    scales = SD if sd is None else sd
    return build_kernel(
        name, Posterior(lambda q, b=1.0: -0.5 * b * jnp.sum((q / scales) ** 2)), **SETTINGS[name]
    )


class Warmed(NamedTuple):
    """A warm-up of one chain: its schedule, the carry after each piece, info and log density."""

    schedule: Schedule
    carries: list[Carry]
    info: Info
    logdensity: np.ndarray


@cache
def warm_up(
    kernel: Kernel,
    pieces: tuple[int, ...],
    *,
    share: float = 1.0,
    mass_matrix: str = "diagonal",
    target: float = 0.8,
) -> Warmed:
    """Warm up piece by piece."""
    adaptation = build_warmup(
        "windows",
        Untuned(kernel),
        steps=sum(pieces),
        adaptation_share=share,
        mass_matrix=mass_matrix,
        target_acceptance=target,
        initial_step_size=INITIAL_STEP_SIZE,
    )

    @partial(jax.jit, static_argnames="steps")
    def run(carry: Any, first: int, steps: int) -> Any:
        return adapt(jax.random.key(7)[None], adaptation, carry, first=first, steps=steps)

    carry, carries, infos = adaptation.start(jnp.asarray(SD)[None]), [], []
    for first, last in pairwise(np.cumsum([0, *pieces])):
        carry, *info = run(carry, first, int(last - first))
        carries.append(only_chain(carry))
        infos.append(only_chain(info))
    schedule = plan(sum(pieces), adaptation_share=share, mass_matrix=mass_matrix)
    return Warmed(schedule, carries, *jax.tree.map(lambda *parts: np.concatenate(parts), *infos))


def only_chain(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[0], tree)


def frozen_by(carry: Carry) -> Tuned:
    """What the warm-up freezes after a carry."""
    finish = build_warmup(
        "windows",
        Untuned(gaussian_kernel()),
        steps=1,
        adaptation_share=1.0,
        mass_matrix="identity",
        target_acceptance=0.5,
        initial_step_size=1.0,
    ).finish
    return only_chain(finish(jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], carry)))[1]


def test_windows_are_those_of_stan() -> None:
    """Stan Reference Manual: 75 fast, then 25, 50, 100, 200 and 500 slow, then 50 fast."""
    schedule = plan(1000, adaptation_share=1.0, mass_matrix="diagonal")
    expected = np.repeat([FAST, SLOW, FAST], [75, 875, 50])
    np.testing.assert_array_equal(schedule.stage, expected)
    assert np.flatnonzero(schedule.window_ends).tolist() == [99, 149, 249, 449, 949]


@pytest.mark.parametrize("mass_matrix", ["diagonal", "dense", "low_rank", "identity"])
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
    slow = mass_matrix != "identity" and adapting > 20
    assert (schedule.stage == SLOW).any() == slow
    assert schedule.window_ends.any() == slow
    assert not schedule.window_ends[schedule.stage != SLOW].any()


def test_step_sizes_follow_dual_averaging() -> None:
    """Hoffman & Gelman (2014), section 3.2, with gamma 0.05, t0 10, kappa 0.75.

    The average is over the step sizes that were used.
    """
    _, [carry], info, _ = warm_up(gaussian_kernel(), (60,), mass_matrix="identity", target=0.7)
    mu, averaged, expected = np.log(10 * INITIAL_STEP_SIZE), 0.0, [INITIAL_STEP_SIZE]
    error: Any = 0.0
    for t, acceptance in enumerate(info.acceptance_rate, start=1):
        averaged = t**-0.75 * np.log(expected[-1]) + (1 - t**-0.75) * averaged
        error += (0.7 - acceptance - error) / (t + 10)
        expected.append(np.exp(mu - np.sqrt(t) / 0.05 * error))
    np.testing.assert_allclose(info.step_size, expected[:-1], rtol=1e-10)
    np.testing.assert_allclose(carry.tuned.step_size, expected[-1], rtol=1e-10)
    np.testing.assert_allclose(frozen_by(carry).step_size, np.exp(averaged), rtol=1e-10)
    np.testing.assert_array_equal(carry.tuned.inverse_mass_matrix, 1.0)


def run_windows(**settings: Any) -> Any:
    """Carry and infos of 300 steps of HMC with these settings of dual averaging."""
    adaptation = build_warmup(
        "windows",
        Untuned(gaussian_kernel()),
        steps=300,
        adaptation_share=1.0,
        mass_matrix="diagonal",
        target_acceptance=0.7,
        initial_step_size=INITIAL_STEP_SIZE,
        **settings,
    )
    run = jax.jit(
        lambda carry: adapt(jax.random.key(7)[None], adaptation, carry, first=0, steps=300)
    )
    return run(adaptation.start(jnp.asarray(SD)[None]))


def test_stated_defaults_of_dual_averaging_change_no_bit() -> None:
    defaults = {"gamma": 0.05, "t0": 10, "kappa": 0.75, "mu_over_start": 10.0}
    assert DualAveraging().model_dump() == defaults
    by_default, stated = run_windows(), run_windows(dual_averaging=defaults)
    jax.tree.map(np.testing.assert_array_equal, by_default, stated)
    begin = windows.search_from(jnp.asarray(0.3))
    assert begin.mu == dual_averaging_adaptation(0.5)[0](jnp.asarray(0.3)).mu


def test_other_constants_of_dual_averaging_are_those_of_the_formulas() -> None:
    """As above; with them the mass matrix of a window also starts the search anew."""
    given = {"gamma": 0.4, "t0": 3, "kappa": 0.9, "mu_over_start": 100.0}
    _, info, _ = only_chain(run_windows(dual_averaging=given))
    mu, error, averaged = np.log(100 * INITIAL_STEP_SIZE), 0.0, 0.0
    expected = [INITIAL_STEP_SIZE]
    ends = np.flatnonzero(plan(300, adaptation_share=1.0, mass_matrix="diagonal").window_ends)
    for t, acceptance in enumerate(info.acceptance_rate[: ends[0] + 1], start=1):
        averaged = t**-0.9 * np.log(expected[-1]) + (1 - t**-0.9) * averaged
        error += (0.7 - acceptance - error) / (t + 3)
        expected.append(np.exp(mu - np.sqrt(t) / 0.4 * error))
    expected[-1] = np.exp(averaged)  # the window ends
    np.testing.assert_allclose(info.step_size[: ends[0] + 2], expected, rtol=1e-9)
    after = np.log(100 * expected[-1]) - (0.7 - info.acceptance_rate[ends[0] + 1]) / 4 / 0.4
    np.testing.assert_allclose(info.step_size[ends[0] + 2], np.exp(after), rtol=1e-9)


def test_mass_matrix_is_the_variance_of_the_last_window() -> None:
    """Regularised as in Stan: n / (n + 5) of the variance and 5 / (n + 5) of a thousandth.

    With each new mass matrix the step size starts anew from its average.
    """
    schedule, carries, info, _ = warm_up(gaussian_kernel(), (1,) * 230)
    ends = np.flatnonzero(schedule.window_ends)
    assert len(ends) == 2
    positions = np.array([carry.state.position for carry in carries])
    for begin, end in ((75, ends[0] + 1), (ends[0] + 1, ends[1] + 1)):
        window = positions[begin:end]
        n = len(window)
        expected = n / (n + 5) * window.var(axis=0, ddof=1) + 5 / (n + 5) * 1e-3
        inverse = carries[end - 1].tuned.inverse_mass_matrix
        np.testing.assert_allclose(inverse, expected, rtol=1e-10)
        average = carries[end - 2].step_size.log_step_size_avg
        t = carries[end - 2].step_size.step
        last = t**-0.75 * np.log(info.step_size[end - 1]) + (1 - t**-0.75) * average
        np.testing.assert_allclose(info.step_size[end], np.exp(last), rtol=1e-10)
    np.testing.assert_array_equal(frozen_by(carries[-1]).inverse_mass_matrix, inverse)


def test_pieces_equal_one_long_warmup_bit_for_bit() -> None:
    kernel = gaussian_kernel()
    whole, pieces = (warm_up(kernel, cut, share=0.8) for cut in ((250,), (60, 190)))
    jax.tree.map(np.testing.assert_array_equal, pieces.carries[-1], whole.carries[-1])
    jax.tree.map(np.testing.assert_array_equal, pieces[2:], whole[2:])
    assert len(np.unique(whole.info.energy)) == 250  # every step draws anew


def test_frozen_steps_use_what_is_frozen() -> None:
    """From the first frozen step on: the averaged step size and one mass matrix."""
    _, (adapted, frozen), info, _ = warm_up(gaussian_kernel(), (200, 50), share=0.8)
    tuned = frozen_by(adapted)
    assert len(np.unique(info.step_size[:200])) > 150
    np.testing.assert_array_equal(info.step_size[200:], tuned.step_size)
    jax.tree.map(np.testing.assert_array_equal, frozen.tuned, tuned)
    jax.tree.map(np.testing.assert_array_equal, frozen_by(frozen), tuned)


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "target"), [("hmc", 0.6), ("nuts", 0.9)])
def test_reaches_the_target_acceptance(name: str, target: float) -> None:
    """While adapting to 0.02; frozen, the averaged step size errs on the safe side."""
    kernel = gaussian_kernel(name, sd=1.0)
    _, [carry], info, _ = warm_up(kernel, (1000,), mass_matrix="identity", target=target)
    np.testing.assert_allclose(info.acceptance_rate[500:].mean(), target, atol=0.02)
    tuned = frozen_by(carry)

    def sample(state: State) -> tuple[State, Draws]:
        lengths: dict[str, Any] = {"first": 0, "kept": 2000, "thin": 1}
        chain_group = jax.tree.map(lambda leaf: leaf[None], (jax.random.key(8), state, tuned))
        key, states, learned = chain_group
        return draw(key, kernel, states, learned, observe=lambda q: q[0], **lengths)

    _, draws = jax.jit(sample)(carry.state)
    np.testing.assert_array_equal(draws.info.step_size, tuned.step_size)
    assert target - 0.02 < draws.info.acceptance_rate.mean() < target + 0.08


def correlated_kernel() -> tuple[Kernel, np.ndarray]:
    """HMC on ten dimensions of which two pairs are correlated by 0.99, and their covariance."""
    covariance = np.diag(SD**2)
    for i in (0, 4):
        covariance[i, i + 1] = covariance[i + 1, i] = 0.99 * SD[i] * SD[i + 1]
    precision = np.linalg.inv(covariance)
    return build_kernel(
        "hmc", Posterior(lambda q, b=1.0: -0.5 * b * q @ precision @ q), **SETTINGS["hmc"]
    ), covariance


def dense(inverse_mass: Any) -> np.ndarray:
    if isinstance(inverse_mass, tuple):
        sigma, vectors, values = (np.asarray(part) for part in inverse_mass)
        inner = np.eye(len(sigma)) + vectors @ np.diag(values - 1) @ vectors.T
        return sigma[:, None] * inner * sigma
    return np.diag(inverse_mass) if np.ndim(inverse_mass) == 1 else np.asarray(inverse_mass)


@pytest.mark.statistical
@pytest.mark.parametrize(("mass_matrix", "largest"), [("dense", 2.5), ("low_rank", 2.5)])
def test_learns_correlations(mass_matrix: str, largest: float) -> None:
    """Scaled by what was learned, the eigenvalues of the covariance lie within 2.5 of one.

    Its diagonal alone leaves 199, the ratio of 1 + 0.99 to 1 - 0.99.
    """
    kernel, covariance = correlated_kernel()
    for learned, at_most in ((mass_matrix, largest), ("diagonal", 250.0)):
        _, [carry], _, _ = warm_up(kernel, (600,), mass_matrix=learned)
        relative = np.linalg.solve(dense(carry.tuned.inverse_mass_matrix), covariance)
        eigenvalues = np.linalg.eigvals(relative).real
        assert eigenvalues.max() / eigenvalues.min() < at_most**2
        if learned == "diagonal":
            assert eigenvalues.max() / eigenvalues.min() > 50
        else:
            assert largest > eigenvalues.max()
            assert eigenvalues.min() > 1 / largest


@pytest.mark.statistical
def test_learns_scales_over_two_decades() -> None:
    """Each variance to 35 %: 4 standard deviations of 300 independent draws."""
    _, [carry], _, _ = warm_up(gaussian_kernel(), (600,))
    variances = frozen_by(carry).inverse_mass_matrix
    np.testing.assert_allclose(variances / SD**2, 1.0, atol=0.35)
