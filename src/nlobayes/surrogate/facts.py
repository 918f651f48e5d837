"""Facts of a surrogate file: the name and the rule of each, stated once.

The file may come from an unknown source. A rule has its allowed values in words, and a test. A form
is a mapping of names to rules or forms, of which a list with one form stands for any number. Names
that end with `?` may be missing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from nlobayes.data.column_names import LONGEST
from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.references import is_reference
from nlobayes.data.transforms import CLASSES, TARGET_SCALES
from nlobayes.errors import InputError, one_line
from nlobayes.model.infinite import ERF
from nlobayes.model.networks import ACTIVATIONS, is_known
from nlobayes.surrogate.theory import RULES as THEORY_ERRORS

LARGEST = 1e100
"""Largest number anywhere in a file; its square is still finite."""


class Rule(NamedTuple):
    """Description of the allowed values, and a test of a value."""

    allowed: str
    holds: Callable[[Any], bool]


def rises(values: Any, *, strictly: bool = True) -> bool:
    """Return whether numbers rise from one to the next, or do not fall if not `strictly`."""
    steps = np.diff(values)
    return bool(np.all(steps > 0 if strictly else steps >= 0))


def _one_of(names: Sequence[str]) -> Rule:
    return Rule(f"one of {', '.join(names)}", lambda v: isinstance(v, str) and v in names)


def _list_of(rule: Rule) -> Rule:
    return Rule(
        f"a list, each {rule.allowed}",
        lambda v: isinstance(v, list) and all(map(rule.holds, v)),
    )


def _by_name(rule: Rule) -> Rule:
    return Rule(
        f"a mapping of names, each to {rule.allowed}",
        lambda v: isinstance(v, dict) and all(map(rule.holds, v.values())),
    )


def _either(one: Rule, other: Rule) -> Rule:
    return Rule(f"{one.allowed} or {other.allowed}", lambda v: one.holds(v) or other.holds(v))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= LARGEST


def _is_check(value: Any) -> bool:
    """Return whether a check has an outcome and a value, and whether its numbers are valid."""
    if not isinstance(value, dict) or not isinstance(value.get("passed"), bool):
        return False
    limits = [value.get(name) for name in ("value", "threshold", "low", "high")]
    return "value" in value and all(map(OR_NONE.holds, limits))


NAMES_OF_THEORY = {"scale": (2, 99), "pdf": (1, 1), "alpha_s": (2, 2), "combined": (1, 2)}
"""Fewest and most ratios of each source of theory errors."""


def _is_theory(source: Any, names: Any) -> bool:
    if source not in THEORY_ERRORS or not NAMES.holds(names):
        return False
    fewest, most = NAMES_OF_THEORY[source]
    return fewest <= len(names) <= most


NUMBER = Rule("a finite number", _is_number)
NUMBERS = _list_of(NUMBER)
OR_NONE = Rule("a finite number or null", lambda v: v is None or _is_number(v))
NOT_NEGATIVE = Rule("a finite number of at least 0", lambda v: _is_number(v) and v >= 0)
POSITIVE = Rule("a finite number above 0", lambda v: _is_number(v) and v > 0)
COUNT = Rule("a whole number from 0", lambda v: type(v) is int and 0 <= v <= LARGEST)
TEXT = Rule("text", lambda v: isinstance(v, str))
NAME = Rule(
    f"a text of 1 to {LONGEST} characters that print",
    lambda v: isinstance(v, str) and v.isprintable() and 0 < len(v) <= LONGEST,
)
NAMES = Rule(
    "a list of different names that print",
    lambda v: _list_of(NAME).holds(v) and 0 < len(set(v)) == len(v),
)
UNIT = Rule("the text of a unit", lambda v: v == "" or NAME.holds(v))
TRUTH_OR_NONE = Rule("true, false or null", lambda v: v is None or isinstance(v, bool))
CHECK = Rule("a check with `passed`, true or false, and `value`, a number or null", _is_check)
MAPPINGS = Rule("a list of mappings", lambda v: isinstance(v, list))
NOTHING = Rule("an empty list", lambda v: v == [])
RISING = Rule("a list of finite numbers that rise", lambda v: NUMBERS.holds(v) and rises(v))
RANGE = Rule(
    "two finite numbers, the second not below the first",
    lambda v: NUMBERS.holds(v) and len(v) == 2 and v[0] <= v[1],
)
LABELS = Rule(
    "a list of two or more whole numbers that rise",
    lambda v: RISING.holds(v) and len(v) > 1 and all(float(each).is_integer() for each in v),
)
SCORES = _by_name(_by_name(_either(OR_NONE, _list_of(OR_NONE))))
ACTIVATION = Rule(
    f"one of {', '.join((ERF, *ACTIVATIONS))}, or leaky_relu(0.3)",
    lambda v: v == ERF or is_known(v),
)
REFERENCE = Rule(
    "a column, or a calculation of the embedded engine with all its settings", is_reference
)
THEORY = Rule(
    f"a mapping of {', '.join(THEORY_ERRORS)}, each to the names of its outputs: one of pdf, "
    "two of alpha_s, else two or more",
    lambda v: isinstance(v, dict) and all(_is_theory(*item) for item in v.items()),
)

Form: TypeAlias = Mapping[str, Any]


class Closed(dict[str, Any]):
    """A form of mappings that may contain only the facts that it lists."""


POSITIVES, SPAN, CHECKS = _list_of(POSITIVE), _either(RANGE, NOTHING), _by_name(CHECK)
FEATURES = Closed(
    {
        "map": _one_of([*FEATURE_MAPS]),
        "mean": NUMBERS,
        "scale": POSITIVES,
        "components?": _list_of(NUMBERS),
        "explained?": NUMBERS,
    }
)
"""Constants of the features (`data.transforms.FeatureTransform`)."""
TRANSFORM = {"scale": _one_of([*TARGET_SCALES]), "mean": NUMBER, "sd": POSITIVE, "labels?": NOTHING}
"""Constants of a target (`data.transforms.TargetTransform`); the first may have a reference."""
LABELLED = {"scale": _one_of([CLASSES]), "mean": NUMBER, "sd": POSITIVE, "labels": LABELS}
NOISE = Closed(
    {
        "about": _one_of(["draws", "mean"]),
        "scale": POSITIVE,
        "exponent": NUMBER,
        "reference_sd": POSITIVE,
        "knots": _list_of(RISING),
        "coefficients": _list_of(NUMBERS),
        "spread_range": SPAN,
        "scale_range": SPAN,
        "column": COUNT,
        "edges": RISING,
        "sd_per_scale": POSITIVES,
        "slope?": NUMBER,
        "reference_mean?": NUMBER,
    }
)
"""Parameters of the predictive noise (`predictive.StoredNoise`)."""
SHARED: Form = {
    "activation": _either(ACTIVATION, _list_of(ACTIVATION)),
    "columns": NAMES,
    "target": NAME,
    "units": _by_name(UNIT),
    "bibtex": TEXT,
    "domain": Closed({"inside": POSITIVE, "edge": POSITIVE, "limits": _by_name(RANGE)}),
    "verdict": {"converged": TRUTH_OR_NONE, "convergence": CHECKS, "calibration": CHECKS},
    "warp?": Closed({"ratios": _list_of(NOT_NEGATIVE), "floors": POSITIVES}),
    "kept?": {
        "draws": COUNT,
        "of": COUNT,
        "rows?": COUNT,
        "mean_change?": NUMBER,
        "sd_change?": NUMBER,
    },
    "scores?": SCORES,
    "table_metadata?": _by_name(_either(TEXT, NUMBER)),
}
OF_NUMBERS: Form = {
    **SHARED,
    "transforms": {
        "features": FEATURES,
        "target": Closed({**TRANSFORM, "relative_to?": REFERENCE}),
        "theory?": THEORY,
    },
    "noise": NOISE,
    "further?": [{"target": NAME, "transform": Closed(TRANSFORM), "noise": NOISE}],
}
"""Facts of a surrogate of numbers."""
OF_CLASSES: Form = {**SHARED, "transforms": {"features": FEATURES, "target": Closed(LABELLED)}}
"""Facts of a surrogate of classes."""


def check_facts(facts: Any, form: Form, where: str, place: str = "") -> None:
    """Check the facts of a file against a form.

    Raises InputError if a fact is missing, unknown or not allowed.
    """
    if not isinstance(facts, dict):
        raise InputError("surrogate.no_fact", where=where, place=place)
    for stated, rule in form.items():
        name = stated.removesuffix("?")
        here = f"{place}.{name}" if place else name
        if name in facts:
            _check_fact(facts[name], rule, where, here)
        elif name == stated:
            raise InputError("surrogate.no_fact", where=where, place=here)
    known = sorted(stated.removesuffix("?") for stated in form)
    if isinstance(form, Closed) and (extra := sorted(facts.keys() - {*known})):
        raise InputError(
            "surrogate.unknown_fact", where=where, place=place, name=extra[0], known=known
        )


def _check_fact(value: Any, rule: Any, where: str, place: str) -> None:
    if isinstance(rule, dict):
        return check_facts(value, rule, where, place)
    several = rule if isinstance(rule, list) else []
    if several:
        rule = MAPPINGS
    if not rule.holds(value):
        stored = one_line(repr(value), 100)
        raise InputError(
            "surrogate.other_fact", where=where, place=place, stored=stored, allowed=rule.allowed
        )
    for number, each in enumerate(value if several else ()):
        check_facts(each, several[0], where, f"{place}.{number}")
    return None
