"""Prior draws follow the stated distributions, in the units of the network."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import halfnorm, kstest, norm

from nlobayes.model.density import Density, build_density
from nlobayes.model.likelihoods import LearnedNoise, Tolerance
from nlobayes.model.networks import Network
from nlobayes.model.posterior import build_posterior
from nlobayes.model.priors import FanIn, Gaussian, Prior

SIZES = (9, 4, 1)
DRAWS = 2000
SIGNIFICANCE = 0.001


class Stated(NamedTuple):
    """A prior and the standard deviation it states for each variable."""

    prior: Prior
    sds: dict[str, float]


STATED = {
    "fan_in 1": Stated(
        FanIn(1.0), {"weights_1": 1 / 3, "biases_1": 1.0, "weights_2": 1 / 2, "biases_2": 1.0}
    ),
    "fan_in 2": Stated(
        FanIn(2.0), {"weights_1": 2 / 3, "biases_1": 2.0, "weights_2": 1.0, "biases_2": 1.0}
    ),
    "whitened": Stated(
        Gaussian(0.7, True), {"weights_1": 0.7, "biases_1": 0.7, "weights_2": 0.7, "biases_2": 0.7}
    ),
    "not whitened": Stated(
        Gaussian(0.7, False), {"weights_1": 0.7, "biases_1": 0.7, "weights_2": 0.7, "biases_2": 0.7}
    ),
}


def build(prior: Prior, scale: float | None) -> Density:
    likelihood = LearnedNoise(scale) if scale else Tolerance(0.1)
    names = [f"x{i}" for i in range(SIZES[0])]
    network = Network(SIZES, "tanh")
    return build_density(
        build_posterior(network, prior, likelihood, feature_names=names, layout="rows"), chunk=0
    )


def draw(density: Density, count: int) -> tuple[jax.Array, dict[str, np.ndarray]]:
    """Draw positions from the prior and name their variables."""
    positions = jnp.asarray(np.stack([density.draw_prior(seed) for seed in range(count)]))
    return positions, {n: np.asarray(v) for n, v in jax.vmap(density.variables)(positions).items()}


@pytest.mark.statistical
@pytest.mark.parametrize("name", STATED)
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
    density = build(FanIn(1.0), 0.3)
    positions, variables = draw(density, 2000)
    noise = variables["noise"]
    assert kstest(noise, halfnorm(scale=0.3).cdf).pvalue > SIGNIFICANCE
    mean_error = (noise.mean() - halfnorm.mean(scale=0.3)) / (noise.std() / np.sqrt(2000))
    squares = noise**2
    square_error = (squares.mean() - 0.3**2) / (squares.std() / np.sqrt(2000))
    assert max(abs(mean_error), abs(square_error)) < norm.isf(SIGNIFICANCE / 4)
    np.testing.assert_allclose(np.exp(positions[:, -1]), noise, rtol=1e-12)


def test_a_seed_gives_one_draw() -> None:
    density = build(FanIn(1.0), 0.3)
    np.testing.assert_array_equal(density.draw_prior(1), density.draw_prior(1))
    assert (np.asarray(density.draw_prior(1)) != np.asarray(density.draw_prior(2))).all()
