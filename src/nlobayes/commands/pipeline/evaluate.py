"""Score predictions and their error bars, beside the deep-ensemble baseline."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.learned import learned
from nlobayes.commands.shared.predictions import choices, read_given
from nlobayes.evaluation.tasks import task_of
from nlobayes.study.jobs import EvaluateJob, read_job


def evaluate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    predictions: Annotated[Path, typer.Option(help="Predictions to score.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that was predicted.")],
    out: Annotated[Path, typer.Option(help="Scores to write (JSON).")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Score every split of the predictions, beside the baselines."""
    job = read_job(EvaluateJob, spec)
    data = read_dataset(dataset)
    given = read_given(predictions, dataset, data, job.covariate)
    scores = task_of(data).score(given, choices(job.seed, job.calibration, job.noise))
    scores |= {"learned": learned(data)}
    write_json(out, scores)
    made = provenance.record("evaluate", job.model_dump(), digests([predictions, dataset]))
    write_record(record, made, [out])
    for name, check in scores["calibration_checks"].items():
        said = "passed" if check["passed"] else typer.style("FAILED", fg="red", bold=True)
        typer.echo(f"{said}: {name} {check['value']:.3g} on the test split", err=True)
