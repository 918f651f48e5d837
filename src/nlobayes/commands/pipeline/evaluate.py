"""Score predictions and their error bars, and those of the deep-ensemble baseline."""

from typing import Annotated

import typer

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import json_file
from nlobayes.artifacts.predicted import NamedRival, NamedRivalFile, PredictionsFile
from nlobayes.checks import failed
from nlobayes.commands.stage import stage
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.scores.split import OwnScores
from nlobayes.evaluation.tasks import check_same_points, scoring_data, task_of
from nlobayes.evaluation.tasks.at_reference import count_scored
from nlobayes.evaluation.tasks.learned import check_target, learned
from nlobayes.evaluation.tasks.sizes import score_sizes
from nlobayes.evaluation.tasks.stacking import stack
from nlobayes.evaluation.tasks.task import Choices
from nlobayes.own_functions import bind
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import EvaluateJob
from nlobayes.types import Dataset, RivalPrediction


@stage()
def evaluate(
    job: EvaluateJob,
    predictions: Stated[PredictionsFile],
    dataset: DatasetFile,
    rival: list[NamedRivalFile] = [],  # noqa: B006
) -> Annotated[Evaluation, json_file()]:
    """Score the predictions of every split, and those of the baselines.

    Parameters
    ----------
    predictions
        Predictions to score.
    dataset
        Dataset that was predicted.
    rival
        Predictions of a rival; once per rival.

    Returns
    -------
    out
        Scores to write (JSON).
    """
    predicted = scoring_data(*predictions, dataset, job.covariate)
    predicted = predicted._replace(rivals=_by_name(rival, dataset))
    own = OwnScores({name: bind(score) for name, score in job.scores.items()})
    limits, task = job.calibration, task_of(dataset)
    choices = Choices(
        job.seed, limits.coverage, limits.chi2, job.noise, own=own, left_out=job.left_out
    )
    scores = task.score(predicted, choices)
    scores["learned"], scores["scored_draws"] = learned(dataset), count_scored(predicted)
    if job.scores:
        stated = {"file", "function", "settings", "compared"}
        scores["own_scores"] = {
            name: score.model_dump(include=stated) for name, score in job.scores.items()
        }
    if predicted.sizes:
        scores["sizes"] = score_sizes(task, predicted)
    if job.combine == "stacking":
        broken = failed(predictions.facts.get("checks", {}))
        scores["stacking"] = {**stack(task, predicted, choices), "failed_checks": broken}
    for name, check in scores["calibration_checks"].items():
        outcome = "passed" if check["passed"] else typer.style("FAILED", fg="red", bold=True)
        typer.echo(f"{outcome}: {name} {check['value']:.3g} on the test split", err=True)
    return scores


def _by_name(rivals: list[NamedRival], data: Dataset) -> dict[str, RivalPrediction]:
    """Return the predictions of rivals; all must be of this dataset."""
    for number, one in enumerate(rivals):
        check_target(data)
        check_same_points(one.observed, one.split, data, f"rival[{number}]")
    return {one.name: one.prediction for one in rivals}
