"""Call a program at one chunk of points."""

from pathlib import Path

import numpy as np
import typer

from nlobayes.commands.made_table import MadeTable
from nlobayes.commands.stage import stage
from nlobayes.errors import InputError
from nlobayes.programs.compute import compute
from nlobayes.stages.definitions import FAILURE
from nlobayes.study.jobs import RunProgramJob

MOST_SHOWN = 5
"""Most failures of a chunk that are printed."""


@stage()
def run_program(job: RunProgramJob, points: MadeTable, chunk: int, workers: int = 1) -> MadeTable:
    """Compute the points of a chunk that are not stored yet, and add a column of results.

    Columns of text are passed on; the program is told those of numbers. A column `failure` has the
    reason where a point has no result, which is NaN there.

    Parameters
    ----------
    points
        Table of all points.
    chunk
        Number of the chunk; the first is 0.
    workers
        Points that are computed at a time.

    Returns
    -------
    out
        Table to write: .csv or .parquet.
    """
    total = len(next(iter(points.columns.values())))
    rows = slice(chunk * job.rows, (chunk + 1) * job.rows)
    if rows.start >= total:
        raise InputError("programs.no_chunk", where="points", chunk=chunk, rows=total)
    columns = {name: cells[rows] for name, cells in points.columns.items()}
    numbers = {name: cells for name, cells in columns.items() if cells.dtype.kind == "f"}
    outcome = compute(job.program, numbers, Path(job.store), workers)
    failed = [place for place, reason in enumerate(outcome.reasons) if reason]
    for place in failed[:MOST_SHOWN]:
        point = ", ".join(f"{name} {cells[place]:.6g}" for name, cells in numbers.items())
        line = f"point {rows.start + place + 1} ({point}): {outcome.reasons[place]}"
        typer.echo(f"warning: {line} ({outcome.files[place]})", err=True)
    done = f"{len(outcome.value) - len(failed)} of {len(outcome.value)} points have a result"
    typer.echo(f"chunk {chunk}: {done}", err=True)
    output = job.program.output
    results = {output.column: outcome.value, FAILURE: np.array(outcome.reasons, dtype=object)}
    return points._replace(
        columns=columns | results,
        units=points.units | {output.column: output.unit},
        metadata=points.metadata
        | {
            "program": " ".join(job.program.command),
            "program_version": job.program.version,
            "program_sha256": job.program.digest,
        },
    )
