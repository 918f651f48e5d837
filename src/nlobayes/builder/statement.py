"""The network, prior and likelihood of a job, and their PyMC model."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from nlobayes.builder.varying_architecture import varying_of
from nlobayes.data.transforms import apply_features, feature_transform, offset_of, target_transform
from nlobayes.errors import InputError
from nlobayes.likelihoods import Likelihood
from nlobayes.model.earlier_data import Site
from nlobayes.model.infinite import warp_of
from nlobayes.model.infinite_posterior import (
    InfinitePosterior,
    ScaledNoise,
    ScalesPrior,
    build_infinite_posterior,
)
from nlobayes.model.networks import Network, activations_of
from nlobayes.model.own_function_checks import check_activation, check_layer
from nlobayes.model.posterior import Posterior, build_posterior, condition
from nlobayes.model.varying_sizes import VaryingSizes
from nlobayes.own_functions import Bound, bind_activations
from nlobayes.priors import Prior
from nlobayes.study.jobs import ModelJob
from nlobayes.study.network_checks import MOST_TRAIN
from nlobayes.types import Dataset, EarlierData
from nlobayes.untyped import Document


class Pieces(NamedTuple):
    """Network, prior and likelihood of a job, and the prior of varying sizes."""

    network: Network
    prior: Prior
    likelihood: Likelihood
    varying: VaryingSizes | None


def pieces_of(job: ModelJob, dataset: Dataset) -> Pieces:
    """Build the pieces of the model of a job."""
    return Pieces(_network(job, dataset), job.prior, job.likelihood, varying_of(job.network))


def state(
    pieces: Pieces,
    dataset: Dataset,
    *,
    layout: str,
    earlier: EarlierData | None = None,
    non_centered: bool = True,
) -> Posterior | InfinitePosterior:
    """Define the posterior of a job in PyMC, with placeholders for a dataset's train rows.

    Without `non_centered` its variables are the named ones of stored draws. `earlier` are the
    earlier data that the prior names.

    Raises InputError if earlier data are not given where the prior names them, or are of something
    else.
    """
    if pieces.network.is_infinite:
        return _state_infinite(pieces, dataset)
    stated = pieces.prior.earlier
    if earlier is None and stated is not None:
        raise InputError("builder.earlier_not_given", file=stated.file)
    return build_posterior(
        pieces.network,
        pieces.prior,
        pieces.likelihood,
        feature_names=dataset.feature_names,
        layout=layout,
        slopes=pieces.prior.slopes,
        errors=dataset.error is not None,
        targets=1 if dataset.target.ndim == 1 else dataset.target.shape[1],
        non_centered=non_centered,
        earlier=None if earlier is None else _site(earlier, dataset, pieces.network),
        varying=pieces.varying,
    )


def _state_infinite(pieces: Pieces, dataset: Dataset) -> InfinitePosterior:
    features = columns_of(dataset, 0)["features"]
    if len(features) > MOST_TRAIN:  # a share of the rows, whose number no study states
        raise InputError("builder.infinite_rows", rows=len(features), most=MOST_TRAIN)
    return build_infinite_posterior(
        str(pieces.network.activation),
        cast("ScalesPrior", pieces.prior),
        cast("ScaledNoise", pieces.likelihood),
        feature_names=dataset.feature_names,
        warp=warp_of(features, dataset.transforms["features"]),
        errors=dataset.error is not None,
        targets=1 if dataset.target.ndim == 1 else dataset.target.shape[1],
    )


def pymc_model(
    job: ModelJob,
    dataset: Dataset,
    earlier: EarlierData | None = None,
    *,
    non_centered: bool = True,
) -> Any:
    """Build the `pm.Model` of a job with the train rows of a dataset as its data.

    Its dim `point` is labelled with the numbers of these rows in the dataset. Errors are those of
    `state`.
    """
    pieces = pieces_of(job, dataset)
    stated = state(pieces, dataset, layout="rows", earlier=earlier, non_centered=non_centered)
    rows = np.flatnonzero(dataset.split == 0)
    return condition(stated, **columns_of(dataset, 0), rows=rows)


def _network(job: ModelJob, dataset: Dataset) -> Network:
    labels = dataset.transforms["target"].get("labels", ())
    targets = len(labels) or len(dataset.target_names)
    outputs = job.likelihood.outputs(targets)
    if job.network.outputs not in (None, outputs):
        raise InputError("builder.other_outputs", outputs=job.network.outputs, needed=outputs)
    sizes = (len(dataset.feature_names), *job.network.hidden, outputs)
    activation = bind_activations(job.network.activation)
    network = Network(sizes, activation, is_infinite=job.network.width is not None)
    for named, into, out in zip(activations_of(network), sizes[:-1], sizes[1:], strict=False):
        if isinstance(named, Bound) and named.is_layer:
            check_layer(named, into, out, named.code.file)
        elif isinstance(named, Bound):
            check_activation(named, named.code.file)
    return network


def _site(earlier: EarlierData, dataset: Dataset, network: Network) -> Site:
    """Bring earlier data into the units of a network."""
    target = target_transform(dataset.transforms)
    names = (*dataset.input_names, *dataset.target_names)
    given = (earlier.input_names, earlier.target, earlier.scale, earlier.units)
    units = {name: dataset.units[name] for name in names}
    here = (dataset.input_names, ", ".join(dataset.target_names), target.scale, units)
    for what, received, expected in zip(
        ("inputs", "target", "scale", "units"), given, here, strict=True
    ):
        if received != expected:
            raise InputError(
                "builder.other_earlier", what=what, received=received, expected=expected
            )
    if network.sizes[-1] != 1:
        raise InputError("builder.earlier_of_one_output", outputs=network.sizes[-1])
    features = apply_features(feature_transform(dataset.transforms["features"]), earlier.inputs)
    known = target.relative_to
    if known is not None and earlier.relative_to != known:
        raise InputError("references.of_earlier", received=earlier.relative_to, allowed=known)
    offset = offset_of(target, None if known is None else earlier.reference)
    observed = earlier.observed - earlier.root @ np.broadcast_to(
        target.mean + offset, len(earlier.inputs)
    )
    return Site(features, earlier.root * target.sd, observed)


def error_of(dataset: Dataset) -> np.ndarray | None:
    """Return the error of every target (point,) in the network's units; None where not known."""
    return None if dataset.error is None else dataset.error / dataset.transforms["target"]["sd"]


def columns_of(dataset: Dataset, split: int) -> Document:
    """Take features, target and error of the rows of one split; an error of None is not known."""
    rows, error = dataset.split == split, error_of(dataset)
    columns = {"features": dataset.features, "target": dataset.target, "error": error}
    return {name: None if column is None else column[rows] for name, column in columns.items()}
