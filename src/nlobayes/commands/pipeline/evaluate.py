"""Score predictions and their error bars, and those of the deep-ensemble baseline."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import dataset_of
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.learned import learned
from nlobayes.commands.shared.predictions import choices, read_given
from nlobayes.commands.shared.rival_predictions import read_rivals
from nlobayes.diagnostics.convergence import FEWEST_DRAWS, ess_bulk
from nlobayes.evaluation.scores.own import OwnScores
from nlobayes.evaluation.tasks import task_of
from nlobayes.evaluation.tasks.combined import stack
from nlobayes.evaluation.tasks.sizes import score_sizes
from nlobayes.evaluation.tasks.task import Given
from nlobayes.own_functions import bind
from nlobayes.study.jobs import EvaluateJob, read_job
from nlobayes.study.own_score import CustomScore


def evaluate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    predictions: Annotated[Path, typer.Option(help="Predictions to score.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that was predicted.")],
    out: Annotated[Path, typer.Option(help="Scores to write (JSON).")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
    rival: Annotated[
        list[Path] | None, typer.Option(help="Predictions of a rival; once per rival.")
    ] = None,
) -> None:
    """Score the predictions of every split, and those of the baselines."""
    job = read_job(EvaluateJob, spec)
    source, predicted = open_artifact(dataset, "dataset"), open_artifact(predictions, "predictions")
    data = dataset_of(source)
    given = read_given(predicted, dataset, data, job.covariate)
    given = given._replace(rivals=read_rivals(rival or [], data, dataset))
    own = OwnScores({name: bind(score) for name, score in job.scores.items()})
    task = task_of(data)
    chosen = choices(job.seed, job.calibration, job.noise)._replace(own=own)
    scores = task.score(given, chosen)
    scores |= {"learned": learned(data), "scored_draws": _scored_draws(given)}
    if job.scores:
        scores["own_scores"] = {name: _described(score) for name, score in job.scores.items()}
    if given.sizes:
        scores["sizes"] = score_sizes(task, given)
    if job.combine == "stacking":
        failed = [name for name, c in predicted.attrs.get("checks", {}).items() if not c["passed"]]
        scores["stacking"] = {**stack(task, given, chosen), "failed_checks": failed}
    write_json(out, scores)
    made = provenance.record(
        "evaluate", job.model_dump(), digests([predicted, source, *(rival or [])])
    )
    write_record(record, made, [out])
    for name, check in scores["calibration_checks"].items():
        outcome = "passed" if check["passed"] else typer.style("FAILED", fg="red", bold=True)
        typer.echo(f"{outcome}: {name} {check['value']:.3g} on the test split", err=True)


def _scored_draws(given: Given) -> dict[str, float | None]:
    """Count the draws that are scored, and estimate what they are worth at reference points."""
    function = given.posterior.function[:, given.data.reference]
    draws = function.reshape(given.chains, len(function) // given.chains, -1)
    are_chains = given.chains > 1 and draws.shape[1] >= FEWEST_DRAWS
    effective = ess_bulk(draws) if are_chains else None
    return {
        "draws_scored": len(function),
        "ess_scored_median": None if effective is None else float(np.median(effective)),
        "ess_scored_min": None if effective is None else float(effective.min()),
    }


def _described(score: CustomScore) -> dict[str, Any]:
    """Name the function of a score, and whether runs are compared by it."""
    return score.model_dump(include={"file", "function", "settings", "compared"})
