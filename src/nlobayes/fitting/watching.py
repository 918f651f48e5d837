"""How far a run is whose jobs are at work in other processes, by its files and logs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from nlobayes.study.run import RunSpec
from nlobayes.study.watched import watch_job

FILES, STATES, WORDS = (
    f"nlobayes.commands.shared.{name}" for name in ("chain_files", "run_states", "state_words")
)
"""Called by their names, as the commands are: what `nlobayes watch` reads and prints."""


def account_of(run: RunSpec, root: Path) -> Callable[[], str]:
    """Describe, whenever it is called, stage, draws and R-hat so far of a run below `root`."""
    (watched,) = watch_job([run], {run.run_id: run.run_id}).runs
    files, states, words = map(import_module, (FILES, STATES, WORDS))
    folders, read = files.Folders.beside(root / "results"), files.cached_reader()

    def account() -> str:
        brief: str = words.in_brief(states.state_of(folders, watched, read))
        return brief

    return account
