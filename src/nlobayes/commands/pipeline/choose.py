"""Choose the points of a further round of a program."""

from typing import Annotated

import numpy as np
import typer

from nlobayes.commands.made_table import MadeTable
from nlobayes.commands.stage import stage
from nlobayes.data.splits import split_of
from nlobayes.errors import InputError
from nlobayes.proposing.points import RANDOM, next_points
from nlobayes.stage_files import File
from nlobayes.study.jobs import ChooseJob
from nlobayes.study.rounds import MOST_ROUNDS, SPLIT
from nlobayes.surrogate.surrogate import Surrogate


@stage()
def choose(
    job: ChooseJob,
    points: list[MadeTable],
    surrogate: Annotated[Surrogate, File(read=Surrogate.load)],
) -> MadeTable:
    """Choose points that reduce the predictive variance the most, and add random ones.

    Column `split` has the split of each.

    Parameters
    ----------
    points
        Table of the points of each round before.
    surrogate
        Surrogate that was trained on them.

    Returns
    -------
    out
        Table to write: .csv or .parquet.
    """
    design, first = job.design, points[0]
    for name in surrogate.inputs:
        own, other = surrogate.units[name], first.units.get(name, "")
        if (own or "1") != (other or "1"):
            raise InputError(
                "commands.unit_of_design", where="surrogate", name=name, own=own, other=other
            )
    taken = {n: np.concatenate([one.columns[n] for one in points]) for n in design.columns}
    seed = (MOST_ROUNDS + 1) * job.seed + job.round
    found = next_points(surrogate, design, taken, job.points, share=job.random, seed=seed)
    if len(found.chosen) < job.points:
        have = len(found.chosen)
        raise InputError("commands.pool_used_up", where=design.given, have=have, points=job.points)
    is_random = found.chosen == RANDOM
    typer.echo(f"{(~is_random).sum()} points chosen, {is_random.sum()} at random", err=True)
    columns = {name: found.points[name] for name in design.columns}  # as in the rounds before
    return first._replace(columns={**columns, SPLIT: split_of(is_random)})
