"""Compute a table with the embedded NLO engine, or for a published toy problem."""

import typer

from nlobayes.commands.made_table import MadeTable
from nlobayes.commands.stage import stage
from nlobayes.data.simulators import SIMULATORS
from nlobayes.study.jobs import SimulateJob


@stage()
def simulate(job: SimulateJob) -> MadeTable:
    """Compute the table, with units, seed and engine in its metadata.

    Returns
    -------
    out
        Table to write: .csv or .parquet.
    """
    table = SIMULATORS[job.source.kind].simulate(**job.source.arguments())
    if "not_compared" in table.metadata:
        rows = table.metadata["not_compared"]
        typer.echo(f"warning: no other calculation was compared with {rows}", err=True)
    return table
