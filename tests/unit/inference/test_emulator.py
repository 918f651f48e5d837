"""The emulator of a log density: what it learns, what it does far away, and the warm-up with it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arviz_stats.base import array_stats

from nlobayes.adaptations.emulator import EmulatorWarmup
from nlobayes.diagnostics.draws import longest_stays
from nlobayes.inference import emulator
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.emulator import Emulator, begin_at_mode, log_density, to_axes
from nlobayes.inference.kernel import Kernel, Posterior
from nlobayes.inference.warmup import adapt
from nlobayes.kernels.emulated_hmc import EmulatedHMCKernel, EmulatedState
from nlobayes.kernels.hmc import HMCKernel

POINTS = 40


@pytest.fixture(autouse=True)
def _double() -> None:
    jax.config.update("jax_enable_x64", True)


def bent(q: jax.Array, inverse_temperature: float | jax.Array = 1.0, /) -> jax.Array:
    """A Gaussian of three dimensions that is bent along the first; its mode is (1, 2, 0)."""
    x, y, w = q - jnp.array([1.0, 2.0, 0.0])
    return -0.5 * inverse_temperature * (x**2 + 4 * (y - 0.5 * x**2) ** 2 + 0.25 * w**2)


def taught(points: np.ndarray, *, lost: int | None = None, is_wide: bool = False) -> Emulator:
    """An emulator of `bent` about a point nearby, which learns its values and slopes at z."""
    near = jnp.array([1.1, 1.9, 0.3])
    values, vectors = np.linalg.eigh(-jax.jit(jax.hessian(bent))(near))
    axes = jnp.asarray(vectors / np.sqrt(values))
    mode = near + axes @ (axes.T @ jax.grad(bent)(near))
    room = jnp.zeros((len(points), 4))
    rest = jnp.array(0.3), jnp.array(0), jnp.array(0.0)
    started = Emulator(mode, axes, jnp.eye(3), room[:, 1:], room, *rest)
    at = started.mode + points @ started.axes.T
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(bent)))(at)
    values = values - bent(started.mode)
    if lost is not None:
        values = values.at[lost].set(jnp.nan)
    observed = jnp.asarray(points), values, slopes @ axes
    return emulator.learn(started, *observed, count=len(points), is_wide=is_wide)


def test_it_starts_as_the_gaussian_at_the_mode() -> None:
    """Along the first axis differences of slopes, -x - 2 x^3, have their own curvature."""
    started = begin_at_mode(bent, jnp.array([1.01, 2.0, 0.1]), POINTS, 0.3)
    np.testing.assert_allclose(started.mode, [1, 2, 0], atol=1e-3)
    found = np.linalg.inv(np.asarray(started.axes @ started.axes.T))
    expected = np.diag([1 + 2 * emulator.STEP**2, 4, 0.25])
    np.testing.assert_allclose(found, expected, atol=1e-3)
    z = to_axes(jnp.array([0.5, 1.0, 2.0]), started)
    assert float(log_density(z, started)) == pytest.approx(-0.5 * float(z @ z))


def test_it_climbs_from_two_sds_away() -> None:
    started = begin_at_mode(bent, jnp.array([2.5, 2.0, 2.0]), POINTS, 0.3)
    np.testing.assert_allclose(started.mode, [1, 2, 0], atol=0.02)


def test_rounding_of_gradients_does_not_hide_the_axes() -> None:
    """As with a noise of 1e-6 sd: a sd of 0.03 beside one of 2, and the tail of a log-gamma."""

    def rounded(q: jax.Array) -> jax.Array:
        smooth = -0.5 * (q[0] / 0.03) ** 2 - 0.5 * (q[1] / 2) ** 2 + 2 * q[2] - jnp.exp(2 * q[2])
        return smooth + 1e-8 * jnp.sum(jnp.cos(1e6 * q))  # slopes scatter by 0.01

    started = begin_at_mode(rounded, jnp.array([0.05, 3.0, 2.0]), POINTS, 0.3)
    np.testing.assert_allclose(started.mode, [0, 0, 0], atol=0.05)
    found = np.asarray(started.axes @ started.axes.T)
    np.testing.assert_allclose(np.sqrt(np.diag(found)), [0.03, 2, 0.5], rtol=0.15)


@pytest.mark.parametrize("is_wide", [False, True])
def test_it_has_the_values_and_slopes_that_it_learned(*, is_wide: bool) -> None:
    points = np.random.default_rng(1).normal(size=(POINTS, 3))
    learned = taught(points, is_wide=is_wide)
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(log_density), (0, None)))(points, learned)
    at = learned.mode + points @ learned.axes.T
    expected, exact = jax.jit(jax.vmap(jax.value_and_grad(bent)))(at)
    np.testing.assert_allclose(values, expected - bent(learned.mode), atol=1e-2)
    np.testing.assert_allclose(slopes, exact @ learned.axes, atol=5e-2)


@pytest.mark.parametrize(
    ("is_wide", "at_400"), [(False, -80000), (True, 9 - (81 + 1440000) ** 0.5)]
)
def test_new_points_are_predicted_and_far_ones_are_those_of_the_base(
    monkeypatch: pytest.MonkeyPatch, *, is_wide: bool, at_400: float
) -> None:
    """A wide base is -9 (sqrt(1 + z'z / 9) - 1): three axes of a flatness of a third."""
    rng = np.random.default_rng(2)
    points, new = rng.normal(size=(POINTS, 3)), 0.7 * rng.normal(size=(50, 3))
    learned = taught(points, is_wide=is_wide)
    expected = jax.jit(jax.vmap(bent))(learned.mode + new @ learned.axes.T) - bent(learned.mode)
    found = jax.jit(jax.vmap(log_density, (0, None)))(jnp.asarray(new), learned)
    gaussian = -0.5 * np.square(new).sum(axis=1)
    assert np.abs(found - expected).max() < 0.2
    assert np.abs(gaussian - expected).max() > 1
    far = jnp.array([400.0, 0.0, 0.0])
    monkeypatch.setattr(emulator, "LEAST_FALL", 0.0)
    assert float(log_density(far, learned)) == pytest.approx(at_400, rel=1e-6)


def ridge(z: jax.Array) -> jax.Array:
    """A log density of twelve dimensions that bends along one that is none of the axes."""
    along = z @ jnp.arange(1.0, 13.0) / 650**0.5
    return -z @ z / 2 + 2 * jnp.sin(2 * along)


@pytest.mark.parametrize(("alike", "least", "most"), [(1, 0, 0.1), (1e9, 0.5, np.inf)])
def test_lengths_are_those_along_which_it_bends(
    monkeypatch: pytest.MonkeyPatch, alike: float, least: float, most: float
) -> None:
    """30 points of twelve dimensions suffice where only one bends; with one length they do not."""
    monkeypatch.setattr(emulator, "ALIKE", alike)
    rng = np.random.default_rng(3)
    points, new = rng.normal(size=(30, 12)), rng.normal(size=(200, 12))
    room, eye = jnp.zeros((30, 13)), jnp.eye(12)
    rest = jnp.array(0.3), jnp.array(0), jnp.array(0.0)
    began = Emulator(room[0, 1:], eye, eye, room[:, 1:], room, *rest)
    values, slopes = jax.vmap(jax.value_and_grad(ridge))(jnp.asarray(points))
    observed = jnp.asarray(points), values, slopes
    learned = emulator.learn(began, *observed, count=30, is_wide=False)
    found = jax.vmap(log_density, (0, None))(jnp.asarray(new), learned)
    error = np.asarray(found - jax.vmap(ridge)(jnp.asarray(new)))
    assert least < np.sqrt(np.mean(error**2)) < most
    inverse_squares = np.linalg.eigvalsh(np.asarray(learned.stretch @ learned.stretch.T))
    assert (inverse_squares[-1] > 50 * inverse_squares[-2]) == (alike == 1)


def test_a_steep_point_far_away_does_not_decide_the_lengths() -> None:
    """Its slope of 1000 is along the first axis; those of 30 points are along the ridge."""
    points = np.random.default_rng(3).normal(size=(31, 12))
    values, slopes = jax.vmap(jax.value_and_grad(ridge))(jnp.asarray(points))
    slopes = slopes.at[7, 0].add(1000.0)
    room, eye, zero = jnp.zeros((31, 13)), jnp.eye(12), jnp.array(0.0)
    began = Emulator(room[0, 1:], eye, eye, room[:, 1:], room, zero, jnp.array(0), zero)
    observed = jnp.asarray(points), values, slopes
    learned = emulator.learn(began, *observed, count=31, is_wide=True)
    inverse_squares, directions = np.linalg.eigh(np.asarray(learned.stretch @ learned.stretch.T))
    assert inverse_squares.sum() == pytest.approx(0.5)
    assert abs(directions[:, -1] @ np.arange(1.0, 13.0)) / 650**0.5 > 0.99


def test_a_value_that_is_not_finite_is_left_out() -> None:
    learned = taught(np.random.default_rng(1).normal(size=(POINTS, 3)), lost=7)
    assert np.isfinite(learned.weights).all()


def test_the_warm_up_learns_what_chains_propose() -> None:
    """The acceptance of a bent Gaussian rises, and four chains share what they learned."""
    settings = EmulatedHMCKernel(kind="emulated_hmc", min_inverse_temperature=1.0)
    kernel = settings.build(Posterior(bent))
    warmup = EmulatorWarmup(steps=240, adaptation_share=0.5).build(Untuned(kernel, settings))
    keys = jax.random.split(jax.random.key(4), 4)
    carry = warmup.start(jnp.tile(jnp.array([1.0, 2.0, 0.1]), (4, 1)))
    carry, info, _ = adapt(keys, warmup, carry, first=0, steps=240)
    acceptance = np.asarray(info.acceptance_rate)
    assert acceptance[:, :5].mean() < 0.85
    assert acceptance[:, 120:].mean() > 0.98
    state, tuned = warmup.finish(carry)
    assert state.position.shape == (4, 3)
    np.testing.assert_array_equal(tuned.weights[0], tuned.weights[3])
    assert tuned.points.shape == (4, 121, 3)  # the mode, and a proposal of each step
    np.testing.assert_array_equal(tuned.every, 160)


def heavy_tailed(q: jax.Array, inverse_temperature: float | jax.Array = 1.0, /) -> jax.Array:
    """Student-t distributions of seven degrees of freedom along six dimensions."""
    return -4 * inverse_temperature * jnp.sum(jnp.log1p(q**2 / 7))


def test_chains_do_not_stand_still_in_heavy_tails() -> None:
    """Without moves on the density: with the tails of a Gaussian one stood for 279 draws."""
    settings = EmulatedHMCKernel(kind="emulated_hmc")
    kernel = settings.build(Posterior(heavy_tailed))
    warmup = EmulatorWarmup(steps=200, adaptation_share=0.6).build(Untuned(kernel, settings))
    keys = jax.random.split(jax.random.key(1), 4)
    carry = warmup.start(jnp.full((4, 6), 0.1))
    carry, *_ = jax.jit(lambda carry: adapt(keys, warmup, carry, first=0, steps=200))(carry)
    states, tuned = warmup.finish(carry)
    tuned = tuned._replace(every=jnp.zeros_like(tuned.every))

    def step(states: EmulatedState, index: jax.Array) -> tuple[EmulatedState, jax.Array]:
        now = jax.vmap(jax.random.fold_in, (0, None))(keys, index)
        states, _ = jax.vmap(kernel.step)(now, states, tuned)
        return states, states.position

    draws = jax.jit(lambda: jax.lax.scan(step, states, jnp.arange(1000, 2000))[1])()
    assert longest_stays(np.asarray(draws).swapaxes(0, 1)).max() < 0.05


@pytest.mark.parametrize(("acceptance", "every"), [(0.1, 8), (0.5, 40), (0.9, 160)])
def test_moves_on_the_density_are_the_rarer_the_more_is_accepted(
    acceptance: float, every: int
) -> None:
    """The mean acceptance changes by at most a twentieth in the one step that teaches."""
    settings = EmulatedHMCKernel(kind="emulated_hmc")
    kernel = settings.build(Posterior(bent))
    warmup = EmulatorWarmup(steps=1).build(Untuned(kernel, settings))
    carry = warmup.start(jnp.tile(jnp.array([1.0, 2.0, 0.1]), (2, 1)))
    carry = carry._replace(acceptance=jnp.array(acceptance))
    carry, _ = warmup.step(jax.random.split(jax.random.key(1), 2), carry, jnp.array(0))
    assert int(carry.emulator.every) == every


def valley(q: jax.Array, inverse_temperature: float | jax.Array = 1.0, /) -> jax.Array:
    """A valley of 16 dimensions that bends in all of them (Rosenbrock 1960)."""
    off = q[1:] - q[:-1] ** 2
    return -inverse_temperature * (jnp.sum((q - 1) ** 2) / 2 + 100 * jnp.sum(off**2))


def steep_and_wide(q: jax.Array, inverse_temperature: float | jax.Array = 1.0, /) -> jax.Array:
    """A Gaussian whose sds along three dimensions are 1/8, 1 and 4."""
    return -0.5 * inverse_temperature * jnp.sum(jnp.square(q * jnp.array([8.0, 1.0, 0.25])))


def test_a_density_that_no_emulator_learns_is_moved_on_itself() -> None:
    """Every eighth step is followed by such a move; the steps between are as they were."""
    settings = EmulatedHMCKernel(kind="emulated_hmc")
    kernel = settings.build(Posterior(valley))
    warmup = EmulatorWarmup(steps=104, adaptation_share=0.5).build(Untuned(kernel, settings))
    keys = jax.random.split(jax.random.key(4), 2)
    carry = warmup.start(jnp.full((2, 16), 0.5))
    carry, info, _ = adapt(keys, warmup, carry, first=0, steps=104)
    assert np.asarray(info.acceptance_rate)[:, 52:92].mean() < 0.25
    state, tuned = jax.tree.map(lambda leaf: leaf[0], warmup.finish(carry))
    assert (int(tuned.every), int(state.steps)) == (8, 104)
    alone, step = tuned._replace(every=jnp.array(0)), jax.jit(kernel.step)
    accepted = []
    for number in range(1, 81):
        key = jax.random.key(number)
        (moved, info), (still, _) = (step(key, state, one) for one in (tuned, alone))
        assert int(info.num_integration_steps) == (14 if number % 8 == 0 else 1)
        assert float(moved.logdensity) == pytest.approx(float(valley(moved.position)), abs=1e-9)
        if not jnp.array_equal(moved.position, still.position):
            accepted.append(number)
        state = moved
    assert len(accepted) >= 2
    assert all(number % 8 == 0 for number in accepted)


def test_moves_on_the_density_pass_where_it_is_steeper_and_wider_than_its_axes() -> None:
    """With sds of an eighth and of four axes: leapfrog steps of more than a quarter are unstable.

    Moves of three steps leave 15 effective draws of 4000 along the wide axis.
    """
    kernel = EmulatedHMCKernel(kind="emulated_hmc", trajectories=2).build(Posterior(steep_and_wide))
    tuned = begin_at_mode(bent, jnp.array([1.01, 2.0, 0.1]), POINTS, 0.3)
    tuned = tuned._replace(mode=jnp.zeros(3), axes=jnp.eye(3), every=jnp.array(1))

    def step(state: EmulatedState, key: jax.Array) -> tuple[EmulatedState, jax.Array]:
        still = kernel.step(key, state, tuned._replace(every=jnp.array(0)))[0].position
        state, _ = kernel.step(key, state, tuned)
        return state, jnp.append(state.position, (state.position != still).any())

    start = kernel.init(jnp.array([0.125, 0.0, 0.0]))
    keys = jax.random.split(jax.random.key(2), 4000)
    *q, moved = np.asarray(jax.jit(lambda: jax.lax.scan(step, start, keys)[1])()).T
    assert 0.3 < moved.mean() < 0.7
    assert q[0].std() == pytest.approx(0.125, rel=0.1)
    assert q[1].std() == pytest.approx(1, rel=0.1)
    assert array_stats.ess(q[2][None], chain_axis=0, draw_axis=1) > 100


def test_a_move_on_the_density_has_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """`fold_in(key, 1)` would be the second of `split(key)`, which the transitions split again."""
    used: list[tuple[int, ...]] = []
    build = HMCKernel.build

    def noting(settings: HMCKernel, posterior: Posterior) -> Kernel:
        hmc = build(settings, posterior)

        def step(key: jax.Array, *rest: Any) -> Any:
            for one in (key, *jax.random.split(key)):
                data = jax.random.key_data(one)
                jax.debug.callback(lambda found: used.append(tuple(found.tolist())), data)
            return hmc.step(key, *rest)

        return hmc._replace(step=step)

    monkeypatch.setattr(HMCKernel, "build", noting)
    kernel = EmulatedHMCKernel(kind="emulated_hmc", trajectories=3).build(Posterior(bent))
    tuned = begin_at_mode(bent, jnp.array([1.01, 2.0, 0.1]), POINTS, 0.3)
    tuned = tuned._replace(every=jnp.array(1))
    jax.block_until_ready(kernel.step(jax.random.key(1), kernel.init(tuned.mode), tuned))
    jax.effects_barrier()
    assert len(used) == len({*used}) == 3 * (3 + 1)


def test_it_learns_the_proposal_that_it_has_most_wrong() -> None:
    """In even steps the one most above the emulated density, in odd ones the one most below."""
    settings = EmulatedHMCKernel(kind="emulated_hmc")
    kernel = settings.build(Posterior(bent))
    warmup = EmulatorWarmup(steps=2).build(Untuned(kernel, settings))
    carry = warmup.start(jnp.tile(jnp.array([1.0, 2.0, 0.1]), (4, 1)))
    for index in range(2):
        before, keys = carry.emulator, jax.random.split(jax.random.key(index), 4)
        carry, _ = warmup.step(keys, carry, jnp.array(index))
        z = jax.vmap(to_axes, (0, None))(carry.state.proposal, before)
        found = jax.vmap(bent)(carry.state.proposal) - bent(before.mode)
        excess = found - jax.vmap(log_density, (0, None))(z, before)
        np.testing.assert_allclose(carry.state.excess, excess + bent(before.mode), atol=1e-9)
        wrong = jnp.argmax(excess) if index == 0 else jnp.argmin(excess)
        np.testing.assert_allclose(carry.places[1 + index], z[wrong], atol=1e-12)
