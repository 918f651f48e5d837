"""Drawn sizes of networks, for the summary and the landing page of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from nlobayes.commands.shared.plain_table import plain_table
from nlobayes.commands.shared.verdicts import Finished
from nlobayes.metrics.sizes import label_of_size

TITLE = "Sizes of networks that were drawn"
JUMPS, BETWEEN = "jumps", "between_sizes"


def header() -> list[str]:
    """Name the columns of `size_rows`."""
    return ["run", "number", "mode", "90 %", "R-hat", "ESS", "jumps accepted"]


def size_rows(runs: Sequence[Finished]) -> list[list[str]]:
    """Return the cells of each size that a run draws, run by run."""
    return [
        [run.label, label_of_size(name), *_posterior(number), _accepted(found, number)]
        for run in runs
        if (found := run.diagnostics.get("architecture"))
        for name, number in found.items()
        if name != JUMPS
    ]


def size_table(runs: Sequence[Finished]) -> Table | None:
    """Make a table of the sizes of all runs; None if no size is drawn."""
    return plain_table(TITLE, header(), size_rows(runs))


def _posterior(number: Mapping[str, Any]) -> list[str]:
    low, high = number["low_90"], number["high_90"]
    return [
        f"{number['mode']:g}",
        f"{low:g} to {high:g}",
        _number(number["rhat"], ".3f"),
        _number(number["ess_bulk"], ".0f"),
    ]


def _accepted(found: Mapping[str, Any], number: Mapping[str, Any]) -> str:
    """Write the mean acceptance of the jumps of a size; of all jumps for the parameters."""
    if "visits" in number:
        pairs = [*zip(number["visits"]["tried"], number["visits"]["acceptance"], strict=True)]
    else:
        kinds = [jump for name, jump in found[JUMPS].items() if name != BETWEEN]
        pairs = [(jump["tried"], jump["acceptance"]) for jump in kinds]
    tried = [(count, acceptance) for count, acceptance in pairs if count]
    total = sum(count for count, _ in tried)
    return f"{sum(count * rate for count, rate in tried) / total:.2%}" if total else "none"


def _number(value: float | None, form: str) -> str:
    return "none" if value is None else format(value, form)
