"""The list of scores as a page of the documentation: `python -m nlobayes.metrics`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from nlobayes.metrics import METRICS
from nlobayes.metrics.metric import SPLITS, Metric, MetricKind

INTRODUCTION = """\
Scores are of train, validation and test rows unless `what` names others. Shares are stored between
0 and 1. `_low` and `_high` are the ends of a 95 % interval, `_se` is a standard error over rows,
and `monte_carlo_error` has that of the draws ([statistics](statistics.md#monte-carlo-errors)).
`baseline`, `map`, `linear` and `rivals` have the same scores; `own` of [rivals](rivals.md) has
those of a Gaussian with the rival's own mean and sd. Numbers in braces are one score each.
"""
OWN = """\
## Your own

A custom score is a function in a file of the project, of a split and the `settings`. It returns a
number, or a line with the reason why no number exists:

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

`split` has `draws` (draw, point) and `observed` (point,) on the model scale, `noise`, `scale`,
`rng` for this score alone, and, of all test rows, `features` (point, feature); for classes
`prediction` and `labels`. `evaluation.json` has the score by its name, without a Monte-Carlo
error, and `runs.csv` of every comparison too; with `compared: true` tables and the figure of
differences have it. A number that is not finite, or an exception, ends the job with one line. A
change of the file computes the scores again, and repeats no sampling.
"""
NUMBER = re.compile(r"\d+")
HEADER = ("| key | what | unit | better |", "|---|---|---|---|")


def as_markdown() -> str:
    """Write the list as a page, with one table for each kind of scores."""
    lines = ["# Scores", "", INTRODUCTION]
    for kind in MetricKind:
        alike: dict[tuple[object, ...], list[Metric]] = {}
        for metric in METRICS:
            if metric.kind == kind:
                alike.setdefault(_form(metric), []).append(metric)
        lines += [f"## Scores of {kind}", "", *HEADER, *map(_row, alike.values()), ""]
    return "\n".join([*lines, OWN])


def _form(metric: Metric) -> tuple[object, ...]:
    """Return the content of the row of a score, without the number in its name."""
    names = (NUMBER.sub("", text) for text in (metric.key, metric.label))
    return (*names, metric.unit, metric.better, metric.splits, metric.beside)


def _row(metrics: Sequence[Metric]) -> str:
    first = metrics[0]
    key = _join([metric.key for metric in metrics])
    label = _join([metric.label for metric in metrics])
    splits = tuple(first.splits)
    only = "" if splits in ((), SPLITS) else f" ({', '.join(splits)})"
    cells = (
        ", ".join([f"`{key}`", *(f"`{suffix}`" for suffix in first.beside)]),
        label.replace(r"$\hat{R}$", "R-hat").replace("|", "\\|") + only,
        first.unit,
        "" if first.better is None else str(first.better),
    )
    return f"| {' | '.join(cells)} |"


def _join(texts: Sequence[str]) -> str:
    """Write texts that differ in one number as one, with the numbers in braces."""
    columns = zip(*(NUMBER.findall(text) for text in texts), strict=True)
    numbers = iter([*dict.fromkeys(column)] for column in columns)

    def braces(_: re.Match[str]) -> str:
        found = next(numbers)
        return found[0] if len(found) == 1 else f"{{{','.join(found)}}}"

    return NUMBER.sub(braces, texts[0])


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
