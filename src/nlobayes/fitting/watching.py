"""Progress of a run whose jobs are in other processes, read from its files and logs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from nlobayes.study.run import RunSpec
from nlobayes.study.watched import watch_job

FILES, STATES, WORDS = (
    f"nlobayes.commands.shared.{name}" for name in ("chain_files", "run_states", "state_words")
)
"""Modules behind `nlobayes watch`, imported by name at run time, as commands are."""


def account_of(run: RunSpec, root: Path) -> Callable[[], str]:
    """Return a function that describes the current stage, draws and R-hat of a run below `root`."""
    (watched,) = watch_job([run], {run.run_id: run.run_id}).runs
    files, states, words = map(import_module, (FILES, STATES, WORDS))
    folders, read = files.Folders.beside(root / "results"), files.cached_reader()

    def account() -> str:
        brief: str = words.in_brief(states.state_of(folders, watched, read))
        return brief

    return account
