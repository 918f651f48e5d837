"""Warnings about predicted points, one line each on standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from nlobayes.commands.shared.points import Tally
from nlobayes.data.slha_blocks import is_slha
from nlobayes.errors import one_line


def warn_of_checks(failed_checks: Mapping[str, Sequence[str]], surrogate: str) -> None:
    """Warn of failed checks of convergence and of calibration."""
    for kind, failed in failed_checks.items():
        if failed:
            warn(f"{kind} of {surrogate} failed: {', '.join(failed)}")


def warn_of_points(tally: Tally, *, left_out: bool) -> None:
    """Warn of points without a prediction, outside of the domain, or that violate conditions."""
    if tally.unpredicted:
        place = "left out" if left_out else "columns domain, reason"
        warn(
            f"{tally.unpredicted} of {tally.points} points have no prediction ({place}), the "
            f"first: {tally.reason}"
        )
    if tally.outside:
        warn(
            f"{tally.outside} of {tally.predicted} points lie outside the training data (columns "
            "domain, reason): neither their predictions nor the error bars can be trusted"
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


def warn_of_others(folder: Path) -> None:
    """Warn of files in a folder and below that are no SLHA files, so that none is read."""
    files = sorted(file for file in folder.rglob("*") if not file.is_dir())
    if others := [file.name for file in files if not is_slha(file)]:
        warn(
            f"{folder}: {len(others)} of {len(files)} files are not SLHA by their content and were "
            f"not read, the first: {others[0]}"
        )


def warn(text: str) -> None:
    """Write a warning in one line."""
    typer.echo(f"nlobayes: warning: {one_line(text)}", err=True)
