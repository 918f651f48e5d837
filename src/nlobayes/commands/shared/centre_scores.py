"""The same error bars about four centres, and the model's own, for summary and landing page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from nlobayes.commands.shared.plain_table import plain_table
from nlobayes.commands.shared.summary_table import filled_by
from nlobayes.commands.shared.verdicts import Finished
from nlobayes.metrics.shown import error_of, shown, with_error

TITLE = "Error bars about other centres, calibrated in the same way (test rows)"
SOURCE = (
    "Calibrated error bars get their widths from validation rows. The model's own are the noise of"
    " its likelihood about every draw."
)
MOST_RUNS = 8
"""Most runs whose centres are shown; there are up to five rows for each."""
COLUMNS: dict[str, tuple[tuple[str, ...], str]] = {
    "RMSE": (("rmse_log10", "rmse_target"), ".3g"),
    "68 %": (("coverage_68",), ".1%"),
    "95 %": (("coverage_95",), ".1%"),
    "log score": (("lppd",), ".3f"),
}


def header() -> list[str]:
    """Name the columns of `centre_rows`."""
    return ["run", "centre", "error bars", "median error", *COLUMNS]


def centre_rows(runs: Sequence[Finished]) -> list[list[str]]:
    """Return a row for each centre of each run: posterior, MAPs, one MAP, and rivals.

    The posterior has a second row with its own error bars. Runs of classes, of several targets and
    of earlier releases have none.
    """
    known = [run for run in runs if "map" in run.evaluation]
    return [row for run in known for row in _rows(run)] if len(known) <= MOST_RUNS else []


def centre_table(runs: Sequence[Finished]) -> Table | None:
    """Make a table of the centres of all runs; None if there are none, or too many runs."""
    return plain_table(TITLE, header(), centre_rows(runs))


def percent(scores: Mapping[str, Any], key: str) -> str:
    """Write a share in percent, with its Monte-Carlo error; empty for None."""
    value, error = scores.get(key), error_of(scores, key)
    if value is None:
        return ""
    return f"{with_error(100 * value, None if error is None else 100 * error, '.2g')} %"


def _rows(run: Finished) -> Iterator[list[str]]:
    found, members = run.evaluation, run.evaluation["baseline"]["members"]
    yield _row(run, "posterior", found)
    if own := found.get("stated_noise"):
        cells = _cells({**found["test"], **own["test"]})
        yield [run.label, "posterior", f"own: {own['family']}", "", "", *cells[2:]]
    yield _row(run, f"{len(next(iter(members.values())))} MAPs", found["baseline"])
    yield _row(run, "one MAP", found["map"])
    for name, rival in found.get("rivals", {}).items():
        if "test" in rival:
            yield _row(run, name, rival)


def _row(run: Finished, centre: str, found: Mapping[str, Any]) -> list[str]:
    test = found["test"]
    bars = f"calibrated: {found['predictive_noise']['family']}"
    return [run.label, centre, bars, *_cells(test)]


def _cells(test: Mapping[str, Any]) -> list[str]:
    scores = (shown(test, filled_by(keys, test), form) for keys, form in COLUMNS.values())
    return [percent(test, "relative_error_p50"), *scores]
