"""Hyperparameters moved with the weights, and drawn given them: both sample the same posterior."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import gamma, halfcauchy, multivariate_normal

from nlobayes import builder
from nlobayes.diagnostics import sampler_agreement
from nlobayes.priors.hierarchical import GammaPrecision, HalfCauchyScale, HierarchicalPrior
from nlobayes.priors.tensorbnn import TensorBNNPrior
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.statistical.test_exactness import (
    SIGMA,
    Observe,
    assert_expectations,
    make_dataset,
    sample_built,
    sample_model,
)

pytestmark = pytest.mark.statistical

LAST_IS_KINETIC = -1
HYPER: dict[str, Any] = {
    "gamma_precision": GammaPrecision(kind="gamma_precision", shape=1.5, rate=0.7),
    "half_cauchy": HalfCauchyScale(kind="half_cauchy", scale=0.6),
}


def linear_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(16, 5))
    return x, x @ [0.8, -0.5, 0.2, 0.0, 0.6] + 0.3 + SIGMA * rng.normal(size=16)


def log_scale_by_quadrature(hyper: str) -> tuple[float, float]:
    """Mean and variance of log s given y, where y is N(0, s^2 x x' / fan_in + 1 + SIGMA^2)."""
    x, y = (part[:-1] for part in linear_rows())
    grid = np.linspace(-6, 8, 3000)
    scale = np.exp(grid)
    prior = {
        "gamma_precision": gamma(1.5, scale=1 / 0.7).pdf(scale**-2) * 2 * scale**-2,
        "half_cauchy": halfcauchy(scale=0.6).pdf(scale) * scale,
    }[hyper]
    fixed, outer = 1 + SIGMA**2 * np.eye(len(y)), x @ x.T / x.shape[1]
    log_evidence = [multivariate_normal(cov=s**2 * outer + fixed).logpdf(y) for s in scale]
    weight = prior * np.exp(np.array(log_evidence) - max(log_evidence))
    assert max(weight[0], weight[-1]) < 1e-6 * weight.max()
    mean = float(np.average(grid, weights=weight))
    return mean, float(np.average((grid - mean) ** 2, weights=weight))


@pytest.mark.parametrize("hyper", HYPER)
@pytest.mark.parametrize("kind", ["hmc", "gibbs_hmc"])
@pytest.mark.by_day(1)
def test_scale_of_a_linear_model(kind: str, hyper: str) -> None:
    """Posterior of the scale of the weights against quadrature."""
    mean, variance = log_scale_by_quadrature(hyper)

    def observe_log_scale(model: builder.Model) -> Observe:
        return lambda q: jnp.log(model.density.variables(q)["scale_weights_1"])[None]

    prior = HierarchicalPrior(kind="hierarchical", hyper=HYPER[hyper])
    draws = sample_model(
        kind, model_job(prior=prior, sigma=SIGMA), make_dataset(*linear_rows()), observe_log_scale
    )
    log_scale = draws[..., :LAST_IS_KINETIC]
    quantities = np.concatenate([log_scale, (log_scale - mean) ** 2], axis=-1)
    assert_expectations(quantities, {"mean": mean, "variance": variance})


def observe_with_hyperparameters(
    model: builder.Model, dataset: Dataset, names: tuple[str, ...]
) -> Observe:
    """Observe f, and hyperparameters: means, and the logarithms of scales."""
    observe = builder.observer(model, dataset)

    def observed(q: jax.Array) -> jax.Array:
        variables = model.density.variables(q)
        hyper = [
            jnp.log(variables[name]) if name.startswith("scale") else variables[name]
            for name in names
        ]
        return jnp.concatenate([observe(q)["f"], jnp.stack(hyper)])

    return observed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "names"),
    [
        (
            HierarchicalPrior(kind="hierarchical", hyper=HYPER["gamma_precision"]),
            ("scale_weights_1", "scale_biases_1", "scale_weights_2"),
        ),
        (
            TensorBNNPrior(kind="tensorbnn", mean_sd=0.5),
            ("mean_weights_1", "mean_weights_2", "scale_weights_1", "scale_weights_2"),
        ),
    ],
    ids=["hierarchical", "tensorbnn"],
)
def test_both_ways_agree_on_a_network(prior: Any, names: tuple[str, ...]) -> None:
    """On means and standard deviations of f at two points and of the hyperparameters."""
    x = np.linspace(-1.5, 1.5, 10)
    y = np.tanh(x) + SIGMA * np.random.default_rng(4).normal(size=10)
    dataset = make_dataset(x[:, None], y)
    model = builder.build_model(model_job(3, prior=prior, sigma=SIGMA), dataset)
    observe = observe_with_hyperparameters(model, dataset, names)
    joint, gibbs = (
        sample_built(kind, model, observe, length=4000) for kind in ("hmc", "gibbs_hmc")
    )
    compared = sampler_agreement.compare(joint[..., :LAST_IS_KINETIC], gibbs[..., :LAST_IS_KINETIC])
    verdict = sampler_agreement.verdict(compared)
    assert verdict["passed"], verdict
