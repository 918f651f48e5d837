"""What a surrogate must say and hold before it predicts: its file may come from anybody.

Two tables: `FACTS` says of each fact what is allowed, `WHOLE` what facts and arrays are together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.references import columns_behind, columns_needed, is_reference, reference_at
from nlobayes.data.transforms import CLASSES, FEATURE_MAPS, TARGET_SCALES, map_features
from nlobayes.errors import InputError, one_line
from nlobayes.model.networks import ACTIVATIONS, WEIGHTS, is_known, layer_names, network_of
from nlobayes.surrogate.limits import quantities, within
from nlobayes.surrogate.targets import FURTHER, OF_TARGET, one_by_one
from nlobayes.surrogate.theory import RULES
from nlobayes.types import Exported

LARGEST = 1e100
"""Of a number anywhere: its square is a number still."""
LONGEST = 200
"""Characters of a name."""
TAIL = 0.01
"""Most of the noise's distribution that may lie beyond its table, on each side."""


class Rule(NamedTuple):
    """What is allowed, in words, and as a test."""

    allowed: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= LARGEST


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= LONGEST


def _is_check(value: Any) -> bool:
    """Tell whether a check says whether it passed, and its value and limits where it has them."""
    if not isinstance(value, dict) or not isinstance(value.get("passed"), bool):
        return False
    told = [value.get(name) for name in ("threshold", "low", "high")]
    return "value" in value and all(OR_NONE.holds(each) for each in (value["value"], *told))


def _is_further(value: Any) -> bool:
    if not isinstance(value, dict) or not {*OF_TARGET} <= value.keys():
        return False
    mappings = (value["transform"], value["noise"])
    return (
        _is_name(value["target"])
        and all(isinstance(each, dict) for each in mappings)
        and "relative_to" not in value["transform"]
    )


def _is_theory(source: Any, names: Any) -> bool:
    needed = 1 if source == "pdf" else 2
    named = isinstance(names, list) and all(map(_is_name, names))
    return source in RULES and named and len(names) == len({*names}) == needed


def _rises(values: Any, *, strictly: bool = True) -> bool:
    steps = np.diff(values)
    return bool(np.all(steps > 0 if strictly else steps >= 0))


def _one_of(names: Sequence[str]) -> Rule:
    return Rule(f"one of {', '.join(names)}", lambda v: isinstance(v, str) and v in names)


def _list_of(rule: Rule) -> Rule:
    return Rule(
        f"a list, each {rule.allowed}",
        lambda v: isinstance(v, list) and all(rule.holds(each) for each in v),
    )


def _by_name(rule: Rule) -> Rule:
    return Rule(
        f"a mapping of names, each to {rule.allowed}",
        lambda v: isinstance(v, dict) and all(rule.holds(each) for each in v.values()),
    )


def _either(one: Rule, other: Rule) -> Rule:
    return Rule(f"{one.allowed} or {other.allowed}", lambda v: one.holds(v) or other.holds(v))


NUMBER = Rule("a finite number", _is_number)
POSITIVE = Rule("a finite number above 0", lambda v: _is_number(v) and v > 0)
COUNT = Rule("a whole number from 0", lambda v: type(v) is int and 0 <= v <= LARGEST)
NAME = Rule(f"a text of 1 to {LONGEST} characters that print", _is_name)
TEXT = Rule("text", lambda v: isinstance(v, str))
TRUTH_OR_NONE = Rule("true, false or null", lambda v: v is None or isinstance(v, bool))
OR_NONE = Rule("a finite number or null", lambda v: v is None or _is_number(v))
CHECK = Rule("a check with `passed`, true or false, and `value`, a number or null", _is_check)
RISING = Rule(
    "a list of finite numbers that rise",
    lambda v: _list_of(NUMBER).holds(v) and _rises(v),
)
RANGE = Rule(
    "two finite numbers, the second not below the first",
    lambda v: _list_of(NUMBER).holds(v) and len(v) == 2 and v[0] <= v[1],
)
NOTHING = Rule("an empty list", lambda v: v == [])
NAMES = Rule(
    "a list of different names that print",
    lambda v: _list_of(NAME).holds(v) and 0 < len(set(v)) == len(v),
)
ACTIVATION = Rule(f"one of {', '.join(ACTIVATIONS)}, or leaky_relu(0.3)", is_known)
REFERENCE = Rule(
    "a column, or a calculation of the embedded engine with all its settings", is_reference
)

FURTHER_TARGETS = Rule(
    f"a list of mappings, each with {', '.join(OF_TARGET)}, of which no transform is relative",
    lambda v: isinstance(v, list) and all(_is_further(each) for each in v),
)
THEORY = Rule(
    f"a mapping of {', '.join(RULES)}, each to the names of its outputs: one of pdf, else two",
    lambda v: isinstance(v, dict) and all(_is_theory(*item) for item in v.items()),
)

FACTS: dict[str, Rule] = {
    "activation": _either(ACTIVATION, _list_of(ACTIVATION)),
    "columns": NAMES,
    "target": NAME,
    "units": _by_name(Rule("the text of a unit", lambda v: v == "" or _is_name(v))),
    "bibtex": TEXT,
    "transforms.features.map": _one_of([*FEATURE_MAPS]),
    "transforms.features.mean": _list_of(NUMBER),
    "transforms.features.scale": _list_of(POSITIVE),
    "transforms.target.scale": _one_of([*TARGET_SCALES]),
    "transforms.target.mean": NUMBER,
    "transforms.target.sd": POSITIVE,
    "noise.about": _one_of(["draws", "mean"]),
    "noise.scale": POSITIVE,
    "noise.exponent": NUMBER,
    "noise.reference_sd": POSITIVE,
    "noise.knots": _list_of(RISING),
    "noise.coefficients": _list_of(_list_of(NUMBER)),
    "noise.spread_range": _either(RANGE, NOTHING),
    "noise.scale_range": _either(RANGE, NOTHING),
    "noise.column": COUNT,
    "noise.edges": RISING,
    "noise.sd_per_scale": _list_of(POSITIVE),
    "domain.inside": POSITIVE,
    "domain.edge": POSITIVE,
    "domain.limits": _by_name(RANGE),
    "verdict.converged": TRUTH_OR_NONE,
    "verdict.convergence": _by_name(CHECK),
    "verdict.calibration": _by_name(CHECK),
}
"""Each fact by its place, and what it must be."""

OPTIONAL: dict[str, Rule] = {
    "transforms.features.components": _list_of(_list_of(NUMBER)),
    "transforms.features.explained": _list_of(NUMBER),
    "scores": _by_name(_by_name(_either(OR_NONE, _list_of(OR_NONE)))),
    "transforms.target.labels": NOTHING,
    "transforms.target.relative_to": REFERENCE,
    "transforms.theory": THEORY,
    FURTHER: FURTHER_TARGETS,
    "table_metadata": _by_name(_either(TEXT, NUMBER)),
}
"""Facts that may be missing."""

NUMBERS_ALONE = ("transforms.theory", "transforms.target.relative_to", FURTHER)
"""Facts that files of classes have not."""
LABELS = Rule(
    "a list of two or more whole numbers that rise",
    lambda v: RISING.holds(v) and len(v) > 1 and all(float(each).is_integer() for each in v),
)

CLOSED = ("noise", "domain", "transforms.features", "transforms.target")
"""Mappings that hold nothing but the facts above."""


class Form(NamedTuple):
    """What files of numbers, or of classes, must say and hold."""

    facts: Mapping[str, Rule]
    optional: Mapping[str, Rule]
    closed: Sequence[str]
    whole: Mapping[str, Callable[[Exported], bool]]


def _form(exported: Exported) -> Form:
    """Choose by what a file says of its form, by which its arrays were read."""
    if exported.facts.get("form") != CLASSES:
        return Form(FACTS, OPTIONAL, CLOSED, WHOLE)
    labels = {"transforms.target.labels": LABELS}
    scale = {"transforms.target.scale": _one_of([CLASSES])}
    said = {place: rule for place, rule in FACTS.items() if not place.startswith("noise.")}
    others = {p: rule for p, rule in OPTIONAL.items() if p not in (*labels, *NUMBERS_ALONE)}
    whole = {says: holds for says, holds in WHOLE.items() if holds not in OF_NUMBERS}
    return Form(said | scale | labels, others, CLOSED[1:], whole | WHOLE_OF_CLASSES)


def check(exported: Exported, source: str) -> Exported:
    """Refuse a surrogate that says or holds what cannot be predicted with, and give it back.

    Raises
    ------
    InputError
        If a fact is missing or not allowed, an array has another shape, is not finite or not in
        order, or they do not fit together; of further targets alike.
    """
    _check(exported, source)
    for one in islice(one_by_one(exported), 1, None):
        _check(one, f"{source}: target {one.facts['target']}")
    return exported


def _check(exported: Exported, source: str) -> None:
    form = _form(exported)
    for place, rule in form.facts.items():
        _check_fact(exported.facts, place, rule, source)
    for place, rule in form.optional.items():
        if _at(exported.facts, place) is not MISSING:
            _check_fact(exported.facts, place, rule, source)
    for place in form.closed:
        named = (n for n in (*form.facts, *form.optional) if n.startswith(place))
        known = {name.removeprefix(f"{place}.") for name in named}
        if extra := sorted(_at(exported.facts, place).keys() - known):
            raise InputError(
                "surrogate.unknown_fact",
                where=source,
                place=place,
                name=extra[0],
                known=sorted(known),
            )
    for says, holds in form.whole.items():
        if not holds(exported):
            raise InputError("surrogate.not_whole", where=source, rule=says)


MISSING = object()


def _at(facts: Mapping[str, Any], place: str) -> Any:
    found: Any = facts
    for name in place.split("."):
        if not isinstance(found, dict) or name not in found:
            return MISSING
        found = found[name]
    return found


def _check_fact(facts: Mapping[str, Any], place: str, rule: Rule, source: str) -> None:
    found = _at(facts, place)
    if found is MISSING:
        raise InputError("surrogate.no_fact", where=source, place=place)
    if not rule.holds(found):
        said = one_line(repr(found), 100)
        raise InputError(
            "surrogate.other_fact", where=source, place=place, said=said, allowed=rule.allowed
        )


def _layers_fit(exported: Exported) -> bool:
    """Compare the arrays of the draws with one output of each target."""
    return _is_network(exported, len(exported.facts.get(FURTHER, [])) + 1)


def _is_network(exported: Exported, outputs: int) -> bool:
    """Compare the arrays of the draws with those that the sizes of their weights ask for."""
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
        own = ((draws, into, out), (draws, out), (draws, out))
        shapes |= {name: shape for name, shape in zip(names, own, strict=True) if name is not None}
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
        and _rises(table, strictly=False)
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
    """Compare the limits of inputs, and of what is made of them, with the typical row."""
    facts, typical = exported.facts, exported.typical[np.newaxis]
    named = dict(zip(facts["columns"], exported.limits.tolist(), strict=True))
    all_limits = named | facts["domain"]["limits"]
    wanted = quantities(typical, facts["columns"], facts["units"]).keys()
    known = wanted == all_limits.keys()
    return known and bool(within(all_limits, typical, facts["columns"], facts["units"]).all())


def _reference_fits(exported: Exported) -> bool:
    """Tell whether the columns are what the reference needs, and the typical row has one."""
    facts = exported.facts
    target, columns = facts["transforms"]["target"], facts["columns"]
    settings = target.get("relative_to")
    if settings is None:
        return True
    needed = columns_needed(settings)
    behind = columns_behind(settings)
    if not {*needed} <= {*columns} or tuple(columns[len(columns) - len(behind) :]) != behind:
        return False
    typical = reference_at(settings, exported.typical[np.newaxis], columns, target["scale"])
    return bool(np.isfinite(typical).all())


def _further_fit(exported: Exported) -> bool:
    further = exported.facts.get(FURTHER, [])
    names = [exported.facts["target"], *(one["target"] for one in further)]
    return len({*names}) == len(names) and len(further) == len(exported.further)


def _theory_fits(exported: Exported) -> bool:
    """Tell whether the outputs that tell errors are there."""
    told = [*chain.from_iterable(exported.facts["transforms"].get("theory", {}).values())]
    further = {one["target"] for one in exported.facts.get(FURTHER, [])}
    return len({*told}) == len(told) and {*told} <= further


def _residual_rises(exported: Exported) -> bool:
    return _rises(exported.residual)


def _column_is_a_feature(exported: Exported) -> bool:
    column: int = exported.facts["noise"]["column"]
    return column < exported.features.shape[1]


WHOLE: dict[str, Callable[[Exported], bool]] = {
    "every array holds finite floating-point numbers, one at least": _all_finite,
    "weights, biases and slopes are those of a whole network with one output of each target": (
        _layers_fit
    ),
    "each further target has a name and a noise of its own": _further_fit,
    "theory errors are those of further targets, each told once": _theory_fits,
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
    "edges, sd_per_scale and probability tell of the same bins": _bins_fit,
    "column is one of the features": _column_is_a_feature,
    "inside is at most edge": lambda e: e.facts["domain"]["inside"] <= e.facts["domain"]["edge"],
}
"""What must hold of facts and arrays together."""

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
"""Those of `WHOLE` that are about noises and further targets, which classes have not."""


def _classes_fit(exported: Exported) -> bool:
    """Compare the arrays of the draws with one output of each class."""
    labels = exported.facts["transforms"]["target"]["labels"]
    return _is_network(exported, len(labels)) and not exported.further


def _arrays_finite(exported: Exported) -> bool:
    own = (exported.features, exported.spacing, exported.limits, exported.typical)
    return _are_finite((*own, *exported.variables.values()))


WHOLE_OF_CLASSES: dict[str, Callable[[Exported], bool]] = {
    "every array holds finite floating-point numbers, one at least": _arrays_finite,
    "weights, biases and slopes are those of a whole network with one output of each class": (
        _classes_fit
    ),
}
"""What must hold of files of classes beside the rest of `WHOLE`."""
