"""The list of scores as a page of the documentation: `python -m nlobayes.metrics`."""

from __future__ import annotations

import sys

from nlobayes.metrics import METRICS
from nlobayes.metrics.metric import Metric, Of

INTRODUCTION = (
    "The table lists the scores of `nlobayes.metrics`, in its order. Shares are stored between 0"
    " and 1, and shown in %. `_low` and `_high` are the ends of a 95 % interval, and `_se` is a"
    " standard error. `baseline`, `linear` and each of the `rivals` have the same scores. `rivals`"
    " also have `own`, the coverage and the log score of a Gaussian with the rival's own mean and"
    " sd, and `facts` of their fit ([rivals](rivals.md))."
)
OWN = """\
## Your own

A custom score is a function in a file of the project. It has the arguments of the files of
`evaluation/scores/regression/` (for classes `evaluation/scores/classification/`), and the
`settings`. It returns a number, or a line with the reason why no number exists:

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

`split` has these fields:

- `draws` (draw, point) and `observed` (point,) on the model scale;
- `noise`, the predictive noise;
- `rng`, random numbers for this score alone;
- `scale` (`log10` or `identity`);
- for classes, `prediction` and `labels`.

`evaluation.json` has the score by its name for every split, and under `baseline`, `linear` and
`rivals`. So has `runs.csv` of every comparison. With `compared: true` the tables and the figure of
differences have it, too. The name must differ from those of other scores. If the function returns
a number that is not finite, or raises, the job ends with one line that names score, split and file.
A change of the file computes the scores again, and repeats no sampling.
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
        metric.label.replace(r"$\hat{R}$", "R-hat").replace("|", "\\|"),
        metric.unit,
        better,
        ", ".join(metric.splits),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
