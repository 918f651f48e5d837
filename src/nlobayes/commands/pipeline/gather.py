"""Join chunks of points into a table, and list the points that failed."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import typer

from nlobayes.commands.made_table import FailuresTable, MadeTable
from nlobayes.commands.stage import stage
from nlobayes.errors import InputError
from nlobayes.programs.failures import among_failures
from nlobayes.stage_files import Stated
from nlobayes.stages.definitions import FAILURE
from nlobayes.types import Columns, Table
from nlobayes.untyped import Document

MOST_SHOWN = 10
"""Most reasons of failures that are printed and recorded."""


@stage()
def gather(chunk: list[MadeTable]) -> tuple[Stated[MadeTable], FailuresTable]:
    """Join the rows that have a result, and account for the others.

    Parameters
    ----------
    chunk
        Chunks in their order, as `run_program` writes them.

    Returns
    -------
    out
        Table to write: .csv or .parquet.
    failures
        Table of the failed points with their reasons: .csv or .parquet.
    """
    columns = _joined(chunk)
    reasons = columns.pop(FAILURE).astype(str)
    failed = reasons != ""
    if failed.all():
        raise InputError("programs.all_failed", points=failed.size, reason=reasons[0])
    inputs = [name for name, cells in columns.items() if cells.dtype.kind == "f"][:-1]
    result = [name for name, cells in columns.items() if cells.dtype.kind == "f"][-1]
    account = _account(columns, inputs, reasons)
    listed = {name: cells[failed] for name, cells in columns.items() if name != result}
    whole = chunk[0]._replace(columns={name: cells[~failed] for name, cells in columns.items()})
    failures = whole._replace(columns={**listed, FAILURE: reasons[failed].astype(object)})
    return Stated(whole, {"account": account}), failures


def _joined(chunks: Sequence[Table]) -> Columns:
    """Join the rows of chunks, which must have the same columns and units."""
    first = chunks[0]
    for place, chunk in enumerate(chunks):
        if (*chunk.columns,) != (*first.columns,) or chunk.units != first.units:
            raise InputError(
                "programs.other_chunk",
                where=f"chunk[{place}]",
                columns=_with_units(chunk),
                first=_with_units(first),
            )
    return {n: np.concatenate([chunk.columns[n] for chunk in chunks]) for n in first.columns}


def _with_units(table: Table) -> list[str]:
    return [f"{name} [{table.units.get(name, '')}]" for name in table.columns]


def _account(columns: Columns, inputs: Sequence[str], reasons: np.ndarray) -> Document:
    """Count the failures by reason, print them, and warn of a region where points fail."""
    failed = reasons != ""
    kinds = Counter(reasons[failed].tolist()).most_common(MOST_SHOWN)
    for reason, count in kinds:
        first = int(np.flatnonzero(reasons == reason)[0]) + 1
        counted = f"{count} of {failed.size} points, first point {first}"
        typer.echo(f"warning: {counted}: {reason}", err=True)
    region = _region({name: columns[name] for name in inputs}, failed)
    if region:
        at = ", ".join(f"{name} {low:.6g} to {high:.6g}" for name, low, high in region["ranges"])
        counted = f"{region['failed']} of {region['points']} points at {at}"
        typer.echo(f"warning: {counted} failed: a surrogate is not valid among them", err=True)
    typer.echo(f"{failed.size - failed.sum()} of {failed.size} points have a result", err=True)
    counts = {"points": failed.size, "failed": int(failed.sum())}
    return {**counts, "reasons": dict(kinds), "failing_region": region}


def _region(inputs: Columns, failed: np.ndarray) -> Document:
    """Return the ranges of the points among failures, and the points there; empty without any."""
    points = np.column_stack([*inputs.values()])
    among = points[among_failures(points, failed)]
    if not len(among):
        return {}
    low, high = among.min(axis=0), among.max(axis=0)
    inside = ((points >= low) & (points <= high)).all(axis=1)
    return {
        "ranges": [*zip(inputs, low.tolist(), high.tolist(), strict=True)],
        "points": int(inside.sum()),
        "failed": int((inside & failed).sum()),
    }
