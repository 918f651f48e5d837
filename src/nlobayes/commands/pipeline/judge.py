"""Judge whether the surrogate of a program is accurate enough, by random points."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import typer

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import JSONFile, json_file, write_csv
from nlobayes.artifacts.predicted import PredictionsFile
from nlobayes.choosing import accuracy_in_words, stopping
from nlobayes.choosing.stopping import Verdict
from nlobayes.commands.stage import stage
from nlobayes.data.splits import TRAIN, UNUSED
from nlobayes.evaluation.scores.regression.accuracy import to_target
from nlobayes.proposing.points import as_good_as
from nlobayes.stage_files import File
from nlobayes.study.jobs import JudgeJob
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Columns
from nlobayes.untyped import Document

RoundsTable = Annotated[Columns, File(write=write_csv, option="table", recorded=True)]


@stage()
def judge(
    job: JudgeJob,
    predictions: PredictionsFile,
    dataset: DatasetFile,
    surrogate: Annotated[Surrogate, File(read=Surrogate.load)],
    round: Annotated[Document, json_file("met", "rounds")] | None = None,
) -> tuple[JSONFile, RoundsTable]:
    """Compare the relative errors of the median with the target, at all held-out points.

    Parameters
    ----------
    predictions
        Predictions of the run of this round.
    dataset
        Its dataset, whose validation and test rows were drawn at random.
    surrogate
        Its surrogate.
    round
        Verdict on the round before (JSON).

    Returns
    -------
    out
        Verdicts on all rounds so far to write (JSON).
    table
        Errors of each round to write (CSV).
    """
    held_out = ~np.isin(dataset.split, [TRAIN, UNUSED])
    drawn = np.median(predictions.posterior.function[:, held_out], axis=0)
    median, target = to_target(drawn, dataset.target_scale), dataset.observed[held_out]
    earlier = round["rounds"] if round else []
    learned = int((dataset.split == TRAIN).sum())
    verdict = stopping.judge(median / target - 1, job.target, job.looks, learned, earlier)
    rounds = [*earlier, verdict]
    for line in (accuracy_in_words.headline(verdict), *accuracy_in_words.lines_of(verdict)):
        typer.echo(line, err=True)
    random = as_good_as(surrogate, job.design, seed=job.seed)
    if random is not None:
        needed = f"{'more than ' * random.is_bound}{random.points}"
        typer.echo(
            f"of random points about {needed} would be needed instead of {learned}", err=True
        )
    as_random = None if random is None else random._asdict()
    return {"met": verdict["met"], "rounds": rounds, "as_random": as_random}, _table(rounds)


def _table(rounds: Sequence[Verdict]) -> Columns:
    train, held_out = (np.array([one[n] for one in rounds]) for n in ("points", "validation"))
    table = {"round": np.arange(len(rounds)), "points": train + held_out, "train": train}
    for column, name in {"p50": "median", "p95": "p95"}.items():
        for end, key in {"": "error", "_high": "error_bound", "_wanted": "limit"}.items():
            values = [one[name][key] for one in rounds]  # type: ignore[literal-required]
            table[column + end] = np.array(values, float)
    return table
