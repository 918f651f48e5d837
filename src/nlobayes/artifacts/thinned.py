"""Thinned posteriors: their weights, the train rows, and the centres of linearised networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nlobayes.artifacts.chains import CENTRES, LINEARISED
from nlobayes.artifacts.contents import read_variables
from nlobayes.artifacts.netcdf import Groups
from nlobayes.errors import InputError
from nlobayes.types import Dataset, NamedArrays


def read_weights(thinned: Groups, posterior: object) -> NamedArrays:
    """Read the weights (chain, draw, ...) of a thinned posterior.

    If draws differ in architecture, the units that a draw lacks have weights of zero. Masks then
    change no prediction.

    Raises InputError if the posterior has draws of functions but none of weights.
    """
    if not thinned["posterior"].data_vars:
        raise InputError("commands.no_weights", where=posterior)
    return read_variables(thinned["posterior"])


def flatten(named: NamedArrays) -> dict[str, np.ndarray]:
    """Join the draws of all chains along one axis, chain after chain."""
    return {name: v.reshape(-1, *v.shape[2:]) for name, v in named.values.items()}


def check_same_rows(thinned: Groups, data: Dataset, posterior: object) -> None:
    """Refuse a dataset if the posterior was not conditioned on it.

    Raises InputError if the targets of the train rows differ.
    """
    if not np.array_equal(thinned["observed_data"]["target"], data.target[data.split == 0]):
        raise InputError("commands.other_train_rows", where=posterior)


def read_centres(thinned: Groups) -> NamedArrays | None:
    """Read the centre of each draw (chain, draw, ...); None if the networks are not linearised."""
    return read_variables(thinned[CENTRES]) if CENTRES in thinned else None


def check_networks(made: Mapping[str, Any], posterior: object) -> None:
    """Refuse a posterior of linearised networks, given the attributes of its file.

    Raises InputError if the networks are linearised.
    """
    if made.get("predictive") == LINEARISED:
        raise InputError("commands.linearised", where=posterior)
