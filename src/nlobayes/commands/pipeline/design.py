"""Choose the points at which a program is called."""

import numpy as np

from nlobayes.commands.made_table import MadeTable
from nlobayes.commands.stage import stage
from nlobayes.designs import DesignSettings
from nlobayes.study.jobs import DesignJob
from nlobayes.types import Table


@stage()
def design(job: DesignJob) -> MadeTable:
    """Compute the points of a design, with their units.

    Returns
    -------
    out
        Table to write: .csv or .parquet.
    """
    return _table(job.design)


def _table(design: DesignSettings) -> Table:
    points = {name: np.asarray(values, float) for name, values in design.compute().items()}
    stated = {"design": design.kind}
    if design.given is not None:
        stated |= {"points": design.given, "points_sha256": design.digest()}
    return Table(points, dict(design.units), stated)
