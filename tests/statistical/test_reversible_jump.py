"""Reversible jumps leave their target invariant, and only with every factor of the ratio.

Independent chains start as exact draws of a known target over architectures and parameters. After
a fixed number of steps they are independent draws of it again: frequencies of sizes are compared
by chi2, parameters by Kolmogorov and Smirnov, at a joint significance of 0.001.
"""

from functools import cache
from itertools import product
from math import comb
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare, kstest, multivariate_normal

from nlobayes.inference.jumps import jump, proposals
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.varying_part import Architecture, Layers, Units
from nlobayes.kernels.reversible_jump import TunedSizes
from tests.members import build_kernel

pytestmark = pytest.mark.statistical

CHAINS, STEPS, SIGNIFICANCE, FEWEST_VALUES = 4000, 20, 0.001, 50
BATCH = 250
"""Chains that are vectorised; XLA stands still where thousands differentiate `conditional`."""
MOST, FEWEST, LAYERS = 4, 1, 3
USED, INTO, OUT = np.arange(4), np.arange(4, 12).reshape(4, 2), np.arange(12, 16)[:, None]
DEPTH, LAYER_ENTRIES = 16, np.arange(17, 23).reshape(2, 3)
SIZE = 23
IDENTITY = np.array([[1.0, 0.0, 0.5], [-1.0, 1.0, 0.0]])
WIDTHS = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
DEPTHS = np.array([0.5, 0.3, 0.2])
SUBSETS = np.array([s for s in product((0, 1), repeat=MOST) if sum(s) >= FEWEST])
PRIOR = np.array([WIDTHS[s.sum()] / comb(MOST, s.sum()) for s in SUBSETS])
SIGMA, ROWS = 0.5, 12
SCALE = 0.3
ARCHITECTURE = Architecture(
    (Units(USED, INTO, OUT, FEWEST),),
    Layers(DEPTH, LAYER_ENTRIES, lambda _: jnp.asarray(IDENTITY), OUT[:, 0], fewest=1),
)
MOVES = ("prior", "conditional", "split", "identity")


class Problem(NamedTuple):
    """A log density, exact draws of it (chain, parameter), probabilities of subsets of units."""

    logdensity_fn: Any
    draws: np.ndarray
    subsets: np.ndarray


def log_prior(position: jax.Array) -> jax.Array:
    count, depth = jnp.sum(position[USED]).astype(int), position[DEPTH].astype(int)
    choices = jnp.asarray([comb(MOST, k) for k in range(MOST + 1)])
    architecture = jnp.log(jnp.asarray(WIDTHS))[count] - jnp.log(choices[count])
    others = np.r_[INTO.ravel(), OUT.ravel(), LAYER_ENTRIES.ravel()]
    depths = jnp.log(jnp.asarray(DEPTHS))[depth - 1]
    return architecture + depths - 0.5 * jnp.sum(position[others] ** 2)


def draw_prior(rng: np.random.Generator) -> np.ndarray:
    drawn = rng.normal(size=(CHAINS, SIZE))
    counts = rng.choice(MOST + 1, size=CHAINS, p=WIDTHS)
    ranks = rng.permuted(np.tile(np.arange(MOST), (CHAINS, 1)), axis=1)
    drawn[:, USED] = ranks < counts[:, None]
    drawn[:, DEPTH] = 1 + rng.choice(LAYERS, size=CHAINS, p=DEPTHS)
    return drawn


@cache
def without_likelihood() -> Problem:
    draws = draw_prior(np.random.default_rng(1))
    return Problem(lambda q, b=1.0: log_prior(q), draws, PRIOR)


@cache
def linear_regressions() -> Problem:
    """Which of four columns explain a target: every subset has a known probability."""
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(ROWS, MOST))
    target = columns @ np.array([0.4, 0.0, -0.3, 0.0]) + SIGMA * rng.normal(size=ROWS)
    drawn, logs, gaussians = draw_prior(rng), [], []
    for subset, probability in zip(SUBSETS, PRIOR, strict=True):
        used = columns * subset
        evidence = multivariate_normal(cov=used @ used.T + SIGMA**2 * np.eye(ROWS)).logpdf(target)
        logs.append(evidence + np.log(probability))
        covariance = np.linalg.inv(used.T @ used / SIGMA**2 + np.eye(MOST))
        gaussians.append((covariance @ used.T @ target / SIGMA**2, covariance))
    share = np.exp(np.array(logs) - max(logs))
    which = rng.choice(len(SUBSETS), size=CHAINS, p=share / share.sum())
    drawn[:, USED] = SUBSETS[which]
    for number, gaussian in enumerate(gaussians):
        rows = which == number
        drawn[np.ix_(rows, OUT[:, 0])] = rng.multivariate_normal(*gaussian, rows.sum())

    def logdensity_fn(position: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
        apart = target - columns @ (position[USED] * position[OUT[:, 0]])
        return log_prior(position) - 0.5 * inverse_temperature * jnp.sum(apart**2) / SIGMA**2

    return Problem(logdensity_fn, drawn, share / share.sum())


def run(
    problem: Problem,
    moves: Any,
    annealing_steps: int = 0,
    steps: int = STEPS,
    annealed: Any = None,
    max_depth: int | None = None,
    step_size: float = 0.3,
) -> Any:
    """Positions (chain, parameter) after the steps, and the mean acceptance of each jump."""
    kernel = build_kernel(
        "reversible_jump",
        Posterior(problem.logdensity_fn, architecture=ARCHITECTURE),
        moves=moves,
        jumps=2,
        annealing_steps=annealing_steps,
        annealing_integration_steps=2,
        annealed=annealed,
        integration_steps=3,
        max_depth=max_depth,
        jitter=0.3,
        divergence_threshold=1000.0,
    )
    step_sizes = step_size * (1 + jnp.arange(ARCHITECTURE.sizes) / 15)
    scales = jnp.full(2 * len(moves), SCALE)
    tuned = TunedSizes(step_sizes, jnp.ones(SIZE), scales)

    def chain(key: jax.Array, position: jax.Array) -> Any:
        def step(state: Any, key: jax.Array) -> Any:
            state, info = kernel.step(key, state, tuned)
            return state, info.extra

        state, extra = jax.lax.scan(step, kernel.init(position), jax.random.split(key, steps))
        return state.position, extra

    keys = jax.random.split(jax.random.key(5), len(problem.draws))
    begin = (keys, jnp.asarray(problem.draws))
    return jax.jit(lambda: jax.lax.map(lambda each: chain(*each), begin, batch_size=BATCH))()


def p_values(found: np.ndarray, problem: Problem) -> dict[str, float]:
    """Of sizes by chi2, of every other entry by its quantiles among exact draws."""
    subset = (found[:, USED] @ (1 << np.arange(MOST))).astype(int)
    depth = np.bincount(found[:, DEPTH].astype(int), minlength=LAYERS + 1)[1:]
    tests = {
        "subset": chisquare(
            [np.sum(subset == number) for number in SUBSETS @ (1 << np.arange(MOST))],
            problem.subsets * len(found),
        ).pvalue,
        "depth": chisquare(depth, DEPTHS * len(found)).pvalue,
    }
    for entry in (*INTO.ravel(), *OUT.ravel(), *LAYER_ENTRIES.ravel()):
        held = {"": found[:, entry]}
        if entry in OUT:
            used = found[:, USED[entry - OUT[0, 0]]] > 0.5
            held = {"_used": found[used, entry], "_unused": found[~used, entry]}
        for name, values in held.items():
            if len(values) < FEWEST_VALUES:
                continue
            exact = exact_of(problem, int(entry), name)
            tests[f"{entry}{name}"] = kstest(values, exact, method="asymp").pvalue
    return tests


def exact_of(problem: Problem, entry: int, which: str) -> Any:
    """The standard normal, or exact draws of a weight that the likelihood sees."""
    if which != "_used" or problem is without_likelihood():
        return "norm"
    used = problem.draws[:, USED[entry - OUT[0, 0]]] > 0.5
    return problem.draws[used, entry]


WITHOUT_DATA = ("prior", "split", "identity")
"""Without a likelihood `conditional` is `prior`; test_jumps_of_layers.py has its layers."""
NOTHING, DATA = without_likelihood, linear_regressions
CASES = [
    pytest.param(DATA, MOVES, 0, None, id="regressions-all"),
    *(pytest.param(NOTHING, (move,), 0, None, id=f"prior-{move}") for move in WITHOUT_DATA),
    pytest.param(NOTHING, MOVES, 0, None, id="prior-all"),
    pytest.param(DATA, ("conditional",), 0, None, id="regressions-conditional"),
    pytest.param(DATA, ("prior", "split", "identity"), 2, None, id="regressions-annealed"),
    pytest.param(DATA, ("prior", "conditional"), 1, ("conditional",), id="regressions-one"),
]


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("problem", "moves", "annealing_steps", "annealed"), CASES)
def test_chains_stay_in_their_target(
    problem: Any, moves: Any, annealing_steps: int, annealed: Any
) -> None:
    known = problem()
    found, extra = run(known, moves, annealing_steps, annealed=annealed)
    tests = p_values(np.asarray(found), known)
    assert min(tests.values()) > SIGNIFICANCE / len(tests) / len(CASES), tests
    tried = {name: np.nanmean(of) for name, of in extra.items() if "acceptance" in name}
    assert min(tried.values()) > 0.003, tried


@pytest.mark.slow
def test_chains_of_nuts_stay_in_their_target() -> None:
    """NUTS moves within a size, and jumps between sizes."""
    known = linear_regressions()
    made = run(known, ("prior", "conditional"), steps=8, max_depth=3, step_size=0.1)
    found = np.asarray(made[0])
    tests = p_values(found, known)
    assert min(tests.values()) > SIGNIFICANCE / len(tests), tests
    assert np.mean(found[:, INTO] != known.draws[:, INTO]) > 0.999, "NUTS has moved them"


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("dropped", "problem", "moves"),
    [
        ("target", DATA, ("prior",)),
        ("jacobian", NOTHING, ("split",)),
        ("jacobian", NOTHING, ("identity",)),
        ("direction", NOTHING, ("prior",)),
        ("choice", NOTHING, ("prior",)),
    ],
)
def test_every_factor_of_the_ratio_is_needed(
    dropped: str, problem: Any, moves: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def total(ratio: Any) -> Any:
        return sum(ratio._replace(**{dropped: 0.0}))

    factors = type(
        "Ratio",
        (jump.Ratio,),
        {"total": lambda self: jnp.where(self.direction > -jnp.inf, total(self), -jnp.inf)},
    )
    monkeypatch.setattr(proposals, "Ratio", factors)
    known = problem()
    tests = p_values(np.asarray(run(known, moves)[0]), known)
    assert min(tests.values()) < 1e-9, tests
