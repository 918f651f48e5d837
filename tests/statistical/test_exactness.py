"""Draws against known answers: |error| below its Monte-Carlo standard error times a quantile.

Seeds are fixed. Each test first asserts an effective sample size, then compares all expectations
at once at a joint significance of 0.001 (Bonferroni).
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import halfnorm, norm

from nlobayes import build
from nlobayes.assessment.autocorrelation import integrated_time
from nlobayes.inference import warmup
from nlobayes.inference.kernels import KERNELS
from nlobayes.inference.kernels.protocol import LogDensity
from nlobayes.inference.sampling import draw
from nlobayes.study import presets
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset

pytestmark = pytest.mark.statistical

CHAINS, WARMUP, DRAWS, SEED = 4, 500, 10000, 1
FEWEST_EFFECTIVE = 1000
SIGNIFICANCE = 0.001
SETTINGS: dict[str, dict[str, Any]] = {
    "hmc": {"integration_steps": 8, "jitter": 0.4, "divergence_threshold": 1000.0},
    "nuts": {"max_depth": 6, "divergence_threshold": 1000.0},
}
every_kernel = pytest.mark.parametrize("kind", KERNELS)

Observe = Callable[[jax.Array], jax.Array]


def sample(kind: str, log_density: LogDensity, starts: jax.Array, observe: Observe) -> np.ndarray:
    """Warm up, freeze and draw; what is observed (chain, draw, quantity), kinetic energy last."""
    kernel = KERNELS[kind](log_density, **SETTINGS[kind])
    schedule = warmup.plan(WARMUP, adaptation_share=0.9, mass_matrix="diagonal")

    def one_chain(start: jax.Array, key_warmup: jax.Array, key_draw: jax.Array) -> jax.Array:
        begin = warmup.start(kernel, start, initial_step_size=0.01)
        carry, _, _ = warmup.adapt(
            key_warmup, kernel, begin, first=0, schedule=schedule, target_acceptance=0.8
        )
        lengths = {"first": 0, "kept": DRAWS, "keep_every": 1}
        state, tuned = carry.state, warmup.finish(carry)
        _, drawn = draw(key_draw, kernel, state, tuned, observe=observe, **lengths)
        kinetic = drawn.info.energy + drawn.logdensity
        return jnp.column_stack([drawn.observed, kinetic])

    keys = (
        jnp.stack([build.chain_key(SEED, stage, chain) for chain in range(CHAINS)])
        for stage in ("warmup", "draw")
    )
    return np.asarray(jax.jit(jax.vmap(one_chain))(starts, *keys))


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
    draws: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, dict[str, float]]:
    """Draws of positions and kinetic energy as quantities of known expectation.

    Each mean, each entry of the covariance around the true mean, and the mean and variance d / 2
    of the kinetic energy, which belongs to the state that was kept.
    """
    size = len(mean)
    positions, kinetic = draws[..., :size], draws[..., size]
    centred = positions - mean
    pairs = np.transpose(np.triu_indices(size))
    quantities = [
        *np.moveaxis(positions, -1, 0),
        *(centred[..., i] * centred[..., j] for i, j in pairs),
        kinetic,
        (kinetic - size / 2) ** 2,
    ]
    expected = {f"mean {i}": value for i, value in enumerate(mean)}
    expected |= {f"covariance {i} {j}": covariance[i, j] for i, j in pairs}
    expected |= {"kinetic energy": size / 2, "its variance": size / 2}
    return np.stack(quantities, axis=-1), expected


@every_kernel
def test_correlated_gaussian(kind: str) -> None:
    """Five dimensions, scales from 0.3 to 3, neighbours correlated by 0.7."""
    sd, mean = np.geomspace(0.3, 3.0, 5), np.array([1.0, -2.0, 0.0, 3.0, 10.0])
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    covariance = 0.7**distance * np.outer(sd, sd)
    precision = np.linalg.inv(covariance)
    draws = sample(
        kind,
        lambda q: -0.5 * (q - mean) @ precision @ (q - mean),
        jnp.asarray(mean + sd * np.random.default_rng(2).normal(size=(CHAINS, 5))),
        lambda q: q,
    )
    assert_expectations(*second_moments(draws, mean, covariance))


def make_dataset(features: np.ndarray, target: np.ndarray) -> Dataset:
    """All rows but the last are train rows; the last belongs to no split."""
    rows, columns = features.shape
    names = tuple(f"x{i}" for i in range(columns))
    split = np.where(np.arange(rows) < rows - 1, 0, -1)
    return Dataset(
        inputs=features,
        features=features,
        target=target,
        observed=target,
        split=split,
        reference=np.arange(2),
        input_names=names,
        feature_names=names,
        target_name="y",
        transforms={},
        units={},
    )


def sample_model(
    kind: str, job: ModelJob, dataset: Dataset, observe: Callable[[build.Model], Observe]
) -> np.ndarray:
    """Sample a posterior of the project, each chain from a draw of the prior."""
    model = build.build_model(job, dataset)
    starts = [build.draw_start(model, "prior", seed=SEED, chain=chain) for chain in range(CHAINS)]
    return sample(kind, model.logdensity_fn, jnp.stack(starts), observe(model))


@every_kernel
def test_bayesian_linear_regression(kind: str) -> None:
    """A network without hidden layer has a Gaussian posterior of known mean and covariance."""
    sigma, precision, rng = 0.5, 4.0, np.random.default_rng(3)
    features = rng.normal(size=(21, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0], [0, 0, 2.0]])
    target = features @ [0.5, -1.0, 0.25] + 0.3 + sigma * rng.normal(size=21)
    job = ModelJob(
        network=presets.Network(hidden=()),
        prior=presets.GaussianPrior(kind="gaussian", precision=precision, whitened=kind == "hmc"),
        likelihood=presets.ToleranceLikelihood(kind="tolerance", sigma=sigma),
        precision="float64",
    )

    def weights_and_bias(model: build.Model) -> Observe:
        def observe(position: jax.Array) -> jax.Array:
            named = model.density.variables(position)
            return jnp.concatenate([named["weights_1"][:, 0], named["biases_1"]])

        return observe

    draws = sample_model(kind, job, make_dataset(features, target), weights_and_bias)
    x, y = np.column_stack([features, np.ones(21)])[:-1], target[:-1]
    covariance = np.linalg.inv(x.T @ x / sigma**2 + precision * np.eye(4))
    mean = covariance @ x.T @ y / sigma**2
    assert_expectations(*second_moments(draws, mean, covariance))


def quadrature(x: np.ndarray, y: np.ndarray, points: np.ndarray, nodes: int) -> np.ndarray:
    """Means and variances (2, quantity) of f at each point and of the noise, on a grid.

    f(x) = v tanh(w x + b) + c with w, b, v ~ N(0, 2^2), c ~ N(0, 1), sigma half-normal of scale 1.
    v and c are integrated exactly, as in linear regression; w, b and log sigma by the trapezoid.
    """
    axis = np.linspace(-12, 12, nodes)
    w, b = (part.reshape(-1, 1) for part in np.meshgrid(axis, axis))
    sigma = np.exp(np.linspace(-4.5, 2.0, 40))
    unit = np.tanh(w * x + b)
    vv, vc, cc = (
        np.sum(unit**2, axis=1, keepdims=True) / sigma**2 + 1 / 4,
        np.sum(unit, axis=1, keepdims=True) / sigma**2,
        len(x) / sigma**2 + 1,
    )
    determinant = vv * cc - vc**2
    along_v, along_c = (unit @ y)[:, None] / sigma**2, y.sum() / sigma**2
    v = (cc * along_v - vc * along_c) / determinant
    c = (vv * along_c - vc * along_v) / determinant
    fit = along_v * v + along_c * c - y @ y / sigma**2 - np.log(determinant)
    log_weight = fit / 2 - len(x) * np.log(sigma) + norm.logpdf(w, scale=2)
    log_weight += norm.logpdf(b, scale=2) + halfnorm.logpdf(sigma) + np.log(sigma)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    moments = []
    for point in points:
        here = np.tanh(w * point + b)
        mean = np.sum(weight * (v * here + c))
        spread = (cc * here**2 - 2 * vc * here + vv) / determinant + (v * here + c - mean) ** 2
        moments.append((mean, np.sum(weight * spread)))
    mean = np.sum(weight * sigma)
    return np.transpose([*moments, (mean, np.sum(weight * (sigma - mean) ** 2))])


@every_kernel
def test_network_of_one_hidden_unit(kind: str) -> None:
    """Posterior of f at two points and of the learned noise, against quadrature."""
    x = np.linspace(-1.5, 1.5, 11)
    y = np.tanh(2 * x) + 0.3 * np.random.default_rng(4).normal(size=11)
    dataset = make_dataset(x[:, None], y)
    job = ModelJob(
        network=presets.Network(hidden=(1,)),
        prior=presets.FanInPrior(kind="fan_in", scale=2.0),
        likelihood=presets.LearnedNoiseLikelihood(kind="learned_noise", scale=1.0),
        precision="float64",
    )

    def f_and_noise(model: build.Model) -> Observe:
        observe = build.observer(model, dataset)
        return lambda position: jnp.append(observe(position)["f"], observe(position)["noise"])

    coarse, fine = (quadrature(x[:-1], y[:-1], x[:2], nodes) for nodes in (160, 240))
    np.testing.assert_allclose(coarse, fine, rtol=5e-4)
    draws = sample_model(kind, job, dataset, f_and_noise)[..., :3]
    means, variances = fine
    expected = {f"mean {i}": value for i, value in enumerate(means)}
    expected |= {f"variance {i}": value for i, value in enumerate(variances)}
    assert_expectations(np.concatenate([draws, (draws - means) ** 2], axis=-1), expected)
