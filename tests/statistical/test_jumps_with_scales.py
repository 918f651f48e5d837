"""Networks whose width is drawn, with learned scales: chains stay draws of what NumPy integrates.

Prior draws of widths, scales and weights are made by NumPy alone, and weighted by a likelihood that
NumPy evaluates: the posterior by importance sampling, without PyMC, JAX or a chain. Chains that
start at exact draws must still be such draws: widths by chi2, scales by Kolmogorov and Smirnov.
Without the likelihood every weight is one, and the answer is the prior.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from nlobayes import builder
from nlobayes.builder.varying_architecture import architecture_of
from nlobayes.inference.kernel import Posterior
from nlobayes.kernels.reversible_jump import TunedSizes
from nlobayes.study.jobs import ModelJob
from tests.members import build_kernel
from tests.statistical.test_exactness import make_dataset

pytestmark = pytest.mark.statistical

POOL, CHAINS, STEPS, SIGNIFICANCE, SIGMA, MOST = 300_000, 2000, 12, 0.001, 0.7, 3
PARTS = 6
X = np.array([[-1.5, 0.3], [-0.5, -1.0], [0.0, 1.0], [0.6, -0.4], [1.0, 0.8], [1.6, -0.2]])
Y = np.array([-0.9, -1.1, 0.8, 0.9, 1.2, 1.0])
WIDTHS = np.array([4, 2, 1]) / 7
PRIORS: dict[str, dict[str, Any]] = {
    "relevance": {"kind": "relevance"},
    "hierarchical": {"kind": "hierarchical", "hyper": {"kind": "half_normal", "scale": 2.0}},
}
HALF_NORMAL = 2.0


class Pool(NamedTuple):
    """Prior draws as positions (draw, parameter), their widths, log scales and likelihoods."""

    positions: np.ndarray
    widths: np.ndarray
    scales: np.ndarray
    likelihoods: np.ndarray


@cache
def model_of(prior: str) -> builder.Model:
    job = {
        "network": {"hidden": [MOST], "units": {"kind": "geometric", "ratio": 0.5}},
        "prior": PRIORS[prior],
        "likelihood": {"kind": "gaussian", "sigma": SIGMA},
        "precision": "float64",
    }
    rows = np.vstack([X, X[:1]]), np.append(Y, 0.0)
    return builder.build_model(ModelJob.model_validate(job), make_dataset(*rows))


@cache
def pool_of(prior: str) -> Pool:
    """Draw from the prior by NumPy, and evaluate the network of each draw."""
    rng, density = np.random.default_rng(1), model_of(prior).density
    drawn: dict[str, np.ndarray] = {}
    for name, place in density.places.items():
        drawn[name] = rng.normal(size=(POOL, place.stop - place.start))
        if name.startswith("scale_"):
            drawn[name] = np.log(HALF_NORMAL * np.abs(drawn[name]))
    widths = rng.choice(MOST, size=POOL, p=WIDTHS) + 1
    ranks = rng.permuted(np.tile(np.arange(MOST), (POOL, 1)), axis=1)
    drawn["units_1"] = (ranks < widths[:, None]).astype(float)
    positions = np.zeros((POOL, density.size))
    for name, place in density.places.items():
        positions[:, place] = drawn[name]
    scales = np.hstack([drawn[name] for name in drawn if name.startswith("scale_")])
    apart = np.vstack([network(part) for part in parts_of(drawn)]) - Y
    return Pool(positions, widths, scales, np.exp(-0.5 * np.sum(apart**2, axis=1) / SIGMA**2))


def parts_of(drawn: dict[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    """Cut draws into parts, whose hidden units take little memory."""
    for at in np.array_split(np.arange(POOL), PARTS):
        yield {name: values[at] for name, values in drawn.items()}


def network(drawn: dict[str, np.ndarray]) -> np.ndarray:
    """Evaluate the networks of prior draws at all rows (draw, row)."""
    draws = len(drawn["units_1"])

    def array(name: str, fan_in: int = 1) -> np.ndarray:
        log_scale = drawn.get(f"scale_{name}_padded", np.zeros((draws, 1)))
        spread = drawn[f"{name}_padded_whitened"].reshape(draws, log_scale.shape[1], -1)
        return np.exp(log_scale)[..., None] * spread / np.sqrt(fan_in)

    inputs = X.shape[1]
    into = array("weights_1", inputs).reshape(draws, inputs, MOST)
    hidden = np.tanh(X @ into + array("biases_1").reshape(draws, 1, MOST))
    out = array("weights_2", MOST).reshape(draws, MOST) * drawn["units_1"]
    return np.einsum("drh,dh->dr", hidden, out) + array("biases_2").reshape(draws, 1)


def run(prior: str, data: bool, starts: np.ndarray) -> np.ndarray:
    """Positions of the chains (chain, parameter) after some steps."""
    model = model_of(prior)
    architecture = architecture_of(model.network, model.density, model.varying)

    def logdensity_fn(q: jax.Array, inverse_temperature: Any = 1.0, /) -> jax.Array:
        if data:
            return model.density.log_density(q, model.data, inverse_temperature)
        return model.density.log_prior(q)

    kernel = build_kernel(
        "reversible_jump",
        Posterior(logdensity_fn, architecture=architecture),
        moves=("prior", "conditional", "split"),
        jumps=2,
        annealing_steps=0,
        annealing_integration_steps=1,
        integration_steps=4,
        jitter=0.3,
        divergence_threshold=1000.0,
    )
    tuned = TunedSizes(
        jnp.array([0.2, 0.25, 0.2, 0.15]), jnp.ones(model.density.size), jnp.full(3, 0.5)
    )

    def chain(key: jax.Array, position: jax.Array) -> jax.Array:
        def step(state: Any, key: jax.Array) -> tuple[Any, None]:
            return kernel.step(key, state, tuned)[0], None

        return jax.lax.scan(step, kernel.init(position), jax.random.split(key, STEPS))[0].position

    keys = jax.random.split(jax.random.key(3), CHAINS)
    return np.asarray(jax.jit(jax.vmap(chain))(keys, jnp.asarray(starts)))


@pytest.mark.by_day(1)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("data", [True, False], ids=["data", "prior"])
def test_widths_and_scales_stay_what_they_are(prior: str, data: bool) -> None:
    pool, places = pool_of(prior), model_of(prior).density.places
    weights = pool.likelihoods if data else np.ones(POOL)
    assert weights.sum() ** 2 / np.sum(weights**2) > 5000
    share = weights / weights.sum()
    rng = np.random.default_rng(2)
    starts, exact = (rng.choice(POOL, size=size, p=share) for size in (CHAINS, 20_000))
    found = run(prior, data, pool.positions[starts])
    known = np.bincount(pool.widths, weights=share)[1:]
    widths = np.bincount(found[:, places["units_1"]].sum(axis=1).astype(int))[1:]
    tests = [chisquare(widths, known * CHAINS).pvalue]
    log_scales = np.hstack([found[:, at] for name, at in places.items() if "scale_" in name])
    tests += [
        kstest(one, held[exact]).pvalue
        for one, held in zip(log_scales.T, pool.scales.T, strict=True)
    ]
    assert min(tests) > SIGNIFICANCE / len(tests), tests
    learned = np.abs(share @ pool.scales - pool.scales.mean(axis=0)).max()
    assert not data or learned > 0.1, "the data say something of the scales"
    moved = found[:, places["units_1"]] != pool.positions[starts][:, places["units_1"]]
    assert moved.any(axis=1).mean() > 0.5
