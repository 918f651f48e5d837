"""Show the progress of runs. Only their results and logs are read, wherever the runs compute."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from nlobayes.commands.shared.chain_files import Folders, cached_reader
from nlobayes.commands.shared.run_states import RunState, found_runs, state_of
from nlobayes.commands.shared.state_words import as_table, faults_of, in_one_line
from nlobayes.errors import InputError
from nlobayes.study.jobs import read_job
from nlobayes.study.labels import DEFAULT_STUDY, labels, read_whole_study
from nlobayes.study.watched import WatchedRun, WatchJob, watch_job

WIDE = 160

States = Callable[[], list[RunState]]


def watch(
    configfile: Annotated[
        list[Path] | None, typer.Option(help="Study of the runs, as it was given to Snakemake.")
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    once: Annotated[bool, typer.Option(help="Show it once, and end.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks.", min=1)] = 15,
    spec: Annotated[
        str | None,
        typer.Option(help="Runs to watch: JSON text or a file. It then ends with who called it."),
    ] = None,
) -> None:
    """Show stage, chains, draws, acceptance, R-hat and remaining time of runs; write nothing."""
    runs = read_job(WatchJob, spec).runs if spec else _runs(results, configfile or [])
    folders, read = Folders.beside(results), cached_reader()

    def look() -> list[RunState]:
        return [state_of(folders, run, read) for run in runs]

    console = Console(highlight=False)
    if once:
        _show(console, look())
    elif console.is_terminal:
        _show_on(console, look, every)
    else:
        _report_changes(look, every, ends_with_caller=spec is not None)


def _runs(results: Path, changes: list[Path]) -> list[WatchedRun]:
    """List the runs of the study that its targets need, then others that have chains."""
    found, planned = found_runs(results), list[WatchedRun]()
    if changes or DEFAULT_STUDY.is_file():
        study = read_whole_study(changes)
        runs = [run for grid in study.grids for run in study.runs(grid)]
        targeted = {run.run_id for grid in study.targets for run in study.runs(grid)}
        started = {run.run for run in found}
        named = {path: label for path, label in labels(study).items() if path in targeted | started}
        planned = [*watch_job(runs, named).runs]
    known = {run.run for run in planned}
    every = [*planned, *(run for run in found if run.run not in known)]
    if not every:
        raise InputError("commands.nothing_to_watch", folder=results)
    return every


def _show(console: Console, states: list[RunState]) -> None:
    wide = console if console.is_terminal or "COLUMNS" in os.environ else Console(width=WIDE)
    wide.print(_page(states))


def _page(states: list[RunState]) -> Group:
    return Group(as_table(states), *(Text(fault, "red") for fault in faults_of(states)))


def _show_on(console: Console, look: States, every: float) -> None:
    """Show a table and update it until all runs are done or the user interrupts."""
    with Live(console=console, auto_refresh=False) as live:
        try:
            for states in _looks(look, every):
                live.update(_page(states), refresh=True)
        except KeyboardInterrupt:
            return


def _report_changes(look: States, every: float, *, ends_with_caller: bool) -> None:
    """Print a line for each run whose state has changed."""
    printed, caller = dict[str, str](), os.getppid()
    for states in _looks(look, every):
        for state in states:
            line = in_one_line(state)
            if printed.get(state.label) != line:
                printed[state.label] = line
                typer.echo(line)
        if ends_with_caller and os.getppid() != caller:
            return


def _looks(look: States, every: float) -> Iterator[list[RunState]]:
    """Yield the states repeatedly until all runs are done."""
    while True:
        states = look()
        yield states
        if all(state.is_done for state in states):
            return
        time.sleep(every)
