"""The list of scores as a page of the documentation: `python -m nlobayes.metrics`."""

from __future__ import annotations

import sys

from nlobayes.metrics import METRICS
from nlobayes.metrics.metric import Metric, Of

INTRODUCTION = (
    "The list of `nlobayes.metrics`, in its order. Shares are stored between 0 and 1, and shown in"
    " %. `_low` and `_high` end a 95 % interval; `_se` is a standard error. `baseline`, `linear`"
    " and each of the `rivals` have the same scores; `rivals` also `own`, the coverage and the log"
    " score of a Gaussian of their own mean and sd, and `facts` of their fit ([rivals](rivals.md))."
)
HEADER = ("| key | what | unit | better | splits |", "|---|---|---|---|---|")


def as_markdown() -> str:
    """Write the list as a page: one table for everything that scores are of."""
    lines = ["# Scores", "", INTRODUCTION, ""]
    for kind in Of:
        lines += [f"## Of {kind}", "", *HEADER]
        lines += [_row(metric) for metric in METRICS if metric.of == kind]
        lines.append("")
    return "\n".join(lines)


def _row(metric: Metric) -> str:
    keys = ", ".join([f"`{metric.key}`", *(f"`{suffix}`" for suffix in metric.beside)])
    better = "" if metric.better is None else str(metric.better)
    cells = (
        keys,
        metric.label.replace("|", "\\|"),
        metric.unit,
        better,
        ", ".join(metric.splits),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
