"""Warnings about predicted points, a line each on standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from nlobayes.commands.shared.points import Tally
from nlobayes.errors import one_line


def warn_of_checks(failed_checks: Mapping[str, Sequence[str]], of: str) -> None:
    """Name the checks of the chains and of the error bars that failed."""
    for kind, failed in failed_checks.items():
        if failed:
            warn(f"{kind} of {of} failed: {', '.join(failed)}")


def warn_of_points(tally: Tally, label: str, per_label: int = 1) -> None:
    """Print how many were left out, and where the others lie.

    A row or a file, whichever `label` names, holds `per_label` points that are predicted.
    """
    if tally.skipped:
        total = tally.skipped + tally.predicted // per_label
        warn(f"{tally.skipped} of {total} {label}s left out, the first: {tally.reason}")
    if tally.outside:
        warn(
            f"{tally.outside} of {tally.predicted} points lie outside the training data (column "
            "domain): neither their predictions nor the error bars can be trusted"
        )
    if tally.violating:
        warn(
            f"{tally.violating} of {tally.predicted} points violate the conditions of the "
            f"surrogate (column reason), the first: {tally.violated}"
        )
    if tally.unstated:
        warn(
            f"{tally.unstated} of {tally.predicted} points do not state all parameters that the "
            "surrogate was made for (column reason)"
        )
    if tally.near_edge:
        warn(
            f"{tally.near_edge} of {tally.predicted} points lie near the edge of the training data "
            "(column domain): few rows test the errors there"
        )


def warn(said: str) -> None:
    """Write a warning in one line."""
    typer.echo(f"nlobayes: warning: {one_line(said)}", err=True)
