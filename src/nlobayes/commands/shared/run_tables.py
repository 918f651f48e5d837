"""The tables behind the figures of a run, whatever it predicts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json, write_csv
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import chain_tables as chains
from nlobayes.commands.shared import covariates
from nlobayes.commands.shared import predictions as reading
from nlobayes.diagnostics import verdict
from nlobayes.errors import InputError
from nlobayes.evaluation.tasks import task_of
from nlobayes.study.jobs import TabulateJob
from nlobayes.types import Columns


class RunTables(NamedTuple):
    """The files of a run that its tables are made from."""

    diagnostics: Path
    predictions: Path
    evaluation: Path
    dataset: Path
    starts: list[Path]


def write_tables(
    verb: str, job: TabulateJob, inputs: RunTables, plots: Path, record: Path | None
) -> None:
    """Write every table of a run into a folder, and what made them."""
    written = _tables(job, inputs)
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    made = provenance.record(verb, job.model_dump(), digests([*inputs[:-1], *inputs.starts]))
    write_record(record, made, [plots / f"{name}.csv" for name in written])


def _tables(job: TabulateJob, inputs: RunTables) -> dict[str, Columns]:
    data = read_dataset(inputs.dataset)
    given = reading.read_given(inputs.predictions, inputs.dataset, data, job.covariate)
    covariate = covariates.of(data, job.covariate)
    checks = read_json(inputs.diagnostics, "checks")["checks"]
    task = task_of(data)
    scores = read_json(inputs.evaluation, *task.NEEDS)
    try:
        of_predictions = task.tables(given, reading.choices(job.seed, job.calibration), scores)
    except InputError as error:
        raise error.within(f"{inputs.evaluation}, {inputs.predictions}") from None
    return {
        "verdict": verdict.table(checks),
        **chains.of_starts(inputs.starts),
        "labels": reading.labels(data, covariate.label),
        **of_predictions,
    }
