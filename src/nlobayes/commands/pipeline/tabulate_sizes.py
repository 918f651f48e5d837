"""Tabulate the data of the figures of a network whose size is drawn."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.netcdf import Artifact, Groups, open_artifact
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.builder.architecture import prior_of_sizes
from nlobayes.commands.shared.posteriors import drawn_sizes, parameters_of
from nlobayes.commands.shared.predictions import read_given
from nlobayes.diagnostics.architecture import visits
from nlobayes.diagnostics.size_tables import sizes_table, trace_table
from nlobayes.errors import InputError
from nlobayes.evaluation.tasks import task_of
from nlobayes.evaluation.tasks.sizes import draws_table, score_sizes, scores_table
from nlobayes.study.jobs import TabulateSizesJob, read_job
from nlobayes.types import Columns, Dataset


def tabulate_sizes(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Posterior of the run.")],
    predictions: Annotated[Path, typer.Option(help="Its predictions.")],
    dataset: Annotated[Path, typer.Option(help="Its dataset.")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Write the tables behind the figures of the size of a network."""
    job = read_job(TabulateSizesJob, spec)
    groups, data = open_artifact(posterior, "posterior").groups, read_dataset(dataset)
    predicted = open_artifact(predictions, "predictions")
    if not drawn_sizes(groups["posterior"]):
        raise InputError("commands.fixed_size", where=posterior)
    written = {
        **_of_chains(job, groups),
        **_of_predictions(job, predicted, dataset, data),
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    inputs = digests([posterior, predictions, dataset])
    made = provenance.record("tabulate_sizes", job.model_dump(), inputs)
    write_record(record, made, [plots / f"{name}.csv" for name in written])


def _of_chains(job: TabulateSizesJob, groups: Groups) -> dict[str, Columns]:
    """Tabulate the sizes of the stored draws, and the jumps between sizes."""
    drawn, stats = groups["posterior"], groups["all_sample_stats"]
    sizes, of_draws = drawn_sizes(drawn), {str(name): each.values for name, each in stats.items()}
    density = groups["sample_stats"]["lp"].values
    return {
        "sizes": sizes_table(sizes, prior_of_sizes(job.network), of_draws),
        "visits": visits(of_draws),
        "size_trace": trace_table(sizes, parameters_of(drawn), density, drawn["draw"].values),
    }


def _of_predictions(
    job: TabulateSizesJob, predicted: Artifact, dataset: Path, data: Dataset
) -> dict[str, Columns]:
    """Tabulate the scores of every draw, of all draws together, and of the modal size."""
    given, task = read_given(predicted, dataset, data, job.covariate), task_of(data)
    if not given.sizes:
        raise InputError("commands.fixed_size", where=predicted.path)
    draws: np.ndarray = predicted.groups["predictions"]["draw"].values
    return {
        "draw_scores": draws_table(task, given, draws),
        "size_scores": scores_table(score_sizes(task, given)),
    }
