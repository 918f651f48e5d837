"""Run studies of `config/studies`, several at a time, and write a row of each run.

    python -m benchmarks.studies config/studies/wine.yaml         # a whole study
    python -m benchmarks.studies --first config/studies/*.yaml    # the first run of each

Studies that share a dataset follow each other, as both would make its files. Snakemake's lock is
off: the study that ends first would remove the lock of the other. A study of times runs alone, and
a study whose tables are missing is skipped.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path

import yaml

from benchmarks.study_rows import FILES, METRICS, STUDIES, WITHOUT_SCORES, runs_of, write
from nlobayes.study.labels import read_whole_study

PATHS = re.compile(r"^[^#\n]*?\b(?:path|file): ([^,}\s]+)", re.MULTILINE)


def first_outputs(file: Path) -> list[str]:
    """List the scores and checks of the first run of a study, or its first target without scores.

    None are listed if it has rounds, as only the whole study knows how many.
    """
    whole = read_whole_study([file])
    if whole.rounds:
        return []
    files = [str(METRICS / run / name) for run in [*runs_of(file.stem)][:1] for name in FILES]
    return files or [*whole.targets[:1]]


@cache
def datasets_of(file: Path) -> set[str]:
    """Return the datasets of all grids of a study; none if it measures times, which runs alone."""
    grids = yaml.safe_load(file.read_text())["grids"]
    whole = read_whole_study([file])
    if all(whole.grids[grid].outputs in WITHOUT_SCORES for grid in grids):
        return set()
    return {name for grid in grids for name in whole.grids[grid].dataset}


def may_start(study: Path, running: Sequence[Path]) -> bool:
    """Whether a study shares no dataset with those that run, and none of them runs alone."""
    ours, theirs = datasets_of(study), [datasets_of(other) for other in running]
    return not running or (bool(ours) and all(one and not ours & one for one in theirs))


def run(study: Path, cores: int, first: bool) -> bool:
    """Run a study, print its lines after its name, write its rows; return whether it succeeded."""
    files = first_outputs(study) if first else []
    command = ["snakemake", *files, "--cores", str(cores), "--nolock", "--configfile", str(study)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            print(f"{study.stem}: {line}", end="", flush=True)
    if process.returncode == 0:
        print(write(study.stem), flush=True)
    return process.returncode == 0


def run_all(studies: Sequence[Path], at_once: int, first: bool) -> list[str]:
    """Run studies, at most so many at a time; return the names of those that failed."""
    at_once = max(1, min(at_once, len(studies)))
    cores = max(1, (os.cpu_count() or 1) // at_once)
    waiting, failed = [*studies], list[str]()
    running: dict[Future[bool], Path] = {}
    with ThreadPoolExecutor(at_once) as pool:
        while waiting or running:
            for study in [*waiting]:
                if len(running) < at_once and may_start(study, [*running.values()]):
                    waiting.remove(study)
                    running[pool.submit(run, study, cores, first)] = study
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                study = running.pop(done)
                if not done.result():
                    failed.append(study.stem)
    return failed


def main(words: Sequence[str]) -> None:
    """Run the studies whose tables are there, and name those that failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("studies", nargs="+", type=Path, help="files of config/studies")
    parser.add_argument("--first", action="store_true", help="only the first run of each")
    parser.add_argument("--at-once", type=int, default=2, help="how many share the cores (2)")
    given = parser.parse_args(words)
    if unknown := [str(study) for study in given.studies if study not in STUDIES.glob("*.yaml")]:
        parser.error(f"not a file of {STUDIES}: {' '.join(unknown)}; give {STUDIES}/wine.yaml")
    ready = []
    for study in given.studies:
        missing = [path for path in PATHS.findall(study.read_text()) if not Path(path).exists()]
        if missing:
            print(f"skipped: {study} needs {' '.join(missing)} (see its first lines)")
        else:
            ready.append(study)
    if failed := run_all(ready, given.at_once, given.first):
        sys.exit(f"failed: {' '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
