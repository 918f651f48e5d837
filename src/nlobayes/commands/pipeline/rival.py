"""Fit a rival to the train rows of a dataset, and predict all rows."""

import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import numpy as np
import typer

from nlobayes import runtime
from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import RivalFile
from nlobayes.artifacts.predicted import rival_groups
from nlobayes.commands.stage import stage
from nlobayes.data.splits import TRAIN
from nlobayes.data.transforms import target_transform, unstandardise
from nlobayes.errors import InputError
from nlobayes.evaluation.tasks.learned import check_target
from nlobayes.extras import PACKAGES, needed
from nlobayes.metrics.shown import rows_learned
from nlobayes.rivals import FittedRival, Rival
from nlobayes.stage_files import File, Stated
from nlobayes.study.jobs import RivalJob
from nlobayes.types import Dataset, RivalPrediction
from nlobayes.untyped import Document

TIMED = (1, 4096)
"""Numbers of points of the timed predictions; times are CPU seconds of the process."""
REPEATS = 3
SecondsFile = Annotated[Mapping[str, float], File(write=write_json, option="timing", measured=True)]


@stage()
def rival(job: RivalJob, dataset: DatasetFile) -> tuple[Stated[RivalFile], SecondsFile]:
    """Predict by a rival, or state that its library is missing.

    Parameters
    ----------
    dataset
        Dataset to learn and to predict.

    Returns
    -------
    out
        Predictions to write.
    timing
        CPU seconds that it took (JSON).
    """
    check_target(dataset)
    predicted, seconds = _predict(job.rival, dataset)
    facts: Document = {"facts": dict(predicted.facts)}
    if predicted.missing is not None:
        facts = {"form": "missing", "missing": predicted.missing}
    facts["library"] = _version(job.rival)
    return Stated(rival_groups(predicted, dataset), facts), seconds


def _predict(settings: Rival, data: Dataset) -> tuple[RivalPrediction, Mapping[str, float]]:
    """Fit and predict, and time both in CPU seconds; no predictions if the library is missing."""
    if settings.missing is not None:
        typer.echo(f"{settings.kind} {needed(settings.missing, 'rivals')}", err=True)
        nothing = np.empty((0, len(data.split)))
        return RivalPrediction(nothing, None, {}, settings.missing), {}
    runtime.configure("float32")
    train, began = data.split == TRAIN, time.process_time()
    if (rows := int(train.sum())) < (least := settings.fewest_rows):
        raise InputError("commands.few_rows_of_rival", kind=settings.kind, rows=rows, least=least)
    fitted = settings.fit(data.features[train], data.target[train])
    seconds = {"fit": time.process_time() - began, **_prediction_times(fitted, data.features)}
    fitted = fitted._replace(facts={**fitted.facts, "train_rows": int(train.sum())})
    part = rows_learned(fitted.facts) or "all train rows"
    typer.echo(f"{settings.kind}: fitted to {part} in {seconds['fit']:.3g} s of CPU time", err=True)
    return _on_model_scale(fitted, data), seconds


def _on_model_scale(fitted: FittedRival, data: Dataset) -> RivalPrediction:
    prediction, target = fitted.predict(data.features), target_transform(data.transforms)
    sd = None if prediction.sd is None else prediction.sd * target.sd
    function = unstandardise(target, prediction.draws, data.relative_to)
    return RivalPrediction(function, sd, fitted.facts)


def _prediction_times(fitted: FittedRival, features: np.ndarray) -> dict[str, float]:
    """Time predictions of `TIMED` points at once: the shortest of three trials."""
    return {
        f"predict_{count}": _best_time(fitted.predict, _rows(features, count)) for count in TIMED
    }


def _rows(features: np.ndarray, count: int) -> np.ndarray:
    return features[np.arange(count) % len(features)]


def _best_time(call: Callable[[np.ndarray], Any], rows: np.ndarray) -> float:
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        call(rows)
        taken.append(time.process_time() - began)
    return min(taken)


def _version(settings: Rival) -> str:
    """Return library and version of a rival; optax for our own rivals."""
    if settings.missing:
        return "missing"
    module = settings.library or "optax"
    package = PACKAGES.get(module, module)
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # of XGBoost there is one for CPUs, and one for GPUs too
        return f"{module} {version(module)}"
