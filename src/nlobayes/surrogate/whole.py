"""Rules for facts and arrays of a surrogate file together, each as text and as a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, pairwise

import numpy as np

from nlobayes.data.references import columns_behind, reference_of
from nlobayes.data.transforms import map_features
from nlobayes.errors import InputError
from nlobayes.model.networks import WEIGHTS, layer_names, network_of
from nlobayes.surrogate.limits import quantities, within
from nlobayes.surrogate.rules import rises
from nlobayes.surrogate.targets import FURTHER
from nlobayes.types import Exported

TAIL = 0.01
"""Largest probability of the noise outside its table, on each side."""


def _layers_fit(exported: Exported) -> bool:
    """Return whether the network of the draws has one output for each target."""
    return _is_network(exported, len(exported.facts.get(FURTHER, [])) + 1)


def _is_network(exported: Exported, outputs: int) -> bool:
    """Return whether the arrays of the draws are those of a network with this many outputs."""
    drawn = exported.variables
    count = sum(name.startswith(f"{WEIGHTS}_") for name in drawn)
    weights = [drawn.get(f"{WEIGHTS}_{number}") for number in range(1, count + 1)]
    if not weights or any(w is None or w.ndim != 3 or not w.size for w in weights):
        return False
    network = network_of(drawn, exported.facts["activation"])
    if isinstance(network.activation, tuple) and len(network.activation) != count - 1:
        return False
    draws, inside = len(drawn[f"{WEIGHTS}_1"]), exported.features.shape[1]
    shapes: dict[str, tuple[int, ...]] = {}
    for names, (into, out) in zip(layer_names(network), pairwise(network.sizes), strict=True):
        layer = ((draws, into, out), (draws, out), (draws, out))
        named = zip(names, layer, strict=True)
        shapes |= {name: shape for name, shape in named if name is not None}
    found = {name: values.shape for name, values in drawn.items()}
    return found == shapes and network.sizes[0] == inside and network.sizes[-1] == outputs


def _features_fit(exported: Exported) -> bool:
    constants = exported.facts["transforms"]["features"]
    count = exported.features.shape[1]
    behind = len(columns_behind(exported.facts["transforms"]["target"].get("relative_to")))
    typical = exported.typical[np.newaxis, : len(exported.typical) - behind]
    try:
        mapped = map_features(constants["map"], typical)
    except InputError:
        return False
    width, components = mapped.shape[1], constants.get("components")
    if components is None:
        turned = width == count and "explained" not in constants
    else:
        turned = (
            [*map(len, components)]
            == [width] * count
            == [width] * len(constants.get("explained", ()))
        )
    return turned and width == len(constants["mean"]) and count == len(constants["scale"])


def _lines_fit(exported: Exported) -> bool:
    noise = exported.facts["noise"]
    knots, coefficients = ([len(each) for each in noise[n]] for n in ("knots", "coefficients"))
    return knots == coefficients and 0 not in knots and len(knots) <= exported.features.shape[1]


def _bins_fit(exported: Exported) -> bool:
    noise = exported.facts["noise"]
    bins = len(noise["edges"]) + 1
    alone = noise["about"] == "mean" or bins == 1
    return alone and bins == len(noise["sd_per_scale"]) == len(exported.probability)


def _is_distribution(exported: Exported) -> bool:
    table = exported.probability
    return (
        table.size > 0
        and rises(table, strictly=False)
        and bool(np.all(table[:, 0] >= 0) and np.all(table[:, -1] <= 1))
        and bool(np.all(table[:, 0] <= TAIL) and np.all(table[:, -1] >= 1 - TAIL))
    )


def _all_finite(exported: Exported) -> bool:
    arrays = [values for values in exported if isinstance(values, np.ndarray)]
    tables = chain.from_iterable(exported.further)
    return _are_finite((*arrays, *tables, *exported.variables.values()))


def _are_finite(arrays: Iterable[np.ndarray]) -> bool:
    return all(
        values.dtype.kind == "f" and values.size > 0 and np.isfinite(values).all()
        for values in arrays
    )


def _within_limits(exported: Exported) -> bool:
    """Return whether all quantities have limits, and the typical row is within them."""
    facts, typical = exported.facts, exported.typical[np.newaxis]
    named = dict(zip(facts["columns"], exported.limits.tolist(), strict=True))
    all_limits = named | facts["domain"]["limits"]
    limited = quantities(typical, facts["columns"], facts["units"], all_limits).keys()
    complete = limited == all_limits.keys()
    return complete and bool(within(all_limits, typical, facts["columns"], facts["units"]).all())


def _reference_fits(exported: Exported) -> bool:
    """Return whether the file has the columns of the reference, and the typical row a reference."""
    facts = exported.facts
    target, columns = facts["transforms"]["target"], facts["columns"]
    settings = target.get("relative_to")
    if settings is None:
        return True
    reference = reference_of(settings)
    behind = tuple(columns[len(columns) - len(reference.behind) :])
    if not {*reference.columns} <= {*columns} or behind != reference.behind:
        return False
    typical = reference.values(exported.typical[np.newaxis], columns, target["scale"])
    return bool(np.isfinite(typical).all())


def _further_fit(exported: Exported) -> bool:
    further = exported.facts.get(FURTHER, [])
    names = [exported.facts["target"], *(each["target"] for each in further)]
    return len({*names}) == len(names) and len(further) == len(exported.further)


def _theory_fits(exported: Exported) -> bool:
    """Return whether all outputs of theory errors are further targets, each used once."""
    outputs = [*chain.from_iterable(exported.facts["transforms"].get("theory", {}).values())]
    further = {each["target"] for each in exported.facts.get(FURTHER, [])}
    return len({*outputs}) == len(outputs) and {*outputs} <= further


def _residual_rises(exported: Exported) -> bool:
    return rises(exported.residual)


def _column_is_a_feature(exported: Exported) -> bool:
    column: int = exported.facts["noise"]["column"]
    return column < exported.features.shape[1]


WHOLE: dict[str, Callable[[Exported], bool]] = {
    "every array holds finite floating-point numbers, one at least": _all_finite,
    "weights, biases and slopes are those of a whole network with one output of each target": (
        _layers_fit
    ),
    "each further target has a name and a noise of its own": _further_fit,
    "theory errors are those of further targets, each given once": _theory_fits,
    "columns, limits and typical have one length": lambda e: (
        len(e.facts["columns"]) == len(e.typical) and e.limits.shape[1] == 2
    ),
    "there are limits of each input and quantity, and typical lies within": _within_limits,
    "spacing is above 0": lambda e: bool(np.all(e.spacing > 0)),
    "the feature map takes the columns and gives the features": _features_fit,
    "the columns have what the target is relative to, the typical row too": _reference_fits,
    "residual rises": _residual_rises,
    "probability rises from 0 to 1": _is_distribution,
    "each knot has its coefficient, at most a line for each feature": _lines_fit,
    "edges, sd_per_scale and probability have the same bins": _bins_fit,
    "column is one of the features": _column_is_a_feature,
    "inside is at most edge": lambda e: e.facts["domain"]["inside"] <= e.facts["domain"]["edge"],
}
"""Rules for facts and arrays of a file of numbers, with their tests."""

OF_NUMBERS = (
    _all_finite,
    _layers_fit,
    _further_fit,
    _theory_fits,
    _lines_fit,
    _bins_fit,
    _is_distribution,
    _residual_rises,
    _column_is_a_feature,
)
"""Tests of `WHOLE` that apply to noise and further targets, which files of classes do not have."""


def _classes_fit(exported: Exported) -> bool:
    """Return whether the network of the draws has one output for each class."""
    labels = exported.facts["transforms"]["target"]["labels"]
    return _is_network(exported, len(labels)) and not exported.further


def _arrays_finite(exported: Exported) -> bool:
    arrays = (exported.features, exported.spacing, exported.limits, exported.typical)
    return _are_finite((*arrays, *exported.variables.values()))


WHOLE_OF_CLASSES: dict[str, Callable[[Exported], bool]] = {
    "every array holds finite floating-point numbers, one at least": _arrays_finite,
    "weights, biases and slopes are those of a whole network with one output of each class": (
        _classes_fit
    ),
}
"""Rules for files of classes, in addition to those of `WHOLE` that are not in `OF_NUMBERS`."""
