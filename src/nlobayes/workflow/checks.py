"""Checks before a study is planned: of its files, and of the records of earlier runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.files import read_study
from nlobayes.study.labels import DEFAULT_STUDY
from nlobayes.workflow.process import stop

MENDING = {"--cleanup-metadata", "--lint", "--touch", "-t", "--unlock"}
"""Options of Snakemake that plan nothing, or that repair records."""
RECORDS = (Path(".snakemake/metadata"), Path(".snakemake/incomplete"))


def check_study_files(given: Iterable[Path]) -> None:
    """Exit if the default study or another given file is no plain study.

    Snakemake's own reader runs templates and accepts repeated keys, of which the last wins. As in
    Snakemake, the default study may be missing if another file is given.
    """
    files = [*given]
    default = [DEFAULT_STUDY] if DEFAULT_STUDY.exists() or not files else []
    try:
        for path in (*default, *files):
            read_study(path)
    except InputError as error:
        stop(error)


def refuse_results_without_records(arguments: Iterable[str]) -> None:
    """Exit if there are results but no records, as Snakemake would assume that they are current."""
    if MENDING & {*arguments} or any(_first_file(folder) for folder in RECORDS):
        return
    for path in _first_file(Path("results"), "[!.]*"):
        stop(InputError("workflow.no_records", result=path))


def _first_file(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the first file below a folder as a list, which is empty if there is none."""
    return next(([path] for path in folder.rglob(pattern) if path.is_file()), [])
