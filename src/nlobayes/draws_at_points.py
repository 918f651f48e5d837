"""Evaluation of named draws: their model, the function, and the noise of the likelihood."""

from __future__ import annotations

import numpy as np

from nlobayes.data.transforms import (
    CLASSES,
    along_targets,
    apply_features,
    feature_transform,
    target_transform,
    unstandardise,
)
from nlobayes.errors import InputError
from nlobayes.likelihoods._scaled import ScaledLikelihood
from nlobayes.likelihoods.classes import ClassLikelihood
from nlobayes.model.likelihood import DEGREES, NOISE, Noise
from nlobayes.model.networks import is_parameter, network_of
from nlobayes.own_functions import bind_activations
from nlobayes.study.jobs import ModelJob
from nlobayes.surrogate import process
from nlobayes.surrogate.nodes import NODES
from nlobayes.types import Dataset, Plane, PredictedDraws

LEARNED = (NOISE, DEGREES)
"""Parameters that likelihoods may learn, with one value per draw or per output."""


def predict_draws(
    variables: dict[str, np.ndarray],
    job: ModelJob,
    data: Dataset,
    centres: dict[str, np.ndarray] | None = None,
) -> PredictedDraws:
    """Evaluate every draw at every point: f on the model scale, or the probabilities of classes.

    If `centres` are given, the network of each draw is linearised at its centre.
    """
    likelihood = job.likelihood
    if job.network.width is None:
        outputs = _outputs(variables, job, data, centres)
    else:
        assert isinstance(likelihood, ScaledLikelihood)
        outputs = process.predict(variables, str(job.network.activation), likelihood, data)
        variables = {name: np.repeat(v, NODES, axis=0) for name, v in variables.items()}
    target = target_transform(data.transforms)
    is_custom = bool(likelihood.codes)
    learned = [n for n in variables if not is_parameter(n)] if is_custom else LEARNED
    of_each = {name: variables[name][:, np.newaxis] for name in learned if name in variables}
    error = None if data.error is None else data.error / target.sd
    if isinstance(likelihood, ClassLikelihood):
        return PredictedDraws(likelihood.probabilities(outputs, np).astype(outputs.dtype))
    noise = likelihood.noise_about(outputs, of_each, error, np)
    assert noise is not None
    if is_custom:
        _check_scale(noise, job.likelihood.kind)
    centre = noise.centre.astype(np.float64)
    known = along_targets(data.relative_to, centre[0])
    centre = unstandardise(target, centre, known)
    scale = np.asarray(noise.scale) * np.asarray(target.sd)
    return PredictedDraws(centre, noise.family, scale, noise.degrees_of_freedom)


def _check_scale(noise: Noise, kind: str) -> None:
    """Refuse the noise of a custom likelihood if its scale has a wrong shape or is no scale."""
    scale, shape = np.asarray(noise.scale), noise.centre.shape
    try:
        fits = np.broadcast_shapes(scale.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits or not np.all((scale > 0) & np.isfinite(scale)):
        raise InputError(
            "commands.own_scale",
            where=f"likelihood of kind {kind}",
            shape=scale.shape,
            expected=shape,
        )


def predict_between(
    variables: dict[str, np.ndarray],
    job: ModelJob,
    data: Dataset,
    centres: dict[str, np.ndarray] | None = None,
) -> Plane | None:
    """Evaluate every draw on a grid if classes are learned from two inputs; None otherwise."""
    if data.target_scale != CLASSES or len(data.input_names) != 2:
        return None
    from nlobayes.surrogate.prediction import ROWS_OF_GRID, grid_over, plane_of  # imports JAX

    grid = grid_over(data.inputs)
    features = apply_features(feature_transform(data.transforms["features"]), grid)
    parts = (
        predict_draws(variables, job, data._replace(features=part), centres).function
        for part in np.split(features, ROWS_OF_GRID)
    )
    return plane_of(grid, parts)._replace(names=data.input_names)


def _outputs(
    variables: dict[str, np.ndarray],
    job: ModelJob,
    data: Dataset,
    centres: dict[str, np.ndarray] | None,
) -> np.ndarray:
    from nlobayes.model import linearised
    from nlobayes.surrogate import prediction

    network = network_of(variables, bind_activations(job.network.activation))
    if centres is None:
        return prediction.predict(network, variables, data.features)
    return linearised.predict(network, variables, centres, data.features)
