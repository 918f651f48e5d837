"""Errors of the MAPs of several runs on validation rows, by which the table chooses a run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.artifacts.contents import read_map
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.errors import InputError
from nlobayes.fitting.jobs import Job, Jobs, Wave
from nlobayes.fitting.running import run_waves
from nlobayes.fitting.studies import Configuration, plan_of
from nlobayes.study.marginalised import MARGINALISED

NO_DENSITY = "builder.no_density"
"""Code of the error of a MAP whose log density is not finite."""

SAME_MODE = 1.05
"""Largest ratio of the errors of two MAPs in the same mode, if the output layer is integrated
out."""
MODES_COST = 2.0
"""Factor of the error that a run with MAPs in several modes must make good, because its chains may
stay in them."""


class MapErrors(NamedTuple):
    """Root mean square errors of MAPs on validation rows, in units of the target's sd.

    `mean` is over the MAPs, and infinite if one has no density. `several_modes` is true if the MAPs
    of a network whose output layer is integrated out differ. Hidden weights that are sampled have
    many equivalent modes, which chains leave, so that different MAPs mean nothing.
    """

    mean: float
    several_modes: bool = False


def order_of(errors: Sequence[MapErrors]) -> list[int]:
    """Return the numbers of runs in the order in which to try them."""
    costs = [one.mean * (MODES_COST if one.several_modes else 1) for one in errors]
    return sorted(range(len(errors)), key=costs.__getitem__)


def errors_of_maps(
    configuration: Configuration, folder: Path, *, workers: int = 1, shown: bool = True
) -> MapErrors:
    """Train the MAPs of the only run of a study below a folder, and return their errors.

    `fit` in the same folder continues with these MAPs; arguments are those of `fit`.

    Raises
    ------
    InputError
        If the study or the table cannot be used.
    """
    plan, run = plan_of(configuration)
    jobs = Jobs(plan, run, folder)
    try:
        run_waves(jobs.waves_of_maps(), folder, run.precision, workers=workers, shown=shown)
    except InputError as error:
        if error.code != NO_DENSITY:
            raise
        return MapErrors(math.inf)
    errors = np.array([read_map(path).validation_rmse[-1] for path in jobs.maps])
    integrated = run.network.output == MARGINALISED
    return MapErrors(float(errors.mean()), integrated and _differ(errors))


def _differ(errors: np.ndarray) -> bool:
    return bool(errors.max() > SAME_MODE * errors.min())


def without_finished_maps(waves: Iterable[Wave]) -> Iterator[Wave]:
    """Leave out the jobs of MAPs whose files are there, from jobs of the same specification."""
    for wave in waves:
        lines = [[job for job in line if not _is_finished_map(job)] for line in wave]
        if any(lines):
            yield [line for line in lines if line]


def _is_finished_map(job: Job) -> bool:
    out = Path(job.options["out"])
    if job.command != "pretrain" or not out.is_file():
        return False
    return bool(read_attrs(out)["spec"] == json.loads(job.options["spec"]))
