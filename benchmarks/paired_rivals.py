"""Pair runs with their rivals on the same test rows: run minus rival, with standard errors.

    python -m benchmarks.paired_rivals 'concrete*/n16/*/*/*/*/s*' 'airfoil*/n16/*/*/*/*/s*'

Each pattern names finished runs below `results/metrics`: replicates of one setting, which differ in
seed or split. A score is that of the table of rivals: log score in nats, RMSE and CRPS in units of
the model scale. Its difference is the mean over replicates and over the seeds of the rival. `rows`
is the standard error that other test rows of a split would make, `runs` that over replicates.
Splits of one table share rows, so three of them are worth less than three tables. The star is at
the rival whose log score on halves of the validation rows is the best: it saw no test row.
Rivals of other environments are those that `outside_rivals` kept: `--outside FOLDER`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import print_header, print_row, write_csv
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.predicted import read_predicted, rival_of
from nlobayes.data.splits import TEST
from nlobayes.data.transforms import apply_scale, target_transform
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import noise_at_points
from nlobayes.evaluation.predictive.predictive_density import log_predictive_density, select_rows
from nlobayes.evaluation.scores.regression.proper_scores import crps_per_point
from nlobayes.types import Dataset

SCORES = ("log score", "RMSE", "CRPS")
COLUMNS = (
    *("runs", "rival", "replicates", "chosen"),
    *(name for score in SCORES for name in (score, f"rows, {score}", f"runs, {score}")),
)
HELD_OUT = "validation halves"
"""Name of the log score on halves of the validation rows, among scores of test rows."""
SEEDED = re.compile(r"_\d+$")
"""What distinguishes seeds of one rival."""


class Difference(NamedTuple):
    """The difference of a score in one run, and the standard error over its test rows."""

    value: float
    error: float


def main() -> None:
    """Print a row for each pattern and rival."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="+", help="runs that are replicates of each other")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--outside", type=Path, help="folder that `outside_rivals --keep` wrote")
    parser.add_argument("--csv", type=Path, help="file for the rows")
    given = parser.parse_args()
    rows = []
    print_header(COLUMNS)
    for pattern in given.patterns:
        for row in compare(find_runs(given.results, pattern), given.results, given.outside):
            rows.append({"runs": pattern.split("/")[0], **row})
            print_row(rows[-1], COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)


def find_runs(results: Path, pattern: str) -> list[str]:
    """Find the finished runs of a pattern."""
    below = results / "metrics"
    found = sorted(below.glob(f"{pattern}/evaluation.json"))
    return [str(path.parent.relative_to(below)) for path in found]


def compare(
    runs: Sequence[str], results: Path, outside: Path | None = None
) -> list[dict[str, Any]]:
    """Average the differences of every rival over the runs."""
    each = [differences(run, results, outside) for run in runs]
    known = sorted(set.intersection(*(set(found) for found, _ in each))) if each else []
    held_out = {name: np.mean([levels[name] for _, levels in each]) for name in known}
    best = max(held_out, key=lambda name: held_out[name], default=None)
    return [
        {
            "rival": name,
            "replicates": len(runs),
            "chosen": "*" if name == best else "",
            **_summed([found[name] for found, _ in each]),
        }
        for name in known
    ]


def differences(
    run: str, results: Path, outside: Path | None
) -> tuple[dict[str, dict[str, Difference]], dict[str, float]]:
    """Pair one run with each of its rivals; and the log scores of these on validation halves."""
    evaluation = read_json(results / "metrics" / run / "evaluation.json", "rivals")
    name = run.split("/")[0]
    data = read_dataset(results / "data" / f"{name}.nc")
    groups = open_artifact(results / "predictions" / f"{run}.nc", "predictions").groups
    drawn = read_predicted(groups["predictions"])
    ours = per_row(drawn.function, data, evaluation["predictive_noise"])
    paired: dict[str, list[dict[str, Difference]]] = {}
    held_out: dict[str, list[float]] = {}
    theirs = _built_in(evaluation["rivals"], data, results / "rivals" / name)
    for kind, scores in chain(theirs, _kept(outside, name)):
        paired.setdefault(kind, []).append(_paired(ours, scores))
        held_out.setdefault(kind, []).append(float(scores[HELD_OUT]))
    averaged = {kind: _over_seeds(seeds) for kind, seeds in paired.items()}
    return averaged, {kind: float(np.mean(levels)) for kind, levels in held_out.items()}


def _built_in(
    rivals: Mapping[str, Any], data: Dataset, folder: Path
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Score the rivals of the workflow row by row, by the name without the seed."""
    for name, found in rivals.items():
        if "missing" not in found:
            rival = rival_of(open_artifact(folder / f"{name}.nc", "rival")).prediction
            scores = per_row(rival.function, data, found["predictive_noise"])
            yield SEEDED.sub("", name), scores | {HELD_OUT: np.array(found["halves"]["lppd"])}


def _kept(outside: Path | None, dataset: str) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Read the scores of rivals from other environments, by the name without the seed."""
    for path in sorted(outside.glob(f"{dataset}-*.npz")) if outside else []:
        with np.load(path) as file:
            yield path.stem.split("-")[1], dict(file)


def per_row(function: np.ndarray, data: Dataset, noise: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Score every test row (point,) on the model scale, with the noise that was fitted."""
    target, test = target_transform(data.transforms), data.split == TEST
    draws, truth = function.astype(np.float64), apply_scale(target, data.observed)[test]
    fitted = FittedNoise(**{name: noise[name] for name in FittedNoise._fields})
    here = select_rows(noise_at_points(fitted, draws, data.features), test)
    return {
        "log score": log_predictive_density(draws[:, test], truth, here),
        "RMSE": np.square(draws[:, test].mean(axis=0) - truth),
        "CRPS": crps_per_point(draws[:, test], truth, here, np.random.default_rng(0)),
    }


def _paired(
    ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]
) -> dict[str, Difference]:
    """Subtract row by row; the error of a difference of roots is that of their slopes."""
    found = {}
    for score in SCORES:
        first, second = ours[score], theirs[score]
        if score == "RMSE":
            roots = np.sqrt(first.mean()), np.sqrt(second.mean())
            slope = first / (2 * roots[0]) - second / (2 * roots[1])
            found[score] = Difference(float(roots[0] - roots[1]), _error(slope))
        else:
            found[score] = Difference(float(np.mean(first - second)), _error(first - second))
    return found


def _over_seeds(seeds: Sequence[Mapping[str, Difference]]) -> dict[str, Difference]:
    """Average over the seeds of a rival, whose test rows are the same."""
    return {score: Difference(*np.mean([one[score] for one in seeds], axis=0)) for score in SCORES}


def _summed(replicates: Sequence[Mapping[str, Difference]]) -> dict[str, float]:
    """Give the mean of each score, and both of its standard errors."""
    row: dict[str, float] = {}
    for score in SCORES:
        values = np.array([one[score].value for one in replicates])
        errors = np.array([one[score].error for one in replicates])
        row[score] = float(values.mean())
        row[f"rows, {score}"] = float(np.sqrt(np.mean(np.square(errors))))
        row[f"runs, {score}"] = _error(values) if len(values) > 1 else float("nan")
    return row


def _error(values: np.ndarray) -> float:
    """Give the standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


if __name__ == "__main__":
    main()
