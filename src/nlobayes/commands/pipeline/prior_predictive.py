"""Tabulate draws of f from the prior at the reference points."""

from typing import Any

import numpy as np

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.commands.stage import stage
from nlobayes.data.transforms import (
    CLASSES,
    apply_scale,
    reference_of,
    target_transform,
    unstandardise,
)
from nlobayes.diagnostics import covariates
from nlobayes.evaluation.tables import prior as tables
from nlobayes.evaluation.tables.prior import PriorDraws
from nlobayes.study.jobs import PriorPredictiveJob
from nlobayes.types import Columns, Dataset


@stage()
def prior_predictive(job: PriorPredictiveJob, dataset: DatasetFile) -> TableFiles:
    """Tabulate draws of f, their quantiles and scales, and the target at the same points.

    Cells of the table are empty where f is not finite.

    Parameters
    ----------
    dataset
        Dataset whose reference rows are looked at.

    Returns
    -------
    plots
        Folder for the tables behind the figure.
    """
    from nlobayes import builder

    covariate = covariates.covariate_of(dataset, job.covariate)
    model = builder.build_model(job.model, dataset)
    features = dataset.features[dataset.reference]
    outputs = builder.draw_functions(model, features, seed=job.seed, draws=job.draws)
    drawn = _of_classes if dataset.transforms["target"]["scale"] == CLASSES else _of_numbers
    draws = tables.in_order(drawn(model.likelihood, outputs, dataset, covariate.at_reference))
    return {
        "prior_draws": tables.prior_draws(draws),
        "prior_quantiles": tables.prior_quantiles(draws),
        "prior_scales": tables.prior_scales(draws),
        "labels": _labels(draws, dataset, covariate.label),
    }


def _of_numbers(_: Any, outputs: np.ndarray, data: Dataset, covariate: np.ndarray) -> PriorDraws:
    """Transform outputs (draw, row, ...) to the model scale; outputs after the targets are no f."""
    target = target_transform(data.transforms)
    of_targets = outputs.reshape(*outputs.shape[:2], -1)[..., : len(data.target_names)]
    observed = apply_scale(target, data.observed[data.reference])
    return PriorDraws(
        names=data.target_names,
        covariate=covariate,
        functions=unstandardise(target, of_targets, reference_of(data, data.reference)),
        observed=observed.reshape(len(covariate), -1),
    )


def _of_classes(
    likelihood: Any, outputs: np.ndarray, data: Dataset, covariate: np.ndarray
) -> PriorDraws:
    """Convert outputs (draw, row, ...) to probabilities of the classes."""
    labels = data.transforms["target"]["labels"]
    classes = data.target[data.reference].astype(int)
    draws = PriorDraws(
        names=tuple(f"probability of class {label:g}" for label in labels),
        covariate=covariate,
        functions=likelihood.probabilities(outputs.astype(np.float64), np),
        observed=np.eye(len(labels))[classes],
    )
    return tables.with_largest(draws)


def _labels(draws: PriorDraws, data: Dataset, covariate: str) -> Columns:
    """Return the labels of the axes, with a row for each output."""
    scale, number = data.transforms["target"]["scale"], len(draws.names)
    return {
        "covariate": np.array([covariate] * number),
        "target": np.array(draws.names),
        "unit": np.array([data.units.get(name, "") for name in draws.names]),
        "scale": np.array([scale] * number),
    }
