"""Tabulate the data of the figures of a run: its predictions and its MAPs."""

from typing import Annotated

from nlobayes.artifacts.contents import DatasetFile, StartFile
from nlobayes.artifacts.files import TableFiles, json_file
from nlobayes.artifacts.predicted import PredictionsFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics import covariates, tables
from nlobayes.diagnostics.limits import check_table
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.tables.predictions import labels
from nlobayes.evaluation.tasks import scoring_data, task_of
from nlobayes.evaluation.tasks.cases import points_of
from nlobayes.evaluation.tasks.task import Choices
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import TabulateJob


@stage()
def tabulate(
    job: TabulateJob,
    diagnostics: Annotated[Diagnostics, json_file("checks")],
    predictions: Stated[PredictionsFile],
    evaluation: Annotated[Evaluation, json_file("calibration_checks")],
    dataset: DatasetFile,
    start: list[StartFile],
) -> TableFiles:
    """Tabulate what the figures of one run show, of numbers or of classes.

    Parameters
    ----------
    diagnostics
        Its diagnostics, with the verdict.
    predictions
        Its predictions.
    evaluation
        Its scores, with the calibration checks.
    dataset
        Its dataset.
    start
        MAP of a chain; once per chain.

    Returns
    -------
    plots
        Folder for the tables.
    """
    predicted, limits = scoring_data(*predictions, dataset, job.covariate), job.calibration
    cases = points_of(job.cases, dataset)
    choices = Choices(job.seed, limits.coverage, limits.chi2, image=job.image, cases=cases)
    try:
        of_predictions = task_of(dataset).tables(predicted, choices, evaluation)
    except InputError as error:
        raise error.within("evaluation, predictions") from None
    return {
        "verdict": check_table(diagnostics["checks"]),
        "loss": tables.losses([one.loss for one in start], [one.validation_rmse for one in start]),
        "labels": labels(dataset, covariates.covariate_of(dataset, job.covariate).label),
        **of_predictions,
    }
