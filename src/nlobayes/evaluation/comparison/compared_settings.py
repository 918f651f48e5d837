"""Distributions for each setting of a grid: its pulls, and the spread of its weights.

Runs of one setting that differ only in their seeds are combined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np

from nlobayes.evaluation.calibration.pull_counts import EDGES
from nlobayes.evaluation.comparison.runs import RunMetrics, by_setting
from nlobayes.types import Columns

KINDS = ("total", "epistemic")
Quantity = Literal["weight", "sd"]
QUANTITIES: tuple[Quantity, ...] = ("weight", "sd")


def pulls_table(runs: Sequence[RunMetrics]) -> Columns:
    """Tabulate the pulls of the test rows of every setting, one row per bin.

    Returns `setting`; `kind`, whether the sd is the total one or that of the draws only
    (`epistemic`); `low` and `high` of the bin, where the first and the last bin include all values
    beyond; `count`, over the runs of the setting; `density`; `sigma_z`, the mean over these runs;
    `runs`, and how many of them have `not_converged`. No rows if no run has pulls.
    """
    columns = ("setting", "kind", "low", "high", "count", "density", "sigma_z")
    return _stacked(
        (*columns, "runs", "not_converged"),
        (_pulls(setting, kind, of) for setting, of in _settings(runs) for kind in KINDS),
    )


def weights_table(runs: Sequence[RunMetrics]) -> Columns:
    """Tabulate the quantiles of the weights of every setting, and of their sds over the draws.

    Returns `setting`; `quantity`, the `weight` or its `sd`; `share` of the weights below `value`,
    which is the mean over the runs of the setting, in units of the network; `runs`, and how many of
    them have `not_converged`. No rows if no run has a fixed number of weights.
    """
    return _stacked(
        ("setting", "quantity", "share", "value", "runs", "not_converged"),
        (_weights(setting, name, of) for setting, of in _settings(runs) for name in QUANTITIES),
    )


def _pulls(setting: str, kind: str, runs: Sequence[RunMetrics]) -> Columns | None:
    counted = [(run, counts) for run in runs if (counts := run.pulls.get(kind)) is not None]
    if not counted:
        return None
    known = [run for run, _ in counted]
    count = np.sum(np.array([counts for _, counts in counted]), axis=0)
    sigmas = [run.test.get(f"sigma_z_{kind}") for run in known]
    sigma = np.mean([np.nan if value is None else value for value in sigmas])
    return {
        **_same(len(count), setting=setting, kind=kind),
        "low": EDGES[:-1],
        "high": EDGES[1:],
        "count": count,
        "density": count / (count.sum() * np.diff(EDGES)),
        **_same(len(count), sigma_z=sigma, **_verdicts(known)),
    }


def _weights(setting: str, quantity: Quantity, runs: Sequence[RunMetrics]) -> Columns | None:
    found = [(run, spread) for run in runs if (spread := run.diagnostics.get("weight_spread"))]
    if not found:
        return None
    known = [run for run, _ in found]
    value = np.mean([spread[quantity] for _, spread in found], axis=0)
    count = len(value)
    return {
        **_same(count, setting=setting, quantity=quantity),
        "share": (np.arange(count) + 0.5) / count,
        "value": value,
        **_same(count, **_verdicts(known)),
    }


def _settings(runs: Sequence[RunMetrics]) -> Iterator[tuple[str, list[RunMetrics]]]:
    return ((setting, [*of.values()]) for setting, of in by_setting(runs).items())


def _verdicts(runs: Sequence[RunMetrics]) -> dict[str, int]:
    failed = sum(not (run.converged or run.approximate) for run in runs)
    return {"runs": len(runs), "not_converged": failed}


def _same(rows: int, **values: Any) -> Columns:
    return {name: np.full(rows, value) for name, value in values.items()}


def _stacked(names: Sequence[str], parts: Iterator[Columns | None]) -> Columns:
    found = [part for part in parts if part is not None]
    return {name: np.array([*chain.from_iterable(part[name] for part in found)]) for name in names}
