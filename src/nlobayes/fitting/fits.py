"""One run from its table to its scores, in a folder of its own, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from nlobayes.artifacts.files import read_json
from nlobayes.fitting.jobs import Jobs
from nlobayes.fitting.running import run_waves
from nlobayes.fitting.studies import Configuration, plan_of
from nlobayes.fitting.watching import account_of
from nlobayes.study.run import RunSpec

KEPT = ("posterior", "surrogates")
"""Folders of which the file of the run is kept."""


WARNING = "warning"
"""What a line of a job begins with that warns, in capitals or not."""


class Fitted(NamedTuple):
    """A run that is done: its scores, and the bytes of its dataset and of what it made.

    `warnings` are sentences of its jobs, each once.
    """

    run: RunSpec
    diagnostics: dict[str, Any]
    evaluation: dict[str, Any]
    files: Mapping[str, bytes]
    warnings: list[str]


def fit(
    configuration: Configuration, folder: Path, *, workers: int = 1, shown: bool = True
) -> Fitted:
    """Run the one run of a study; its results lie below the folder, as the workflow names them.

    Parameters
    ----------
    configuration
        As `studies.configure` writes it; paths in it are absolute or from here.
    workers
        Processes that run chains beside each other; with one all is done in this process.
    shown
        Show a bar in a terminal or a notebook.

    Raises
    ------
    InputError
        If the study or the table cannot be used.
    """
    plan, run = plan_of(configuration)
    jobs = Jobs(plan, run, folder)
    account = account_of(run, folder) if workers > 1 and shown else None
    said = run_waves(
        jobs.waves(), folder, run.precision, workers=workers, shown=shown, account=account
    )
    metrics = jobs.path("metrics", "")
    made = {name: jobs.path(name) for name in KEPT} | {"data": jobs.dataset}
    return Fitted(
        run,
        read_json(metrics / "diagnostics.json"),
        read_json(metrics / "evaluation.json"),
        {name: path.read_bytes() for name, path in made.items() if path.is_file()},
        warnings_among(said),
    )


def warnings_among(said: Iterable[str]) -> list[str]:
    """Take the warnings of lines that jobs printed, each once and without the word."""
    heads = (line.partition(":") for line in dict.fromkeys(said))
    return [text.strip() for word, _, text in heads if word.casefold() == WARNING]


def fit_in_own_folder(
    configuration: Configuration, *, workers: int = 1, shown: bool = True
) -> Fitted:
    """Run the one run of a study in a folder that goes when it is done; arguments as above."""
    with TemporaryDirectory(prefix="nlobayes-", ignore_cleanup_errors=True) as folder:
        return fit(configuration, Path(folder), workers=workers, shown=shown)
