"""Invented tables of prior predictive checks."""

import numpy as np
import pandas as pd

from nlobayes.evaluation import prior_draws
from nlobayes.evaluation.prior_draws import PriorDraws

Tables = dict[str, pd.DataFrame]


def prior_tables(
    *, outputs: int = 1, width: float = 3.0, draws: int = 60, rows: int = 40, seed: int = 8
) -> Tables:
    """Tables of waves around a target that is a wave of amplitude 1, `width` times as high."""
    rng = np.random.default_rng(seed)
    x = np.linspace(50, 950, rows)
    phases = rng.uniform(0, 2 * np.pi, (draws, 1, outputs))
    heights = width * np.exp(rng.normal(0, 0.3, (draws, 1, outputs)))
    functions = heights * np.sin(x[:, None] / 100 + phases)
    observed = np.tile(np.sin(x / 100)[:, None], outputs)
    names = tuple(f"y{number}" for number in range(outputs))
    return tabulated(PriorDraws(names, x, functions, observed))


def class_prior_tables(*, classes: int = 3, draws: int = 60, rows: int = 40) -> Tables:
    """Tables of random probabilities."""
    rng = np.random.default_rng(9)
    functions = rng.dirichlet(np.full(classes, 0.5), (draws, rows))
    observed = np.eye(classes)[rng.integers(classes, size=rows)]
    names = tuple(f"probability of class {number}" for number in range(classes))
    probabilities = PriorDraws(names, np.linspace(0, 1, rows), functions, observed)
    return tabulated(prior_draws.with_largest(probabilities))


def tabulated(draws: PriorDraws) -> Tables:
    """The three tables of some draws."""
    tables = (prior_draws.prior_quantiles, prior_draws.prior_draws, prior_draws.prior_scales)
    return {table.__name__: pd.DataFrame(table(draws)) for table in tables}


def labels_of(*targets: str, unit: str = "s") -> pd.DataFrame:
    """Names of the outputs, a row each."""
    row = {"covariate": "|m1| (GeV)", "unit": unit, "scale": "identity"}
    return pd.DataFrame([{**row, "target": target} for target in targets])
