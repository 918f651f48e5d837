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
OWN = """\
## Your own

A score of your own is a function in a file of the project. It gets what the files of
`evaluation/scores/regression/` get (of classes `evaluation/scores/classification/`), and the
`settings`, and returns a number, or a line that says why there is none:

```python
# scores/tail.py
import numpy as np


def share_below(split, limit):
    if not len(split.observed):
        return "the split has no points"
    mean = split.draws.mean(axis=0)
    return np.mean(mean - split.observed < limit)
```

```yaml
evaluation:
  default:
    scores:
      far_below:
        {file: scores/tail.py, function: share_below, settings: {limit: -0.1}, compared: true}
```

`split` has `draws` (draw, point) and `observed` (point,) on the model scale, `noise`, the
predictive noise, `rng`, random numbers of this score alone, and `scale` (`log10` or `identity`);
of classes `prediction` and `labels`. The score stands by its name in `evaluation.json` for every
split, again under `baseline`, `linear` and `rivals`, and in `runs.csv` of every comparison. With
`compared: true` the tables and the figure of differences have it, too. A name must not be that of
another score. What is no finite number, or raises, ends the job with one line that names score,
split and file. A change of the file scores again, and samples nothing.
"""
HEADER = ("| key | what | unit | better | splits |", "|---|---|---|---|---|")


def as_markdown() -> str:
    """Write the list as a page: one table for everything that scores are of."""
    lines = ["# Scores", "", INTRODUCTION, ""]
    for kind in Of:
        lines += [f"## Of {kind}", "", *HEADER]
        lines += [_row(metric) for metric in METRICS if metric.of == kind]
        lines.append("")
    return "\n".join([*lines, OWN])


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
