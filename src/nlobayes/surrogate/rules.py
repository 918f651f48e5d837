"""Rules for each fact of a surrogate file, as text and as a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.names import LONGEST
from nlobayes.data.references import is_reference
from nlobayes.data.transforms import TARGET_SCALES
from nlobayes.model.networks import ACTIVATIONS, is_known
from nlobayes.surrogate.targets import FURTHER, OF_TARGET
from nlobayes.surrogate.theory import RULES

LARGEST = 1e100
"""Largest number anywhere in a file; its square is still finite."""


class Rule(NamedTuple):
    """Description of the allowed values, and a test of a value."""

    allowed: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= LARGEST


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= LONGEST


def _is_check(value: Any) -> bool:
    """Return whether a check has an outcome and a value, and whether its numbers are valid."""
    if not isinstance(value, dict) or not isinstance(value.get("passed"), bool):
        return False
    limits = [value.get(name) for name in ("threshold", "low", "high")]
    return "value" in value and all(OR_NONE.holds(each) for each in (value["value"], *limits))


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


def rises(values: Any, *, strictly: bool = True) -> bool:
    """Return whether numbers rise from one to the next, or do not fall if not `strictly`."""
    steps = np.diff(values)
    return bool(np.all(steps > 0 if strictly else steps >= 0))


def one_of(names: Sequence[str]) -> Rule:
    """Make a rule that allows these texts only."""
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
    lambda v: _list_of(NUMBER).holds(v) and rises(v),
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
    "transforms.features.map": one_of([*FEATURE_MAPS]),
    "transforms.features.mean": _list_of(NUMBER),
    "transforms.features.scale": _list_of(POSITIVE),
    "transforms.target.scale": one_of([*TARGET_SCALES]),
    "transforms.target.mean": NUMBER,
    "transforms.target.sd": POSITIVE,
    "noise.about": one_of(["draws", "mean"]),
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
"""Required facts by their place, and their rules."""

OPTIONAL: dict[str, Rule] = {
    "transforms.features.components": _list_of(_list_of(NUMBER)),
    "transforms.features.explained": _list_of(NUMBER),
    "noise.slope": NUMBER,
    "noise.reference_mean": NUMBER,
    "scores": _by_name(_by_name(_either(OR_NONE, _list_of(OR_NONE)))),
    "transforms.target.labels": NOTHING,
    "transforms.target.relative_to": REFERENCE,
    "transforms.theory": THEORY,
    FURTHER: FURTHER_TARGETS,
    "table_metadata": _by_name(_either(TEXT, NUMBER)),
}
"""Optional facts by their place, and their rules."""

NUMBERS_ALONE = ("transforms.theory", "transforms.target.relative_to", FURTHER)
"""Facts that files of classes must not have."""
LABELS = Rule(
    "a list of two or more whole numbers that rise",
    lambda v: RISING.holds(v) and len(v) > 1 and all(float(each).is_integer() for each in v),
)
