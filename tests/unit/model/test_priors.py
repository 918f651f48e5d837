"""Prior draws follow the stated distributions, in the units of the network."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import (
    cauchy,
    expon,
    gamma,
    halfcauchy,
    halfnorm,
    invgamma,
    kstest,
    laplace,
    norm,
    t,
    truncnorm,
)

from nlobayes.model.density import Density
from nlobayes.model.prior import Prior, Statement
from nlobayes.priors.hierarchical import GammaPrecision, HalfCauchyScale, HalfNormalScale
from tests.densities import density_of
from tests.members import likelihood, prior, slopes

SIZES = (9, 4, 1)
DRAWS = 2000
SIGNIFICANCE = 0.001


class Stated(NamedTuple):
    """A prior and the standard deviation it states for each variable."""

    prior: Prior
    sds: dict[str, float]


STATED = {
    "fan_in 1": Stated(
        prior("fan_in", scale=1.0),
        {"weights_1": 1 / 3, "biases_1": 1.0, "weights_2": 1 / 2, "biases_2": 1.0},
    ),
    "fan_in 2": Stated(
        prior("fan_in", scale=2.0),
        {"weights_1": 2 / 3, "biases_1": 2.0, "weights_2": 1.0, "biases_2": 1.0},
    ),
    "non-centered": Stated(
        prior("gaussian", precision=0.7 ** (-2), non_centered=True),
        {"weights_1": 0.7, "biases_1": 0.7, "weights_2": 0.7, "biases_2": 0.7},
    ),
    "centered": Stated(
        prior("gaussian", precision=0.7 ** (-2), non_centered=False),
        {"weights_1": 0.7, "biases_1": 0.7, "weights_2": 0.7, "biases_2": 0.7},
    ),
}


def build(prior: Prior, scale: float | None, slopes: Statement | None = None) -> Density:
    sigma = {"sigma": None, "scale": scale} if scale else {"sigma": 0.1}
    settings: dict[str, Any] = {
        "activation": "tanh" if slopes is None else "prelu",
        "slopes": slopes,
    }
    return density_of(SIZES, prior, likelihood("gaussian", **sigma), **settings)


def draw(density: Density, count: int) -> tuple[jax.Array, dict[str, np.ndarray]]:
    """Draw positions from the prior and name their variables."""
    positions = jnp.asarray(np.stack([density.draw_prior(seed) for seed in range(count)]))
    return positions, {
        n: np.asarray(v) for n, v in jax.jit(jax.vmap(density.variables))(positions).items()
    }


@pytest.mark.statistical
@pytest.mark.parametrize("name", STATED)
@pytest.mark.by_day(2)
def test_weights_and_biases_are_drawn_as_stated(name: str) -> None:
    """Kolmogorov-Smirnov for each variable, and no correlation between any two of them."""
    stated = STATED[name]
    _, variables = draw(build(stated.prior, None), DRAWS)
    assert variables.keys() == stated.sds.keys()
    for variable, sd in stated.sds.items():
        test = kstest(variables[variable].ravel(), norm(scale=sd).cdf)
        assert test.pvalue > SIGNIFICANCE / len(stated.sds), variable
    columns = np.concatenate([v.reshape(DRAWS, -1) for v in variables.values()], axis=1)
    correlations = np.corrcoef(columns.T)[np.triu_indices(columns.shape[1], 1)]
    bound = norm.isf(SIGNIFICANCE / 2 / correlations.size) / np.sqrt(DRAWS)
    assert np.abs(correlations).max() < bound


@pytest.mark.statistical
def test_noise_is_half_normal() -> None:
    """2000 draws: distribution, mean and variance of sigma, which is sampled as log sigma."""
    density = build(prior("fan_in", scale=1.0), 0.3)
    positions, variables = draw(density, 2000)
    noise = variables["noise"]
    assert kstest(noise, halfnorm(scale=0.3).cdf).pvalue > SIGNIFICANCE
    mean_error = (noise.mean() - halfnorm.mean(scale=0.3)) / (noise.std() / np.sqrt(2000))
    squares = noise**2
    square_error = (squares.mean() - 0.3**2) / (squares.std() / np.sqrt(2000))
    assert max(abs(mean_error), abs(square_error)) < norm.isf(SIGNIFICANCE / 4)
    np.testing.assert_allclose(np.exp(positions[:, -1]), noise, rtol=1e-12)


@pytest.mark.statistical
def test_a_gamma_precision_of_the_noise_is_drawn_as_stated() -> None:
    """2000 draws: the distribution of sigma, whose square is inverse-Gamma; log tau is sampled."""
    precise = likelihood("gaussian", sigma=None, precision={"shape": 2.3, "rate": 0.7})
    positions, variables = draw(density_of(SIZES, prior("fan_in", scale=1.0), precise), 2000)
    assert kstest(variables["noise"] ** 2, invgamma(2.3, scale=0.7).cdf).pvalue > SIGNIFICANCE
    np.testing.assert_allclose(np.exp(-positions[:, -1] / 2), variables["noise"], rtol=1e-12)


def test_a_seed_gives_one_draw() -> None:
    density = build(prior("fan_in", scale=1.0), 0.3)
    np.testing.assert_array_equal(density.draw_prior(1), density.draw_prior(1))
    assert (np.asarray(density.draw_prior(1)) != np.asarray(density.draw_prior(2))).all()


class Law(NamedTuple):
    """What is made of the variables of a draw, and the distribution that it has."""

    of: Callable[[dict[str, np.ndarray]], np.ndarray]
    cdf: Callable[[np.ndarray], np.ndarray]


def named(name: str, law: Any) -> Law:
    """A variable itself: all its elements, or one where they share something."""
    return Law(lambda v: v[name], law.cdf)


def first(name: str, cdf: Callable[[np.ndarray], np.ndarray]) -> Law:
    """The first element of an array, whose elements share a scale."""
    return Law(lambda v: v[name].reshape(len(v[name]), -1)[:, 0], cdf)


def mixed(scales: np.ndarray, mean_sd: float = 0.0) -> Callable[[np.ndarray], np.ndarray]:
    """The law of N(0, s^2 + mean_sd^2), s at its quantiles."""
    return lambda x: norm.cdf(np.asarray(x)[:, None] / np.hypot(scales, mean_sd)).mean(axis=1)


def conditional(name: str, scale: str, root: float, mean: str | None = None) -> Law:
    """An array in units of its scale, about its mean, which is standard normal."""

    def standard(v: dict[str, np.ndarray]) -> np.ndarray:
        values = v[name].reshape(len(v[name]), -1)
        centred = values - (v[mean][:, None] if mean else 0.0)
        return centred / v[scale][:, None] * root

    return Law(standard, norm.cdf)


def families(power: float, law: Callable[..., Any]) -> dict[str, Law]:
    """Weights of 1.3 / fan_in^power, hidden biases of 0.6, the output bias of 0.4."""
    return {
        "weights_1": named("weights_1", law(scale=1.3 / 9**power)),
        "weights_2": named("weights_2", law(scale=1.3 / 4**power)),
        "biases_1": named("biases_1", law(scale=0.6)),
        "biases_2": named("biases_2", law(scale=0.4)),
    }


def hierarchy(scales: Any, root: float, name: str, scale: str) -> dict[str, Law]:
    """The scale, the array given it, and the array whatever it is."""
    return {
        scale: named(scale, scales),
        f"{name} given {scale}": conditional(name, scale, root),
        name: first(name, mixed(scales.ppf(QUANTILES) / root)),
    }


def horseshoe_sd(v: dict[str, np.ndarray]) -> np.ndarray:
    """Standard deviation of every weight of the first layer, given its scales."""
    product = v["local_weights_1"] * v["global_weights_1"][:, None, None]
    slab = v["slab_weights_1"][:, None, None]
    return np.sqrt(slab * product**2 / (slab + product**2)) / 3


QUANTILES = (np.arange(4000) + 0.5) / 4000
POSITIVE = truncnorm(-1.0, np.inf, 0.5, 0.5)
INDEPENDENT = {"scale": 1.3, "bias_scale": 0.6, "output_bias_scale": 0.4}
LAWS: dict[str, tuple[Prior, dict[str, Law]]] = {
    "laplace": (prior("laplace", **INDEPENDENT), families(0.5, laplace)),
    "cauchy": (prior("cauchy", **INDEPENDENT), families(1.0, cauchy)),
    "student_t": (
        prior("student_t", **INDEPENDENT, degrees_of_freedom=3.0),
        families(0.5, lambda scale: t(3.0, scale=scale)),
    ),
    "half_normal": (
        prior("hierarchical", hyper=HalfNormalScale(kind="half_normal", scale=0.7), shared="layer"),
        hierarchy(halfnorm(scale=0.7), 3.0, "weights_1", "scale_weights_1")
        | hierarchy(halfnorm(scale=0.7), 2.0, "weights_2", "scale_weights_2")
        | hierarchy(halfnorm(scale=0.7), 1.0, "biases_1", "scale_biases_1")
        | {"biases_2": named("biases_2", norm)},
    ),
    "half_cauchy": (
        prior(
            "hierarchical", hyper=HalfCauchyScale(kind="half_cauchy", scale=0.7), shared="network"
        ),
        hierarchy(halfcauchy(scale=0.7), 3.0, "weights_1", "scale_weights")
        | hierarchy(halfcauchy(scale=0.7), 2.0, "weights_2", "scale_weights")
        | hierarchy(halfcauchy(scale=0.7), 1.0, "biases_1", "scale_biases")
        | {"biases_2": named("biases_2", norm)},
    ),
    "gamma": (
        prior(
            "hierarchical",
            hyper=GammaPrecision(kind="gamma_precision", shape=1.5, rate=0.8),
            shared="layer",
        ),
        {
            "precision": named("precision_weights_1", gamma(1.5, scale=1 / 0.8)),
            "given": conditional("weights_1", "scale_weights_1", 3.0),
            "weights_1": first("weights_1", t(3.0, scale=(0.8 / 1.5) ** 0.5 / 3).cdf),
            "biases_1": first("biases_1", t(3.0, scale=(0.8 / 1.5) ** 0.5).cdf),
            "biases_2": named("biases_2", norm),
        },
    ),
    "horseshoe": (
        prior("horseshoe", global_scale=0.3, slab_scale=1.7, slab_degrees=4.6, bias_scale=0.6),
        {
            "local": named("local_weights_1", halfcauchy),
            "global": named("global_weights_1", halfcauchy(scale=0.3)),
            "slab": named("slab_weights_1", invgamma(2.3, scale=2.3 * 1.7**2)),
            "given": Law(lambda v: v["weights_1"] / horseshoe_sd(v), norm.cdf),
            "biases_1": named("biases_1", norm(scale=0.6)),
            "biases_2": named("biases_2", norm),
        },
    ),
    "tensorbnn": (
        prior("tensorbnn"),
        {
            "mean": named("mean_weights_1", norm(scale=0.1)),
            "scale": named("scale_weights_1", norm(1.0, 0.1)),
            "given": conditional("weights_1", "scale_weights_1", 1.0, "mean_weights_1"),
            "weights_2": first("weights_2", mixed(norm.ppf(QUANTILES, 1.0, 0.1), 0.1)),
            "scale of bias": named("scale_biases_2", norm(1.0, 0.1)),
        },
    ),
    "tensorbnn, truncated": (
        prior("tensorbnn", mean_sd=0.2, scale_mean=0.5, scale_sd=0.5),
        {
            "scale": named("scale_weights_1", POSITIVE),
            "weights_1": first("weights_1", mixed(POSITIVE.ppf(QUANTILES), 0.2)),
        },
    ),
}
RATES = expon(scale=1 / 0.7)
SLOPES: dict[str, tuple[Statement, dict[str, Law]]] = {
    "exponential": (
        slopes("exponential", rate=0.3),
        {"slopes": named("slopes_1", expon(scale=1 / 0.3))},
    ),
    "learned exponential": (
        slopes("exponential", rate=None, hyper_rate=0.7),
        {
            "rate": named("rate_slopes_1", RATES),
            "given": Law(lambda v: v["slopes_1"] * v["rate_slopes_1"][:, None], expon.cdf),
            "slopes": first("slopes_1", lambda x: x / (x + 0.7)),
        },
    ),
    "normal": (slopes("normal", mean=0.2, sd=0.3), {"slopes": named("slopes_1", norm(0.2, 0.3))}),
    "tensorbnn": (
        slopes("tensorbnn"),
        {
            "mean": named("mean_slopes_1", norm(scale=0.3)),
            "scale": named("scale_slopes_1", truncnorm(-3.0, np.inf, 0.3, 0.1)),
            "given": conditional("slopes_1", "scale_slopes_1", 1.0, "mean_slopes_1"),
        },
    ),
}


def assert_laws(density: Density, laws: dict[str, Law]) -> None:
    """Kolmogorov-Smirnov for each, at a joint significance."""
    _, variables = draw(density, 1000)
    for name, law in laws.items():
        test = kstest(law.of(variables).ravel(), law.cdf)
        assert test.pvalue > SIGNIFICANCE / len(laws), name


@pytest.mark.statistical
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.by_day(2)
def test_every_family_is_drawn_as_stated(name: str) -> None:
    """Scales, weights given them, and weights whatever they are: Student-t for Gamma precisions."""
    prior, laws = LAWS[name]
    assert_laws(build(prior, None), laws)


@pytest.mark.statistical
@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.by_day(2)
def test_every_family_of_slopes_is_drawn_as_stated(name: str) -> None:
    drawn, laws = SLOPES[name]
    assert_laws(build(prior("fan_in", scale=1.0), None, drawn), laws)
