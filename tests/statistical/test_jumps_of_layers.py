"""Jumps between depths leave a target of known probabilities invariant, and need their Jacobian.

Each depth has a linear regression of its own, so that the output layer is Gaussian given the depth
and every depth has an evidence in closed form. Independent chains start as exact draws. After a
fixed number of steps depths are compared by chi2 and entries by Kolmogorov and Smirnov with their
exact distributions, at a joint significance of 0.001.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare, kstest, multivariate_normal, norm

from nlobayes.inference.jumps import jump, proposals
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.varying_part import Architecture, Layers
from nlobayes.kernels.reversible_jump import TunedSizes
from tests.members import build_kernel

pytestmark = pytest.mark.statistical

CHAINS, STEPS, SIGNIFICANCE = 2000, 15, 0.001
DEPTHS, ROWS, COLUMNS, SIGMA = 3, 10, 2, 0.7
SHARES = np.array([0.4, 0.35, 0.25])
"""Posterior probabilities of the depths; their prior is what gives these."""
DEPTH, ENTRIES, OUT, SIZE = 0, np.array([[1], [2]]), np.array([3, 4]), 5
LAYERS = Layers(DEPTH, ENTRIES, lambda _: jnp.full((2, 1), 0.7), OUT, fewest=1)
ALL = ("conditional", "prior", "identity")


class Depth(NamedTuple):
    """The rows of one depth, its log evidence, mean and covariance of its output layer."""

    columns: np.ndarray
    log_evidence: float
    mean: np.ndarray
    covariance: np.ndarray


RNG = np.random.default_rng(0)
DESIGNS = RNG.normal(size=(DEPTHS, ROWS, COLUMNS)) * np.array([0.4, 1.0, 2.0])[:, None, None]
"""Columns of very different size, so that the output layer of one depth fits no other."""
TARGET = SIGMA * RNG.normal(size=ROWS) + 0.3 * DESIGNS[1].sum(axis=1) + 0.1 * DESIGNS[2].sum(axis=1)


def depth_of(columns: np.ndarray) -> Depth:
    evidence = multivariate_normal(cov=columns @ columns.T + SIGMA**2 * np.eye(ROWS))
    covariance = np.linalg.inv(columns.T @ columns / SIGMA**2 + np.eye(COLUMNS))
    mean = covariance @ columns.T @ TARGET / SIGMA**2
    return Depth(columns, evidence.logpdf(TARGET), mean, covariance)


EACH = [depth_of(columns) for columns in DESIGNS]
LOG_PRIOR = np.log(SHARES) - np.array([depth.log_evidence for depth in EACH])


def log_density(position: jax.Array, inverse_temperature: Any = 1.0, /) -> jax.Array:
    index = jnp.round(position[DEPTH]).astype(int) - 1
    apart = TARGET - jnp.asarray(DESIGNS)[index] @ position[OUT]
    prior = jnp.asarray(LOG_PRIOR)[index] - 0.5 * jnp.sum(position[1:] ** 2)
    return prior - 0.5 * inverse_temperature * jnp.sum(apart**2) / SIGMA**2


def exact_draws(rng: np.random.Generator) -> np.ndarray:
    which, drawn = rng.choice(DEPTHS, size=CHAINS, p=SHARES), rng.normal(size=(CHAINS, SIZE))
    drawn[:, DEPTH] = which + 1
    for number, depth in enumerate(EACH):
        rows = which == number
        fitted = rng.multivariate_normal(depth.mean, depth.covariance, rows.sum())
        drawn[np.ix_(rows, OUT)] = fitted
    return drawn


def run(moves: tuple[Any, ...], annealing_steps: int = 0) -> tuple[np.ndarray, float]:
    """Positions of the chains (chain, parameter), and the mean acceptance of their jumps."""
    kernel = build_kernel(
        "reversible_jump",
        Posterior(log_density, architecture=Architecture((), LAYERS)),
        moves=moves,
        jumps=2,
        annealing_steps=annealing_steps,
        annealing_integration_steps=2,
        integration_steps=3,
        jitter=0.3,
        divergence_threshold=1000.0,
    )
    tuned = TunedSizes(jnp.array([0.2, 0.25, 0.3]), jnp.ones(SIZE), jnp.full(len(moves), 0.5))

    def chain(key: jax.Array, position: jax.Array) -> Any:
        def step(state: Any, key: jax.Array) -> Any:
            state, info = kernel.step(key, state, tuned)
            return state, info.extra["jump_probability"]

        state, accepted = jax.lax.scan(step, kernel.init(position), jax.random.split(key, STEPS))
        return state.position, accepted

    starts = jnp.asarray(exact_draws(np.random.default_rng(3)))
    keys = jax.random.split(jax.random.key(1), CHAINS)
    positions, accepted = jax.jit(jax.vmap(chain))(keys, starts)
    return np.asarray(positions), float(np.mean(accepted))


def p_values(found: np.ndarray) -> dict[str, float]:
    depths = found[:, DEPTH].astype(int)
    counts = np.bincount(depths, minlength=DEPTHS + 1)[1:]
    tests = {"depth": chisquare(counts, SHARES * len(found)).pvalue}
    for number, depth in enumerate(EACH, start=1):
        rows = found[depths == number]
        deviations = np.sqrt(np.diag(depth.covariance))
        for entry, mean, deviation in zip(OUT, depth.mean, deviations, strict=True):
            exact = norm(mean, deviation).cdf
            tests[f"{number}: {entry}"] = kstest(rows[:, entry], exact).pvalue
        for entry in ENTRIES.ravel():
            tests[f"{number}: {entry}"] = kstest(rows[:, entry], "norm").pvalue
    return tests


CASES = {
    "conditional": (("conditional",), 0),
    "all": (ALL, 0),
    "annealed": (("conditional",), 3),
}


@pytest.mark.by_day(1)
@pytest.mark.parametrize("case", CASES)
def test_depths_and_output_layers_stay_draws_of_their_target(case: str) -> None:
    found, accepted = run(*CASES[case])
    tests = p_values(found)
    assert min(tests.values()) > SIGNIFICANCE / len(tests) / len(CASES), tests
    assert accepted > 0.1


def test_conditional_needs_its_jacobian(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(ratio: Any) -> Any:
        rest = sum(ratio._replace(jacobian=0.0))
        return jnp.where(ratio.direction > -jnp.inf, rest, -jnp.inf)

    without = type("Ratio", (jump.Ratio,), {"total": total})
    monkeypatch.setattr(proposals, "Ratio", without)
    assert min(p_values(run(("conditional",))[0]).values()) < 1e-9
