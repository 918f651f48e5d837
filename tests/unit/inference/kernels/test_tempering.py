"""Parallel tempering against Gaussians by hand, and on two modes that plain HMC does not cross."""

from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import norm

from nlobayes.diagnostics.autocorrelation import integrated_time
from nlobayes.inference import replicas
from nlobayes.inference.kernel import Info, Kernel, Posterior, Tuned
from nlobayes.inference.replicas import LadderState, TunedLadder
from nlobayes.inference.sampling import Draws, draw
from tests.members import build_kernel

MOVES: dict[str, Any] = {"jitter": 0.5, "divergence_threshold": 1000.0}
SIGNIFICANCE = 0.001
MODES, WEIGHTS, PRIOR_SD = np.array([[-10.0, 0.0], [10.0, 0.0]]), np.array([0.7, 0.3]), 10.0
OBSERVED, NOISE_SD = np.array([1.0, -2.0]), 0.2
LADDER = (1.0, 0.4, 0.15, 0.05, 0.0)
PRECISION = 1 + np.array(LADDER) / NOISE_SD**2


def two_modes(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    """Two Gaussians 20 standard deviations apart; the prior is one wide Gaussian."""
    prior = -0.5 * jnp.sum(position**2) / PRIOR_SD**2
    modes = jnp.log(WEIGHTS) - 0.5 * jnp.sum((position - MODES) ** 2, axis=1)
    return prior + inverse_temperature * (jax.nn.logsumexp(modes) - prior)


def conjugate(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    """A standard Gaussian prior, and one observation with Gaussian noise."""
    likelihood = -0.5 * jnp.sum((position - OBSERVED) ** 2) / NOISE_SD**2
    return -0.5 * jnp.sum(position**2) + inverse_temperature * likelihood


def flattened(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    """A standard Gaussian whose variance is the temperature."""
    return -0.5 * inverse_temperature * jnp.sum(position**2)


def ladder_of(kernel: Kernel, step_sizes: ArrayLike) -> TunedLadder:
    """Step sizes of a ladder in two dimensions, with unit masses."""
    ladder = kernel.init(jnp.zeros(2)).inverse_temperatures
    return TunedLadder(jnp.asarray(step_sizes), jnp.ones((len(ladder), 2)), ladder)


def run(
    kernel: Kernel, tuned: Any, starts: np.ndarray, draws: int, seed: int = 0
) -> tuple[Any, Draws]:
    keys = jax.random.split(jax.random.key(seed), len(starts))
    tuned = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(starts)), tuned)
    states = jax.vmap(kernel.init)(jnp.asarray(starts))
    observe = partial(jnp.take, indices=0)
    sample = partial(draw, first=0, kept=draws, thin=1, observe=observe)
    return jax.jit(lambda states: sample(keys, kernel, states, tuned))(states)


@cache
def conjugate_kernel() -> Kernel:
    return build_kernel(
        "tempering", Posterior(conjugate), integration_steps=4, inverse_temperatures=LADDER, **MOVES
    )


@cache
def walk() -> tuple[LadderState, Info]:
    """Walk one ladder on the conjugate posterior: states and info of every step (step,)."""
    kernel, tuned = conjugate_kernel(), ladder_of(conjugate_kernel(), 0.6 / np.sqrt(PRECISION))

    def one_step(state: LadderState, key: jax.Array) -> tuple[LadderState, Any]:
        new, info = kernel.step(key, state, tuned)
        return new, (new, info)

    keys, begin = jax.random.split(jax.random.key(0), 20000), kernel.init(jnp.zeros(2))
    return jax.jit(lambda: jax.lax.scan(one_step, begin, keys))()[1]


@cache
def step_without_moving() -> Any:
    """One step on the conjugate posterior whose HMC goes nowhere, so that only places change."""
    kernel, tuned = conjugate_kernel(), ladder_of(conjugate_kernel(), np.zeros(5))
    return jax.jit(
        lambda key, state, ladder: kernel.step(
            key, state, tuned._replace(inverse_temperatures=ladder)
        )
    )


def assert_means(draws: np.ndarray, expected: np.ndarray, fewest: int) -> None:
    """Compare means of draws (chain, draw, quantity), jointly, by their Monte-Carlo errors."""
    effective = draws.shape[0] * draws.shape[1] / integrated_time(draws)
    assert effective.min() > fewest
    z = (draws.mean(axis=(0, 1)) - expected) * np.sqrt(effective) / draws.std(axis=(0, 1))
    assert np.abs(z).max() < norm.isf(SIGNIFICANCE / (2 * len(z))), np.round(z, 1)


@pytest.mark.statistical
@pytest.mark.slow
def test_weights_of_modes_are_found_where_plain_hmc_stays_in_one() -> None:
    """One chain starts in each; HMC is given at least as many gradients."""
    kernel = build_kernel(
        "tempering",
        Posterior(two_modes),
        integration_steps=6,
        num_temperatures=7,
        min_inverse_temperature=0.001,
        **MOVES,
    )
    ladder = kernel.init(jnp.zeros(2)).inverse_temperatures
    tuned = ladder_of(kernel, np.minimum(0.5 / np.sqrt(ladder), 5.0))
    _, drawn = run(kernel, tuned, MODES, draws=4000)
    in_heavy = np.asarray(drawn.observed < 0, float)[..., None]
    assert_means(in_heavy, WEIGHTS[:1], fewest=400)
    assert (np.abs(in_heavy.mean(axis=1) - WEIGHTS[0]) < 0.1).all()
    assert drawn.info.extra["restart"].sum(axis=1).min() > 100

    plain = build_kernel("hmc", Posterior(two_modes), integration_steps=6, **MOVES)
    _, alone = run(plain, Tuned(jnp.asarray(0.5), jnp.ones(2)), MODES, draws=33000)
    gradients = alone.info.num_integration_steps, drawn.info.num_integration_steps
    assert gradients[0].sum() > gradients[1].sum()
    assert alone.info.acceptance_rate.mean() > 0.8
    np.testing.assert_array_equal((alone.observed < 0).mean(axis=1), [1, 0])


@pytest.mark.statistical
def test_every_rung_samples_its_tempered_posterior() -> None:
    """Gaussian prior times likelihood^b: precision 1 + b / s^2, mean b y / s^2 over precision."""
    mean = (np.array(LADDER) / NOISE_SD**2 / PRECISION)[:, None] * OBSERVED
    positions = np.asarray(walk()[0].positions)[200:]
    centred = (positions - mean) * np.sqrt(PRECISION)[:, None]
    moments = np.concatenate([centred, centred**2], axis=2).reshape(1, len(positions), -1)
    expected = np.tile([0.0, 0.0, 1.0, 1.0], len(LADDER))
    assert_means(moments, expected, fewest=2000)


@pytest.mark.statistical
def test_swap_acceptance_of_two_gaussians() -> None:
    """In two dimensions |q|^2 / 2 is exponential with rate b: acceptance 2 b_1 / (b_0 + b_1)."""
    kernel = build_kernel(
        "tempering",
        Posterior(flattened),
        integration_steps=4,
        inverse_temperatures=(1.0, 0.25, 0.1),
        **MOVES,
    )
    ladder = np.asarray(kernel.init(jnp.zeros(2)).inverse_temperatures)
    tuned = ladder_of(kernel, 0.6 / np.sqrt(ladder))
    state, drawn = run(kernel, tuned, np.zeros((2, 2)), draws=10000)
    acceptance = np.asarray(drawn.info.extra["swap_acceptance"])
    assert acceptance.shape == (2, 10000, 2)
    expected = 2 * ladder[1:] / (ladder[1:] + ladder[:-1])
    assert_means(acceptance[:, 200:], expected, fewest=2000)
    np.testing.assert_array_equal(state.swap_acceptance, acceptance[:, -1])


def test_pairs_alternate_and_their_acceptance_stays_until_the_next_try() -> None:
    states, info = walk()
    np.testing.assert_array_equal(info.extra["swap_acceptance"], states.swap_acceptance)
    changed = np.diff(states.swap_acceptance, axis=0) != 0
    odd = np.asarray(states.odd)[:-1]
    np.testing.assert_array_equal(odd, np.arange(len(odd)) % 2 == 0)
    assert not changed[odd][:, [0, 2]].any()
    assert not changed[~odd][:, [1, 3]].any()
    assert changed[odd][:, [1, 3]].any(axis=0).all()


@pytest.mark.parametrize("number", [2, 3, 4, 5])
@pytest.mark.parametrize("odd", [False, True])
def test_partners_are_neighbours_of_the_parity_and_pairs(number: int, odd: bool) -> None:
    partner = np.asarray(replicas._partners(jnp.asarray(odd), number))
    expected = np.arange(number)
    for lower in range(int(odd), number - 1, 2):
        expected[lower], expected[lower + 1] = lower + 1, lower
    np.testing.assert_array_equal(partner, expected)


def test_state_after_exchanges_is_that_of_its_positions_and_temperatures() -> None:
    """Density and gradient are those of a fresh evaluation, after many accepted exchanges."""
    states, info = walk()
    assert info.extra["restart"].sum() > 100
    every = jax.vmap(jax.vmap(jax.value_and_grad(conjugate)))
    values, gradients = every(states.positions, states.inverse_temperatures)
    np.testing.assert_allclose(states.logdensities, values, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(states.gradients, gradients, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(states.position, states.positions[:, 0])
    np.testing.assert_array_equal(states.logdensity, states.logdensities[:, 0])


def test_info_describes_the_cold_replica() -> None:
    """Kinetic energy d / 2 on average, with the potential of the replica that is now cold."""
    states, info = walk()
    kinetic = np.asarray(info.energy + states.logdensity)[None, :, None]
    assert kinetic.min() > 0
    assert_means(kinetic, np.array([1.0]), fewest=2000)
    steps = np.unique(info.num_integration_steps)
    np.testing.assert_array_equal(steps, len(LADDER) * (np.arange(2, 7) + 1))
    np.testing.assert_array_equal(info.step_size, 0.6 / np.sqrt(PRECISION[0]))
    np.testing.assert_array_equal(info.acceptance_rate, info.extra["rung_acceptance"][:, 0])


def test_moved_temperatures_are_evaluated_anew() -> None:
    begin = conjugate_kernel().init(jnp.asarray(OBSERVED))
    state, info = step_without_moving()(jax.random.key(0), begin, jnp.square(jnp.array(LADDER)))
    np.testing.assert_array_equal(state.inverse_temperatures, np.square(LADDER))
    expected = [conjugate(q, b**2) for q, b in zip(state.positions, LADDER, strict=True)]
    np.testing.assert_allclose(state.logdensities, expected, rtol=1e-10)
    np.testing.assert_allclose(info.extra["rung_acceptance"], 1.0, rtol=1e-10)


def test_restarts_are_arrivals_from_the_hottest_rung() -> None:
    """Against replicas followed by hand, known by the offsets of their positions."""
    ladder, offsets = jnp.array(LADDER), 1e-3 * jnp.arange(5.0)
    begin = conjugate_kernel().init(jnp.asarray(OBSERVED))
    state = begin._replace(
        positions=begin.positions + offsets[:, None], inverse_temperatures=0 * ladder
    )
    hot, restarts = {4}, 0
    for key in jax.random.split(jax.random.key(1), 80):
        state, info = step_without_moving()(key, state, ladder)
        labels = np.rint((state.positions[:, 0] - OBSERVED[0]) / 1e-3).astype(int).tolist()
        assert sorted(labels) == list(range(5))
        assert bool(info.extra["restart"]) == (labels[0] in hot)
        restarts += labels[0] in hot
        hot = (hot - {labels[0]}) | {labels[-1]}
    assert restarts >= 5
