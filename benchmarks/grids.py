"""Score surrogates of published grids beside what people do: interpolation of the same rows.

    python -m benchmarks.grids --csv docs/results/tables/lhc_grids.csv

One row for each finished run of an infinitely wide network below `results/metrics`, for its first
target. Errors are relative, at the test rows: `p50`, `p95`. The last columns are for the test rows
`between` the train rows, where interpolation of log10 of the target exists: linear, and cubic
(splines of one input, Clough-Tocher of two). `table` is the median of the largest error that the
grid states in a row. The last lines pool the coverage, and count where the surrogate is better.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CloughTocher2DInterpolator, CubicSpline, LinearNDInterpolator

from benchmarks.common import Row, print_rows, write_csv
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.predicted import read_predicted
from nlobayes.data.splits import TEST, TRAIN
from nlobayes.types import Dataset

CHECKS = {"rhat": max, "ess": min}
COLUMNS = (
    *("grid", "rows", "test rows", "rhat", "ess", "p50 %", "p95 %", "table %", "in 68", "in 95"),
    *("between", "ours p50 %", "ours p95 %", "linear p50 %", "linear p95 %"),
    *("cubic p50 %", "cubic p95 %", "cpu s"),
)


def main() -> None:
    """Print a row for each grid, then the sums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--timings", type=Path, default=Path("timings"))
    parser.add_argument("--csv", type=Path, help="file for the rows")
    given = parser.parse_args()
    rows = print_rows(_rows(given.results, given.timings), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)
    count = sum(row["test rows"] for row in rows)
    inside = [sum(row[name] for row in rows) / count for name in ("in 68", "in 95")]
    print(f"coverage of {count} test rows of {len(rows)} grids: {inside[0]:.3f}, {inside[1]:.3f}")
    for rival in ("linear", "cubic"):
        compared = [row for row in rows if row["between"]]
        for score in ("p50", "p95"):
            better = sum(row[f"ours {score} %"] < row[f"{rival} {score} %"] for row in compared)
            print(f"{score} below that of {rival}: {better} of {len(compared)} grids")


def _rows(results: Path, timings: Path) -> Iterator[Row]:
    below = results / "metrics"
    for path in sorted(below.glob("*/infinite/**/evaluation.json")):
        run = path.parent.relative_to(below)
        yield {"grid": run.parts[0], **_of_run(str(run), results), "cpu s": _cpu(timings, run)}


def _of_run(run: str, results: Path) -> Row:
    evaluation = read_json(results / "metrics" / run / "evaluation.json", "test")
    checks = read_json(results / "metrics" / run / "diagnostics.json", "checks")["checks"]
    data = read_dataset(results / "data" / f"{run.split('/')[0]}.nc")
    groups = open_artifact(results / "predictions" / f"{run}.nc", "predictions").groups
    drawn = read_predicted(groups["predictions"]).function
    first = drawn[..., 0] if drawn.ndim > 2 else drawn
    scores = next(iter(evaluation["outputs"].values()))["test"]
    test = data.split == TEST
    observed = _first(data.observed)
    ours = np.abs(10 ** np.median(first.reshape(-1, len(observed)), axis=0) / observed - 1)[test]
    ratios = np.abs(data.observed[:, 1:]) if data.observed.ndim > 1 else np.zeros((1, 1))
    errors = np.minimum(ratios, np.abs(ratios - 1)).max(axis=1)  # scales are stored as 1 + error
    row: Row = {
        "rows": len(observed),
        "test rows": int(test.sum()),
        **{
            name: choose(c["value"] for key, c in checks.items() if key.startswith(f"{name}_"))
            for name, choose in CHECKS.items()
        },
        "p50 %": 100 * float(np.median(ours)),
        "p95 %": 100 * float(np.quantile(ours, 0.95)),
        "table %": 100 * float(np.median(errors)),
        "in 68": scores["coverage_68"] * int(test.sum()),
        "in 95": scores["coverage_95"] * int(test.sum()),
    }
    interpolated = {name: np.abs(10**found / observed - 1)[test] for name, found in _both(data)}
    between = np.isfinite(np.sum([*interpolated.values()], axis=0))
    row["between"] = int(between.sum())
    for name, found in {"ours": ours, **interpolated}.items():
        kept = 100 * found[between]
        row[f"{name} p50 %"] = float(np.median(kept)) if len(kept) else np.nan
        row[f"{name} p95 %"] = float(np.quantile(kept, 0.95)) if len(kept) else np.nan
    return row


def _both(data: Dataset) -> Iterator[tuple[str, np.ndarray]]:
    """Interpolate log10 of the target of the train rows at all rows; NaN outside their hull."""
    train = data.split == TRAIN
    points, values = data.inputs, np.log10(_first(data.observed))
    known = points[train]
    if points.shape[1] > 1:
        scaled = points / points.std(axis=0)
        yield "linear", LinearNDInterpolator(scaled[train], values[train])(scaled)
        yield "cubic", CloughTocher2DInterpolator(scaled[train], values[train])(scaled)
        return
    along, places = np.unique(known[:, 0], return_index=True)
    at = values[train][places]
    yield "linear", np.interp(points[:, 0], along, at, left=np.nan, right=np.nan)
    yield "cubic", CubicSpline(along, at, extrapolate=False)(points[:, 0])


def _first(values: np.ndarray) -> np.ndarray:
    return values[:, 0] if values.ndim > 1 else values


def _cpu(timings: Path, run: Path) -> Any:
    """Add the CPU seconds of all jobs of a run that Snakemake timed."""
    seconds = 0.0
    for path in timings.glob(f"*/{run}*"):
        files = [path] if path.is_file() else [*path.rglob("*.tsv")]
        for file in files:
            head, *lines = (line.split("\t") for line in file.read_text().splitlines())
            seconds += sum(float(line[head.index("cpu_time")]) for line in lines)
    return seconds


if __name__ == "__main__":
    main()
