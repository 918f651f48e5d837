"""The progress of runs in words and in a table."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich import box
from rich.table import Table

from nlobayes.commands.shared.run_states import RunState

TITLES = ("run", "stage", "chains", "draws", "acceptance", "R-hat so far", "updated", "left")
MINUTE, HOUR, DAY = 60, 3600, 86400


def in_one_line(state: RunState) -> str:
    """Describe the progress of a run in one line: its label, a colon, and the known facts."""
    parts = [
        state.stage,
        f"{state.chains} chains" if state.chains else "",
        f"{_draws(state)} draws" if state.draws or state.total else "",
        f"acceptance {state.acceptance:.2f}" if state.acceptance is not None else "",
        f"R-hat {state.rhat:.3f}" if state.rhat is not None else "",
        f"{_span(state.left)} left" if state.left else "",
        *state.faults,
    ]
    return f"{state.label}: {', '.join(filter(None, parts))}"


def in_brief(state: RunState) -> str:
    """Describe the progress of a run briefly, without its label."""
    parts = [
        state.stage,
        f"{_draws(state)} draws" if state.draws else "",
        f"R-hat {state.rhat:.3f}" if state.rhat is not None else "",
        f"{_span(state.left)} left" if state.left else "",
    ]
    return ", ".join(filter(None, parts))


def as_table(states: Sequence[RunState]) -> Table:
    """Make a table with a row for each run; unknown values are dashes."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in TITLES:
        table.add_column(title, overflow="fold")
    for state in states:
        table.add_row(*_cells(state))
    return table


def faults_of(states: Sequence[RunState]) -> list[str]:
    """List the unusable files, run by run."""
    return [f"{state.label}: {fault}" for state in states for fault in state.faults]


def _cells(state: RunState) -> list[str]:
    ago = f"{_span(max(time.time() - state.updated, 0.0))} ago" if state.updated else "-"
    return [
        state.label,
        state.stage,
        str(state.chains or "-"),
        _draws(state) if state.chains else "-",
        "-" if state.acceptance is None else f"{state.acceptance:.2f}",
        "-" if state.rhat is None else f"{state.rhat:.3f}",
        ago,
        "-" if not state.left else _span(state.left),
    ]


def _draws(state: RunState) -> str:
    return f"{state.draws} of {state.total}" if state.total else str(state.draws)


def _span(seconds: float) -> str:
    """Write a time in its largest unit, hours with one digit."""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h" if seconds < DAY else f"{seconds / DAY:.1f} days"
