"""The tables of a network whose size is drawn: posterior and prior of the size, and its trace.

Sizes are numbers of units or of layers (chain, stored draw), by their names in the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np

from nlobayes.diagnostics.architecture import acceptance_within, summarise_sizes
from nlobayes.types import Columns

TRACE_DRAWS = 500
ArraysByName = Mapping[str, np.ndarray]


def sizes_table(sizes: ArraysByName, priors: ArraysByName, stats: ArraysByName) -> Columns:
    """Tabulate the posterior and the prior of each number.

    Parameters
    ----------
    sizes
        The drawn numbers, by name.
    priors
        The prior probability of each number from 0 (number,), by name.
    stats
        Sample stats of every draw, by name.

    Returns
    -------
    A row for each `quantity` and each `number` that its prior allows: `probability`, its
    Monte-Carlo standard error `mcse`, the `prior`, and `acceptance_within`, the acceptance of moves
    that change no size. Error and acceptance are NaN where no draw shows them.
    """
    parts = [
        _of_number(name, sizes, priors[name], acceptance_within(stats, name)) for name in sizes
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def trace_table(
    sizes: ArraysByName, parameters: np.ndarray, log_density: np.ndarray, draws: np.ndarray
) -> Columns:
    """Tabulate sizes, the parameters in use and the log density of stored draws of each chain.

    `draws` (draw,) are the numbers of the stored draws, from 0, which count those not stored too.

    Returns a row for each `quantity`, `chain` and `draw`, with its `value`: at most 500 draws per
    chain.
    """
    quantities = {**sizes, "parameters": parameters, "log_density": log_density}
    chains, stored = log_density.shape
    kept = np.arange(0, stored, ceil(stored / TRACE_DRAWS))
    rows = chains * len(kept)
    return {
        "quantity": np.repeat([*quantities], rows),
        "chain": np.tile(np.repeat(np.arange(chains), len(kept)), len(quantities)),
        "draw": np.tile(draws[kept], chains * len(quantities)),
        "value": np.concatenate([values[:, kept].ravel() for values in quantities.values()]),
    }


def _of_number(
    name: str, sizes: ArraysByName, prior: np.ndarray, accepted: Mapping[float, float]
) -> Columns:
    number = np.flatnonzero(prior)
    found = summarise_sizes({name: sizes[name]})[name]
    drawn = {
        column: dict(zip(found["number"], found[column], strict=True))
        for column in ("probability", "mcse")
    }
    return {
        "quantity": np.repeat(name, len(number)),
        "number": number,
        "probability": np.array([drawn["probability"].get(k, 0.0) for k in number]),
        "mcse": np.array([drawn["mcse"].get(k) for k in number], np.float64),
        "prior": prior[number],
        "acceptance_within": np.array([accepted.get(float(k), np.nan) for k in number]),
    }
