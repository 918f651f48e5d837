"""Draws against known answers: |error| below its Monte-Carlo standard error times a quantile.

Seeds are fixed. Each test first asserts an effective sample size, then compares all expectations
at once at a joint significance of 0.001 (Bonferroni).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes import builder
from nlobayes.diagnostics.autocorrelation import integrated_time
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import LogDensity, Posterior
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.kernels import KERNELS
from nlobayes.methods.mcmc import MCMC
from nlobayes.model.conditionals import Conjugates
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.rows import dataset_of

pytestmark = pytest.mark.statistical

CHAINS, WARMUP, DRAWS, SEED = 4, 500, 10000, 1
FEWEST_EFFECTIVE = 1000
SIGNIFICANCE = 0.001
SIGMA = 0.3
SAMPLERS: dict[str, dict[str, Any]] = {  # a kernel without an entry has its defaults
    "random_walk": {"warmup": {"target_acceptance": 0.3}},
    "hmc": {"kernel": {"integration_steps": 8, "jitter": 0.4}},
    "nuts": {"kernel": {"max_depth": 6}},
    "crank_nicolson": {
        "kernel": {"moves": 8, "slices": 4},
        "warmup": {"target_acceptance": 0.3},
    },
    "gibbs_hmc": {"kernel": {"integration_steps": 8, "jitter": 0.4}},
    "chees": {"kernel": {"most_integration_steps": 64}, "chains": 16, "draws": 3000},
    "adjusted_mclmc": {"kernel": {"most_integration_steps": 64}},
    "emulated_hmc": {"warmup": {"initial_step_size": 0.3, "adaptation_share": 0.3}, "draws": 3000},
    "reversible_jump": {"kernel": {"integration_steps": 24, "jitter": 0.4}},
    "tensorbnn": {
        "warmup": {
            "step_size_min": 0.01,
            "step_size_max": 0.5,
            "integration_steps_min": 4,
            "integration_steps_max": 20,
            "batch": 5,
        }
    },
    "tempering": {
        "kernel": {
            "num_temperatures": 4,
            "min_inverse_temperature": 0.2,
            "integration_steps": 8,
            "jitter": 0.4,
        }
    },
}
TARGETED = ("hmc", "nuts", "gibbs_hmc", "reversible_jump")
THIN = {"random_walk": 30, "tensorbnn": 2, "crank_nicolson": 4}
HELD = {"gibbs_hmc": (0, 4)}
"""Entries that a kernel draws given all others, instead of moving them."""
FOR_ONE_MODE = "emulated_hmc"
"""Its emulator knows one mode; exchanged units have several: 82 of 12000 draws are effective."""
WITH_MOMENTUM = ("hmc", "nuts", "gibbs_hmc", "chees", "tensorbnn", "tempering", "reversible_jump")

Observe = Callable[[jax.Array], jax.Array]


def sampler_of(kind: str, draws: int = DRAWS) -> MCMC:
    """A sampler preset with everything but the lengths as a user would leave it."""
    changes = SAMPLERS.get(kind, {})
    settings = {"steps": WARMUP, "initial_step_size": 0.01, "adaptation_share": 0.9}
    target = {"target_acceptance": 0.8} if kind in TARGETED else {}
    return MCMC.model_validate(
        {
            "kernel": {"kind": kind} | changes.get("kernel", {}),
            "warmup": settings | target | changes.get("warmup", {}),
            "chains": changes.get("chains", CHAINS),
            "draws_per_segment": changes.get("draws", draws),
            "thin": 1,
        }
    )


def is_exact(kind: str) -> bool:
    """Whether a kernel says so of itself."""
    nothing = Conjugates(lambda key, position: position, np.array([], int))
    return sampler_of(kind).kernel.build(Posterior(lambda q, b=1.0: b * q[0], nothing)).exact


EXACT = [kind for kind in KERNELS if is_exact(kind)]
every_kernel = pytest.mark.parametrize("kind", [kind for kind in EXACT if kind not in HELD])


def sample(
    kind: str,
    log_density: LogDensity,
    starts: jax.Array,
    observe: Observe,
    conjugates: Conjugates | None = None,
    length: int = DRAWS,
) -> np.ndarray:
    """Warm up, freeze and draw; what is observed (chain, draw, quantity), kinetic energy last."""
    preset, every = sampler_of(kind, length), THIN.get(kind, 1)
    kernel = preset.kernel.build(Posterior(log_density, conjugates))
    adaptation = preset.warmup.build(Untuned(kernel, preset.kernel))
    chains = range(preset.chains)
    keys = {stage: builder.chain_keys(SEED, stage, chains) for stage in ("warmup", "draw")}

    @jax.jit
    def run(starts: jax.Array) -> jax.Array:
        carry, _, _ = adapt(
            keys["warmup"], adaptation, adaptation.start(starts), first=0, steps=WARMUP
        )
        states, tuned = adaptation.finish(carry)
        _, drawn = draw(
            keys["draw"],
            kernel,
            states,
            tuned,
            first=0,
            kept=preset.draws_per_segment,
            thin=every,
            observe=observe,
        )
        kinetic = drawn.info.energy + drawn.logdensity
        return jnp.concatenate([drawn.observed, kinetic[..., None]], axis=-1)

    return np.asarray(run(starts))[:, ::every]


def assert_expectations(draws: np.ndarray, expected: dict[str, float]) -> None:
    """Compare the means of draws (chain, draw, quantity) with their expectations, by name."""
    effective = draws.shape[0] * draws.shape[1] / integrated_time(draws)
    assert effective.min() > FEWEST_EFFECTIVE
    error = draws.mean(axis=(0, 1)) - np.array([*expected.values()])
    z = error / (draws.std(axis=(0, 1)) / np.sqrt(effective))
    bound = norm.isf(SIGNIFICANCE / (2 * len(expected)))
    surprising = {n: round(float(v), 1) for n, v in zip(expected, z, strict=True) if abs(v) > bound}
    assert not surprising, f"z beyond {bound:.1f}"


def second_moments(
    kind: str, draws: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, dict[str, float]]:
    """Draws of positions and kinetic energy as quantities of known expectation.

    Each mean, each entry of the covariance around the true mean, and for kernels with a Gaussian
    momentum the mean and variance d / 2 of the kinetic energy, which belongs to the state kept;
    d counts the entries that it moves.
    """
    size = len(mean)
    moving = size - len(HELD.get(kind, ()))
    positions, kinetic = draws[..., :size], draws[..., size]
    centred = positions - mean
    pairs = np.transpose(np.triu_indices(size))
    quantities = [
        *np.moveaxis(positions, -1, 0),
        *(centred[..., i] * centred[..., j] for i, j in pairs),
    ]
    expected = {f"mean {i}": value for i, value in enumerate(mean)}
    expected |= {f"covariance {i} {j}": covariance[i, j] for i, j in pairs}
    if kind in WITH_MOMENTUM:
        quantities += [kinetic, (kinetic - moving / 2) ** 2]
        expected |= {"kinetic energy": moving / 2, "its variance": moving / 2}
    return np.stack(quantities, axis=-1), expected


def draw_each_given_all_others(
    mean: np.ndarray, precision: np.ndarray, held: tuple[int, ...]
) -> Conjugates:
    """Gibbs sampling of some entries of a Gaussian, one after the other."""

    def refresh(key: jax.Array, q: jax.Array) -> jax.Array:
        for i in held:
            offset = precision[i] @ (q - mean) / precision[i, i]
            noise = jax.random.normal(jax.random.fold_in(key, i)) / np.sqrt(precision[i, i])
            q = q.at[i].add(noise - offset)
        return q

    return Conjugates(refresh, np.array(held, int))


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.by_day(3)
def test_correlated_gaussian(kind: str) -> None:
    """Five dimensions, scales from 0.3 to 3, neighbours correlated by 0.95."""
    sd, mean = np.geomspace(0.3, 3.0, 5), np.array([1.0, -2.0, 0.0, 3.0, 10.0])
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    chains = sampler_of(kind).chains
    covariance = 0.95**distance * np.outer(sd, sd)
    precision = np.linalg.inv(covariance)
    draws = sample(
        kind,
        lambda q, b=1.0: -0.5 * b * (q - mean) @ precision @ (q - mean),
        jnp.asarray(mean + sd * np.random.default_rng(2).normal(size=(chains, 5))),
        lambda q: q,
        draw_each_given_all_others(mean, precision, HELD.get(kind, ())),
    )
    assert_expectations(*second_moments(kind, draws, mean, covariance))


def make_dataset(
    features: np.ndarray, target: np.ndarray, error: np.ndarray | None = None
) -> Dataset:
    """All rows but the last are train rows; the last belongs to no split.

    Errors are in units of which the network's are half as many.
    """
    split = np.where(np.arange(len(target)) < len(target) - 1, 0, -1)
    facts = {"reference": np.arange(2), "transforms": {"target": {"sd": 2.0}}, "error": error}
    return dataset_of(features, target, split=split, **facts)


def sample_model(
    kind: str, job: ModelJob, dataset: Dataset, observe: Callable[[builder.Model], Observe]
) -> np.ndarray:
    """Sample a posterior of the project, each chain from a draw of the prior."""
    model = builder.build_model(job, dataset)
    return sample_built(kind, model, observe(model))


def sample_built(
    kind: str, model: builder.Model, observe: Observe, length: int = DRAWS
) -> np.ndarray:
    """Sample the posterior of a model that is there."""
    chains = sampler_of(kind).chains
    starts = [builder.draw_start(model, "prior", seed=SEED, chain=chain) for chain in range(chains)]
    log_density = model.logdensity_fn
    return sample(kind, log_density, jnp.stack(starts), observe, model.conjugates, length)


def assert_linear_regression(kind: str, error: np.ndarray | None = None) -> None:
    """A network without hidden layer has a Gaussian posterior of known mean and covariance."""
    sigma, precision, rng = 0.5, 4.0, np.random.default_rng(3)
    features = rng.normal(size=(21, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0], [0, 0, 2.0]])
    target = features @ [0.5, -1.0, 0.25] + 0.3 + sigma * rng.normal(size=21)
    prior = {"kind": "gaussian", "precision": precision, "non_centered": kind == "hmc"}
    job = model_job(prior=prior, sigma=sigma)

    def weights_and_bias(model: builder.Model) -> Observe:
        def observe(position: jax.Array) -> jax.Array:
            named = model.density.variables(position)
            return jnp.concatenate([named["weights_1"][:, 0], named["biases_1"]])

        return observe

    draws = sample_model(kind, job, make_dataset(features, target, error), weights_and_bias)
    x, y = np.column_stack([features, np.ones(21)])[:-1], target[:-1]
    variance = sigma**2 + (0.0 if error is None else (error[:-1] / 2) ** 2)
    weighted = x.T / variance
    covariance = np.linalg.inv(weighted @ x + precision * np.eye(4))
    mean = covariance @ weighted @ y
    assert_expectations(*second_moments(kind, draws, mean, covariance))


@every_kernel
@pytest.mark.by_day(1)
def test_bayesian_linear_regression(kind: str) -> None:
    assert_linear_regression(kind)


def test_bayesian_linear_regression_on_rows_of_unequal_error() -> None:
    """From none to ten times the noise."""
    assert_linear_regression("hmc", np.random.default_rng(5).permutation(np.linspace(0, 10, 21)))


def quadrature(
    x: np.ndarray, y: np.ndarray, points: np.ndarray, nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior means and variances (point,) of a 1-2-1 network, on a grid.

    f(x) = v1 tanh(w1 x + b1) + v2 tanh(w2 x + b2) + c with w, b ~ N(0, 2^2), v ~ N(0, 2),
    c ~ N(0, 1) and noise N(0, SIGMA^2). v and c are integrated exactly, as in linear regression;
    w and b by the trapezoid, over w >= 0 and unit 1 not after unit 2: the other seven eighths are
    copies of this one.
    """
    w, b = (
        part.ravel()
        for part in np.meshgrid(np.linspace(0, 9, nodes), np.linspace(-9, 9, 2 * nodes - 1))
    )
    log_unit = norm.logpdf(w, scale=2) + norm.logpdf(b, scale=2) + np.where(w > 0, 0, np.log(0.5))
    first, second = np.triu_indices(len(w))
    log_prior = log_unit[first] + log_unit[second] + np.where(first < second, 0, np.log(0.5))
    likely = np.flatnonzero(log_prior > log_prior.max() - 20)
    train, there = (np.tanh(np.outer(w, at) + b[:, None]) for at in (x, points))

    def units(at: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        both = at[first[pairs]], at[second[pairs]]
        return np.stack([*both, np.ones_like(both[0])], axis=1)

    sums: Any = 0.0
    for pairs in np.array_split(likely, 1 + len(likely) // 200_000):
        phi, here = units(train, pairs), units(there, pairs)
        precision = phi @ phi.transpose(0, 2, 1) / SIGMA**2 + np.diag([1 / 2, 1 / 2, 1])
        along = phi @ y / SIGMA**2
        mean = np.linalg.solve(precision, along[..., None])[..., 0]
        fit = np.sum(along * mean, axis=1) - np.linalg.slogdet(precision)[1]
        weight = np.exp(log_prior[pairs] + fit / 2 - y @ y / (2 * SIGMA**2) + len(x))
        f = np.einsum("ijk,ij->ik", here, mean)
        spread = np.einsum("ijk,ijk->ik", here, np.linalg.solve(precision, here))
        sums += np.stack([weight @ np.ones_like(f), weight @ f, weight @ (f**2 + spread)])
    mean, square = sums[1:] / sums[0]
    return mean, square - mean**2


@cache
def two_units() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows x and y, and the posterior moments of f at the first two, which two grids agree on."""
    x = np.linspace(-1.5, 1.5, 8)
    y = np.tanh(2 * x) + SIGMA * np.random.default_rng(4).normal(size=8)
    coarse, fine = (quadrature(x[:-1], y[:-1], x[:2], nodes) for nodes in (34, 42))
    np.testing.assert_allclose(coarse, fine, rtol=2e-3)
    return x, y, *fine


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in ("hmc", "nuts") else pytest.mark.slow)
        for kind in EXACT
        if kind not in HELD and kind != FOR_ONE_MODE
    ],
)
def test_network_of_two_hidden_units(kind: str) -> None:
    """Posterior of f at two points, against quadrature."""
    x, y, means, variances = two_units()
    dataset = make_dataset(x[:, None], y)
    job = model_job(2, prior={"kind": "fan_in", "scale": 2.0}, sigma=SIGMA)

    def observe_f(model: builder.Model) -> Observe:
        observe = builder.observer(model, dataset)
        return lambda position: observe(position)["f"]

    draws = sample_model(kind, job, dataset, observe_f)[..., :2]
    expected = {f"mean {i}": value for i, value in enumerate(means)}
    expected |= {f"variance {i}": value for i, value in enumerate(variances)}
    assert_expectations(np.concatenate([draws, (draws - means) ** 2], axis=-1), expected)
