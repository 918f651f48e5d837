"""What is looked at before a study is planned: its files, and the records of earlier runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.files import read_study
from nlobayes.study.labels import DEFAULT_STUDY
from nlobayes.workflow.process import stop

MENDING = {"--cleanup-metadata", "--lint", "--touch", "-t", "--unlock"}
"""Options of Snakemake that plan nothing, or make records anew."""
RECORDS = (Path(".snakemake/metadata"), Path(".snakemake/incomplete"))


def check_study_files(given: Iterable[Path]) -> None:
    """Stop where the default study or another file of it is no plain study.

    Snakemake's own reader runs templates and lets the last of two equal keys win. As for it, the
    default study may be missing where another file is given, as in a folder with that file alone.
    """
    files = [*given]
    default = [DEFAULT_STUDY] if DEFAULT_STUDY.exists() or not files else []
    try:
        for path in (*default, *files):
            read_study(path)
    except InputError as error:
        stop(error)


def refuse_results_without_records(arguments: Iterable[str]) -> None:
    """Stop where results lie that Snakemake, without its records, would take for current."""
    if MENDING & {*arguments} or any(_first_file(folder) for folder in RECORDS):
        return
    for path in _first_file(Path("results"), "[!.]*"):
        stop(InputError("workflow.no_records", result=path))


def _first_file(folder: Path, pattern: str = "*") -> list[Path]:
    """List the first file below a folder, if there is one."""
    return next(([path] for path in folder.rglob(pattern) if path.is_file()), [])
