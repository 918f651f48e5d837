"""Show the progress of runs. Only their results and logs are read, wherever the runs compute."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from nlobayes.errors import InputError
from nlobayes.study.job_builder import watch_job
from nlobayes.study.jobs_of_runs import WatchedRun, WatchJob
from nlobayes.study.labels import DEFAULT_STUDY, labels, read_whole_study
from nlobayes.study.read_jobs import read_job
from nlobayes.watching.chain_files import Folders, cached_reader
from nlobayes.watching.run_states import RunState, found_runs, state_of, time_span

WIDE = 160
TITLES = ("run", "stage", "chains", "draws", "acceptance", "R-hat so far", "updated", "left")

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
    elif console.is_terminal and console.file.isatty():  # Jupyter sets FORCE_COLOR
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
    """Make a table with a row for each run, and below a line for each unusable file."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in TITLES:
        table.add_column(title, overflow="fold")
    for state in states:
        table.add_row(*_cells(state))
    faults = [f"{state.label}: {fault}" for state in states for fault in state.faults]
    return Group(table, *(Text(fault, "red") for fault in faults))


def _cells(state: RunState) -> list[str]:
    """Write the facts of a run; unknown ones are dashes."""
    ago = f"{time_span(max(time.time() - state.updated, 0.0))} ago" if state.updated else "-"
    return [
        state.label,
        state.stage,
        str(state.chains or "-"),
        state.drawn if state.chains else "-",
        "-" if state.acceptance is None else f"{state.acceptance:.2f}",
        "-" if state.rhat is None else f"{state.rhat:.3f}",
        ago,
        "-" if not state.left else time_span(state.left),
    ]


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
            line = state.in_one_line()
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
