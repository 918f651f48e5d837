"""Reading of a surrogate file, and rules for its facts and arrays, each as text and as a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from nlobayes.artifacts.surrogate_file import read_surrogate
from nlobayes.data.references import columns_behind, make_reference
from nlobayes.data.transforms import CLASSES, map_features
from nlobayes.errors import InputError
from nlobayes.model.networks import WEIGHTS, layer_names, network_of
from nlobayes.surrogate import process
from nlobayes.surrogate.facts import OF_CLASSES, OF_NUMBERS, check_facts, rises
from nlobayes.surrogate.network_outputs import one_by_one
from nlobayes.surrogate.train_ranges import bounds_of, quantities
from nlobayes.types import SurrogateContent

TAIL = 0.01
"""Largest probability of the noise outside its table, on each side."""

Rules = Mapping[str, Callable[[SurrogateContent], bool]]


def read_exported(path: str | Path, of_classes: bool | None = None) -> SurrogateContent:
    """Read an exported file, of classes or not if that is given; errors as `StoredNetwork.load`."""
    exported = check(read_surrogate(Path(path)), str(path))
    found, target = exported.facts.get("form") == CLASSES, exported.facts["target"]
    if found and of_classes is False:
        raise InputError("surrogate.of_classes", where=path, target=target)
    if not found and of_classes:
        raise InputError("surrogate.of_numbers", where=path, target=target)
    if stated := exported.facts["transforms"]["target"].get("relative_to"):
        make_reference(stated).check_version()
    return exported


def check(exported: SurrogateContent, source: str) -> SurrogateContent:
    """Refuse a surrogate with invalid content, and otherwise return it.

    Raises InputError if a fact is missing or not allowed, an array has another shape, is not finite
    or not in order, or facts and arrays contradict each other.
    """
    of_classes = exported.facts.get("form") == CLASSES
    check_facts(exported.facts, OF_CLASSES if of_classes else OF_NUMBERS, source)
    _require(exported, {**OF_ARRAYS, **OF_DOMAIN}, source)
    if not of_classes:
        _require(exported, OF_TARGETS, source)
        for target in one_by_one(exported):
            _require(target, OF_NOISE, f"{source}: target {target.facts['target']}")
    return exported


def _require(exported: SurrogateContent, rules: Rules, source: str) -> None:
    for description, holds in rules.items():
        if not holds(exported):
            raise InputError("surrogate.not_whole", where=source, rule=description)


def _all_finite(exported: SurrogateContent) -> bool:
    arrays = [values for values in exported if isinstance(values, np.ndarray)]
    return all(
        values.dtype.kind == "f" and values.size > 0 and np.isfinite(values).all()
        for values in (
            *arrays,
            *chain.from_iterable(exported.noises),
            *exported.variables.values(),
            *exported.rows.values(),
            *exported.held_out.values(),
        )
    )


def _is_network(exported: SurrogateContent) -> bool:
    """Return whether the draws are of a network with an output for each target or class."""
    drawn, facts = exported.variables, exported.facts
    if process.is_process(exported):
        return process.is_whole(exported)
    count = sum(name.startswith(f"{WEIGHTS}_") for name in drawn)
    weights = [drawn.get(f"{WEIGHTS}_{number}") for number in range(1, count + 1)]
    if not weights or any(w is None or w.ndim != 3 or not w.size for w in weights):
        return False
    network = network_of(drawn, facts["activation"])
    if isinstance(network.activation, tuple) and len(network.activation) != count - 1:
        return False
    draws, labels = len(drawn[f"{WEIGHTS}_1"]), facts["transforms"]["target"].get("labels")
    outputs = len(labels) if labels else 1 + len(facts.get("further", []))
    shapes: dict[str, tuple[int, ...]] = {}
    for names, (into, out) in zip(layer_names(network), pairwise(network.sizes), strict=True):
        layer = ((draws, into, out), (draws, out), (draws, out))
        named = zip(names, layer, strict=True)
        shapes |= {name: shape for name, shape in named if name is not None}
    ends = (network.sizes[0], network.sizes[-1]) == (exported.features.shape[1], outputs)
    return ends and {name: values.shape for name, values in drawn.items()} == shapes


def _features_fit(exported: SurrogateContent) -> bool:
    constants = exported.facts["transforms"]["features"]
    count = exported.features.shape[1]
    behind = len(columns_behind(exported.facts["transforms"]["target"].get("relative_to")))
    typical = exported.typical[np.newaxis, : len(exported.typical) - behind]
    try:
        width = map_features(constants["map"], typical).shape[1]
    except InputError:
        return False
    components, shares = constants.get("components"), len(constants.get("explained", ()))
    if components is None:
        turned = width == count and not shares
    else:
        turned = [*map(len, components)] == [width] * count == [width] * shares
    return turned and width == len(constants["mean"]) and count == len(constants["scale"])


def _within_limits(exported: SurrogateContent) -> bool:
    """Return whether all quantities have limits, and the typical row is within them."""
    facts, typical = exported.facts, exported.typical[np.newaxis]
    named = dict(zip(facts["columns"], exported.limits.tolist(), strict=True))
    all_limits = named | facts["domain"]["limits"]
    limited = quantities(typical, facts["columns"], facts["units"], all_limits).keys()
    if limited != all_limits.keys():
        return False
    return bool(bounds_of(all_limits, facts["columns"], facts["units"]).allow(typical).all())


def _reference_fits(exported: SurrogateContent) -> bool:
    """Return whether the file has the columns of the reference, and the typical row a reference."""
    target, columns = exported.facts["transforms"]["target"], exported.facts["columns"]
    settings = target.get("relative_to")
    if settings is None:
        return True
    reference = make_reference(settings)
    behind = tuple(columns[len(columns) - len(reference.behind) :])
    if not {*reference.columns} <= {*columns} or behind != reference.behind:
        return False
    typical = reference.values(exported.typical[np.newaxis], columns, target["scale"])
    return bool(np.isfinite(typical).all())


def _names_fit(exported: SurrogateContent) -> bool:
    further = exported.facts.get("further", [])
    names = [exported.facts["target"], *(each["target"] for each in further)]
    return len({*names}) == len(names) == len(exported.noises)


def _theory_fits(exported: SurrogateContent) -> bool:
    """Return whether all outputs of theory errors are further targets, each used once."""
    outputs = [*chain.from_iterable(exported.facts["transforms"].get("theory", {}).values())]
    further = {each["target"] for each in exported.facts.get("further", [])}
    return len({*outputs}) == len(outputs) and {*outputs} <= further


def _held_out_fits(exported: SurrogateContent) -> bool:
    errors = exported.held_out
    if not errors:
        return True
    rows = {values.shape for values in errors.values()}
    columns = errors.keys() == {"stated", "error"} and len(rows) == 1 and len(rows.pop()) == 1
    return columns and all(bool(np.all(values >= 0)) for values in errors.values())


def _lines_fit(exported: SurrogateContent) -> bool:
    noise = exported.facts["noise"]
    knots, coefficients = ([len(each) for each in noise[n]] for n in ("knots", "coefficients"))
    return knots == coefficients and 0 not in knots and len(knots) <= exported.features.shape[1]


def _bins_fit(exported: SurrogateContent) -> bool:
    noise, (table,) = exported.facts["noise"], exported.noises
    bins = len(noise["edges"]) + 1
    alone = noise["about"] == "mean" or bins == 1
    return alone and bins == len(noise["sd_per_scale"]) == len(table.probability)


def _is_distribution(exported: SurrogateContent) -> bool:
    table = exported.noises[0].probability
    low, high = table[:, 0], table[:, -1]
    rising = rises(table, strictly=False) and np.all(low >= 0) and np.all(high <= 1)
    return bool(rising and np.all(low <= TAIL) and np.all(high >= 1 - TAIL))


OF_ARRAYS: Rules = {
    "every array holds finite floating-point numbers, one at least": _all_finite,
    "weights, biases and slopes are those of a whole network with one output of each target": (
        _is_network
    ),
    "columns, limits and typical have one length": lambda e: (
        len(e.facts["columns"]) == len(e.typical) and e.limits.shape[1] == 2
    ),
}
OF_DOMAIN: Rules = {
    "there are limits of each input and quantity, and typical lies within": _within_limits,
    "spacing is above 0": lambda e: bool(np.all(e.spacing > 0)),
    "the feature map takes the columns and gives the features": _features_fit,
    "the columns have what the target is relative to, the typical row too": _reference_fits,
    "inside is at most edge": lambda e: e.facts["domain"]["inside"] <= e.facts["domain"]["edge"],
}
OF_TARGETS: Rules = {
    "stated and actual errors of held-out rows are of the same rows, and none is below 0": (
        _held_out_fits
    ),
    "each further target has a name and a noise of its own": _names_fit,
    "theory errors are those of further targets, each given once": _theory_fits,
}
"""Rules for files of numbers."""
OF_NOISE: Rules = {
    "residual rises": lambda e: rises(e.noises[0].residual),
    "probability rises from 0 to 1": _is_distribution,
    "each knot has its coefficient, at most a line for each feature": _lines_fit,
    "edges, sd_per_scale and probability have the same bins": _bins_fit,
    "column is one of the features": lambda e: e.facts["noise"]["column"] < e.features.shape[1],
}
"""Rules for each target of a file of numbers, as `network_outputs.one_by_one` yields it."""
