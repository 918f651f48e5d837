"""The posterior with the output layer integrated out is that of the whole model.

Seeds are fixed; all expectations of a test are compared at once, at a joint significance of 0.001.
"""

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
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.statistical.test_exactness import make_dataset

pytestmark = pytest.mark.statistical

SIGNIFICANCE, FEWEST_EFFECTIVE = 0.001, 400
CHAINS, WARMUP, DRAWS, SEED = 4, 500, 24_000, 3
LINEAR = {"kind": "gaussian", "precision": 4.0, "non_centered": True}
METHODS: dict[str, dict[str, Any]] = {
    "hmc": {"kernel": {"kind": "hmc", "integration_steps": 24, "jitter": 0.4}},
    "nuts": {"kernel": {"kind": "nuts", "max_depth": 6}},
    "gauss_newton": {
        "kernel": {"kind": "hmc", "integration_steps": 8, "jitter": 0.4},
        "warmup": {"mass_matrix": "gauss_newton", "target_acceptance": 0.9},
    },
    "gibbs_hmc": {"kernel": {"kind": "gibbs_hmc", "integration_steps": 12, "jitter": 0.4}},
    "crank_nicolson": {
        "kernel": {"kind": "crank_nicolson", "moves": 16, "slices": 4},
        "warmup": {"target_acceptance": 0.3},
    },
}


def job_of(output: str, hidden: tuple[int, ...], prior: dict[str, Any]) -> ModelJob:
    """A network with learned noise."""
    noise = {"kind": "gaussian", "sigma": None, "scale": 0.5}
    return model_job(*hidden, prior=prior, likelihood=noise, output=output)


def method_of(name: str) -> MCMC:
    changes = METHODS[name]
    begin = {"steps": WARMUP, "initial_step_size": 0.05, "target_acceptance": 0.8}
    return MCMC.model_validate(
        {
            "kernel": changes["kernel"],
            "warmup": begin | changes.get("warmup", {}),
            "chains": CHAINS,
            "draws_per_segment": DRAWS,
            "thin": 1,
        }
    )


def sample(output: str, dataset: Dataset, name: str, hidden: Any, prior: Any) -> np.ndarray:
    """Draw f at the reference points, the last whole position's output, and the log noise."""
    job, method = job_of(output, hidden, prior), method_of(name)
    model = builder.build_model(job, dataset)
    known = (model.sampled.conjugates, builder.standard_entries(model))
    kernel = method.kernel.build(Posterior(model.sampled.logdensity_fn, *known))
    curvature = builder.curvature_with(model, dataset)
    adaptation = method.warmup.build(Untuned(kernel, method.kernel, curvature))
    chains = range(CHAINS)
    observe = builder.observer(model, dataset)
    starts = [builder.draw_start(model, "prior", seed=SEED, chain=chain) for chain in chains]
    keys = {stage: builder.chain_keys(SEED, stage, chains) for stage in ("warmup", "draw")}

    @jax.jit
    def run(begin: jax.Array) -> jax.Array:
        carry, _, _ = adapt(
            keys["warmup"], adaptation, adaptation.start(begin), first=0, steps=WARMUP
        )
        states, tuned = adaptation.finish(carry)
        _, drawn = draw(
            keys["draw"],
            kernel,
            states,
            tuned,
            first=0,
            kept=DRAWS,
            thin=1,
            observe=observe,
            completion=builder.complete_chains(model, SEED, chains),
        )
        noise = jnp.log(drawn.observed["noise"])[..., None]
        return jnp.concatenate([drawn.observed["f"], noise], axis=-1)

    return np.asarray(run(builder.begin_chains(model, [np.asarray(start) for start in starts])))


def moments(draws: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the quantities and of their squares about a centre, with their standard errors."""
    both = np.concatenate([draws, (draws - centre) ** 2], axis=-1)
    effective = both.shape[0] * both.shape[1] / integrated_time(both)
    assert effective.min() > FEWEST_EFFECTIVE
    return both.mean(axis=(0, 1)), both.std(axis=(0, 1)) / np.sqrt(effective)


def assert_agree(value: np.ndarray, error: np.ndarray, expected: Any, its_error: Any = 0.0) -> None:
    z = (value - expected) / np.hypot(error, its_error)
    assert np.max(np.abs(z)) < norm.isf(SIGNIFICANCE / (2 * len(z))), np.round(z, 1)


@cache
def small() -> Dataset:
    """Eight rows of a bent line with errors; the last belongs to no split."""
    rng = np.random.default_rng(4)
    x = np.linspace(-1.5, 1.5, 9)
    y = np.tanh(2 * x) + 0.2 * rng.normal(size=9)
    return make_dataset(x[:, None], y, error=np.linspace(0.1, 0.4, 9))


NEAL = {"kind": "hierarchical", "hyper": {"kind": "gamma_precision", "shape": 3.0, "rate": 3.0}}


@cache
def whole_model() -> np.ndarray:
    return sample("sampled", small(), "hmc", (3,), NEAL)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["hmc", *(pytest.param(name, marks=pytest.mark.slow) for name in METHODS if name != "hmc")],
)
def test_posterior_is_that_of_the_whole_model(name: str) -> None:
    """Means and variances of f at two points and of the log noise: learned scales and noise."""
    whole = whole_model()
    centre = whole.mean(axis=(0, 1))
    expected, its_error = moments(whole, centre)
    value, error = moments(sample("marginalised", small(), name, (3,), NEAL), centre)
    assert_agree(value, error, expected, its_error)


def test_bayesian_linear_regression_with_learned_noise() -> None:
    """No hidden layer: f given the noise is Gaussian in closed form, the noise is one integral."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(13, 2))
    dataset = make_dataset(x, x @ [0.5, -1.0] + 0.3 + 0.4 * rng.normal(size=13))
    draws = sample("marginalised", dataset, "hmc", (), LINEAR)
    expected, square = by_quadrature(dataset)
    value, error = moments(draws, expected)
    assert_agree(value, error, np.concatenate([expected, square]))


def by_quadrature(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of f at the reference points, and of the log noise."""
    design, y = np.column_stack([dataset.features, np.ones(13)])[:-1] / 2, dataset.target[:-1]
    logs = np.linspace(-4, 2, 2001)
    rows = []
    for log in logs:
        variance = np.exp(2 * log)
        covariance = design @ design.T + variance * np.eye(12)
        gain = design[:2] @ design.T @ np.linalg.inv(covariance)
        mean = gain @ y
        spread = np.diag(design[:2] @ design[:2].T - gain @ design @ design[:2].T)
        evidence = -np.linalg.slogdet(covariance)[1] / 2 - y @ np.linalg.solve(covariance, y) / 2
        rows.append([evidence - variance / (2 * 0.5**2) + log, *mean, log, *spread, 0.0])
    table = np.array(rows)
    weight = np.exp(table[:, 0] - table[:, 0].max())
    weight /= weight.sum()
    centre = weight @ table[:, 1:4]
    return centre, weight @ (table[:, 4:] + (table[:, 1:4] - centre) ** 2)
