"""Choose the points at which a program is called."""

import numpy as np

from nlobayes.commands.made_table import MadeTable
from nlobayes.commands.stage import stage
from nlobayes.data.splits import split_of
from nlobayes.study.jobs import DesignJob
from nlobayes.study.rounds import SPLIT
from nlobayes.types import Table


@stage()
def design(job: DesignJob) -> MadeTable:
    """Compute the points of a design, with their units, and random points that are held out.

    With such points, column `split` has the split of each.

    Returns
    -------
    out
        Table to write: .csv or .parquet.
    """
    design = job.design
    points = {name: np.asarray(values, float) for name, values in design.compute().items()}
    if job.held_out:
        random = design.random(job.held_out, job.seed)
        points = {name: np.concatenate([points[name], random[name]]) for name in points}
        points[SPLIT] = split_of(np.arange(design.rows + job.held_out) >= design.rows)
    stated = {"design": design.kind}
    if design.given is not None:
        stated |= {"points": design.given, "points_sha256": design.digest()}
    return Table(points, dict(design.units), stated)
