"""Rows of studies in `docs/results/runs`: what each run gave, written and audited.

    python -m benchmarks.study_rows write wine        # rows of the finished runs of a study
    python -m benchmarks.study_rows check wine        # compute the runs again and compare
    python -m benchmarks.study_rows check wine paper  # those whose path has a word

A row has the presets of a run, its verdict, scores of test rows with their Monte-Carlo errors
(`±`), CPU seconds of its jobs, and what made it: digests of `evaluation.json` and of the code, the
commit and the processor. A run that was made again agrees if its digest is equal, or if its verdict
is and each score differs by at most four Monte-Carlo errors.
"""

from __future__ import annotations

import argparse
import csv
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import yaml

from benchmarks.tables import RESULTS, Row, read_rows
from nlobayes import metrics
from nlobayes.artifacts.files import read_json, read_timing
from nlobayes.artifacts.seals import digest
from nlobayes.checks import failed
from nlobayes.metrics.shown import error_of
from nlobayes.study.grids import CROSSED
from nlobayes.study.labels import read_whole_study

STUDIES, ROWS = Path("config/studies"), RESULTS / "runs"
METRICS, RECORDS = Path("results/metrics"), Path("results/records/evaluate")
TIMINGS = Path("timings")
FILES = ("evaluation.json", "diagnostics.json")
WITHOUT_SCORES = ("speed", "prior")
CHECKED = ("rhat_f", "rhat_log_density", "ess_f", "divergences", "chains", "draws_per_chain")
FURTHER = ("relative_error_p50", "relative_error_p95", "crps", "brier")
SCORES = (*FURTHER, *dict.fromkeys(each.key for each in metrics.METRICS if each.column))
ERROR = " ±"
MOST_ERRORS = 4.0
"""A score of a hundred differs by more in a comparison of a hundred with probability 0.006."""


@cache
def runs_of(study: str) -> dict[str, str]:
    """Return the grid of each run of a study with scores by the path of the run."""
    file = STUDIES / f"{study}.yaml"
    whole, found = read_whole_study([file]), dict[str, str]()
    for grid in yaml.safe_load(file.read_text())["grids"]:
        for run in whole.runs(grid) if whole.grids[grid].outputs not in WITHOUT_SCORES else ():
            found.setdefault(run.run_id, grid)
    return found


def row_of(run: str, grid: str) -> Row:
    """Return the row of a finished run."""
    evaluation, diagnostics = (read_json(METRICS / run / name) for name in FILES)
    scores = evaluation["test"]
    record = read_json(RECORDS / f"{run}.json", "code_digest")
    converged = diagnostics.get("converged")
    known: dict[str, Any] = {
        "run": run,
        "grid": grid,
        **dict(zip((*CROSSED, "seed"), run.split("/"), strict=True)),
        "converged": "approximate" if converged is None else "yes" if converged else "no",
        "failed": " ".join(failed(diagnostics["checks"])),
        **{name: diagnostics.get(name) for name in CHECKED},
        **{name: value for key in SCORES for name, value in _score(scores, key)},
        "cpu_s": cpu_seconds(run),
        "digest": digest(METRICS / run / FILES[0])[:16],
        "code": record["code_digest"],
        "commit": _commit(),
        "machine": _machine(),
    }
    return {name: _text(value) for name, value in known.items()}


def _score(scores: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    yield key, scores.get(key)
    yield f"{key}{ERROR}", error_of(scores, key)


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def cpu_seconds(run: str) -> float:
    """Add the CPU seconds of all jobs of a run, and of its dataset and MAPs, that are known."""
    *presets, seed = run.split("/")
    shared = [*accumulate(presets, "{}/{}".format)][:-1]
    files = [
        *TIMINGS.glob(f"*/{presets[0]}.tsv"),
        *(file for part in shared for file in TIMINGS.glob(f"*/{part}/{seed}/**/*.tsv")),
        *TIMINGS.glob(f"*/{run}.tsv"),
        *TIMINGS.glob(f"*/{run}/**/*.tsv"),
    ]
    return sum(read_timing(file, "cpu_time") or 0.0 for file in files)


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))


def write(study: str) -> str:
    """Write the rows of the finished runs of a study, and keep those of others."""
    path, runs = ROWS / f"{study}.csv", runs_of(study)
    stored = {row["run"]: row for row in read_rows(path)} if path.is_file() else {}
    done = {run: row_of(run, grid) for run, grid in runs.items() if is_finished(run)}
    rows = [(stored | done)[run] for run in runs if run in stored or run in done]
    if rows:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return f"{study}: {len(done)} of {len(runs)} runs are finished, {len(rows)} rows in {path}"


def is_finished(run: str) -> bool:
    """Whether a run has its scores and its checks."""
    return all((METRICS / run / name).is_file() for name in FILES)


def compare(stored: Row, found: Row) -> str:
    """Say whether a run is equal to its row, agrees with it, or what differs."""
    if stored["digest"] == found["digest"]:
        return "equal"
    differing = [name for name in SCORES if not _agrees(stored, found, name)]
    if stored["converged"] != found["converged"]:
        differing.insert(0, "converged")
    said = [f"{name} {found[name]}, stored {stored[name]}" for name in differing]
    return f"differs: {'; '.join(said)}" if said else "agrees within Monte-Carlo errors"


def _agrees(stored: Row, found: Row, name: str) -> bool:
    if not (stored[name] and found[name]):
        return stored[name] == found[name]
    errors = (float(row[f"{name}{ERROR}"] or 0.0) for row in (stored, found))
    limit = MOST_ERRORS * math.hypot(*errors)
    return math.isclose(float(stored[name]), float(found[name]), rel_tol=1e-5, abs_tol=limit)


def check(study: str, word: str = "") -> bool:
    """Compute the stored runs of a study whose path has a word; print how each compares.

    Returns False if a run differs or cannot be computed.
    """
    rows = [row for row in read_rows(ROWS / f"{study}.csv") if word in row["run"]]
    files = [str(METRICS / row["run"] / name) for row in rows for name in FILES]
    options = ["--configfile", str(STUDIES / f"{study}.yaml")]
    if subprocess.run(["snakemake", *files, *options], check=False).returncode:
        return False
    verdicts = {row["run"]: compare(row, row_of(row["run"], row["grid"])) for row in rows}
    print("\n".join(f"{run}: {verdict}" for run, verdict in verdicts.items()))
    return not any(verdict.startswith("differs") for verdict in verdicts.values())


def main(words: Sequence[str]) -> None:
    """Write or check the rows of a study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=["write", "check"])
    parser.add_argument("study", help="name of a file of config/studies")
    parser.add_argument("word", nargs="?", default="", help="part of the path of runs to check")
    given = parser.parse_args(words)
    needed = ROWS / f"{given.study}.csv", STUDIES / f"{given.study}.yaml"
    missing = [str(path) for path in needed[given.action != "check" :] if not path.is_file()]
    if missing:
        parser.error(f"there is no {missing[-1]}")
    if given.action == "write":
        print(write(given.study))
    elif not check(given.study, given.word):
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
