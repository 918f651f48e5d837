"""Facts of a surrogate file: the name, the type and the rule of each, stated once.

The file may come from an unknown source. A rule has its allowed values in words, and a test.
"""

from collections.abc import Callable, Sequence
from typing import (
    Annotated,
    Any,
    NamedTuple,
    NotRequired,
    TypedDict,
    get_args,
    get_origin,
    is_typeddict,
)

import numpy as np

from nlobayes.data.column_names import LONGEST
from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.references import is_reference
from nlobayes.data.transforms import CLASSES, TARGET_SCALES
from nlobayes.errors import InputError, one_line
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


def _is_theory(source: Any, names: Any) -> bool:
    if source not in THEORY_ERRORS or not NAMES.holds(names):
        return False
    return len(names) >= 2 if source == "scale" else len(names) == (1 if source == "pdf" else 2)


NUMBER = Rule("a finite number", _is_number)
NUMBERS = _list_of(NUMBER)
OR_NONE = Rule("a finite number or null", lambda v: v is None or _is_number(v))
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
ACTIVATION = Rule(f"one of {', '.join(ACTIVATIONS)}, or leaky_relu(0.3)", is_known)
REFERENCE = Rule(
    "a column, or a calculation of the embedded engine with all its settings", is_reference
)
THEORY = Rule(
    f"a mapping of {', '.join(THEORY_ERRORS)}, each to the names of its outputs: one of pdf, "
    "two of alpha_s, else two or more",
    lambda v: isinstance(v, dict) and all(_is_theory(*item) for item in v.items()),
)

Number = Annotated[float, NUMBER]
Positive = Annotated[float, POSITIVE]
Numbers = Annotated[list[float], NUMBERS]
Positives = Annotated[list[float], _list_of(POSITIVE)]
Span = Annotated[list[float], _either(RANGE, NOTHING)]
Checks = Annotated[dict[str, dict[str, Any]], _by_name(CHECK)]


class FeatureFacts(TypedDict):
    """Constants of the features (`data.transforms.FeatureTransform`)."""

    map: Annotated[str, _one_of([*FEATURE_MAPS])]
    mean: Numbers
    scale: Positives
    components: NotRequired[Annotated[list[list[float]], _list_of(NUMBERS)]]
    explained: NotRequired[Numbers]


class FurtherTransform(TypedDict):
    """Constants of a target after the first (`data.transforms.TargetTransform`)."""

    scale: Annotated[str, _one_of([*TARGET_SCALES])]
    mean: Number
    sd: Positive
    labels: NotRequired[Annotated[list[float], NOTHING]]


class TargetFacts(FurtherTransform):
    """Constants of the first target, which may be relative to a reference."""

    relative_to: NotRequired[Annotated[dict[str, Any], REFERENCE]]


class ClassFacts(TypedDict):
    """Labels of classes, and constants without effect."""

    scale: Annotated[str, _one_of([CLASSES])]
    mean: Number
    sd: Positive
    labels: Annotated[list[float], LABELS]


class Transforms(TypedDict):
    """Constants of features and target, and the outputs of each theory error."""

    features: FeatureFacts
    target: TargetFacts
    theory: NotRequired[Annotated[dict[str, list[str]], THEORY]]


class TransformsOfClasses(TypedDict):
    """Constants of features, and the labels."""

    features: FeatureFacts
    target: ClassFacts


class NoiseFacts(TypedDict):
    """Parameters of the predictive noise (`predictive.StoredNoise`)."""

    about: Annotated[str, _one_of(["draws", "mean"])]
    scale: Positive
    exponent: Number
    reference_sd: Positive
    knots: Annotated[list[list[float]], _list_of(RISING)]
    coefficients: Annotated[list[list[float]], _list_of(NUMBERS)]
    spread_range: Span
    scale_range: Span
    column: Annotated[int, COUNT]
    edges: Annotated[list[float], RISING]
    sd_per_scale: Positives
    slope: NotRequired[Number]
    reference_mean: NotRequired[Number]


class Further(TypedDict):
    """A target after the first, which shares inputs, domain and reference with it."""

    target: Annotated[str, NAME]
    transform: FurtherTransform
    noise: NoiseFacts


class DomainFacts(TypedDict):
    """Distances that bound the domain, and the ranges of derived quantities."""

    inside: Positive
    edge: Positive
    limits: Annotated[dict[str, list[float]], _by_name(RANGE)]


class Kept(TypedDict):
    """Draws that the file keeps, of how many, and the change by this (`reduction.Change`)."""

    draws: Annotated[int, COUNT]
    of: Annotated[int, COUNT]
    mean_change: NotRequired[Number]
    sd_change: NotRequired[Number]


class Verdict(TypedDict):
    """Checks of the chains and of the error bars; `converged` is None without chains."""

    converged: Annotated[bool | None, TRUTH_OR_NONE]
    convergence: Checks
    calibration: Checks


class _Facts(TypedDict):
    activation: Annotated[str | list[str], _either(ACTIVATION, _list_of(ACTIVATION))]
    columns: Annotated[list[str], NAMES]
    target: Annotated[str, NAME]
    units: Annotated[dict[str, str], _by_name(UNIT)]
    bibtex: Annotated[str, TEXT]
    domain: DomainFacts
    verdict: Verdict
    kept: NotRequired[Kept]
    scores: NotRequired[Annotated[dict[str, dict[str, Any]], SCORES]]
    table_metadata: NotRequired[Annotated[dict[str, Any], _by_name(_either(TEXT, NUMBER))]]


class Facts(_Facts):
    """Facts of a surrogate of numbers."""

    transforms: Transforms
    noise: NoiseFacts
    further: NotRequired[list[Further]]


class FactsOfClasses(_Facts):
    """Facts of a surrogate of classes."""

    transforms: TransformsOfClasses


CLOSED = (FeatureFacts, FurtherTransform, TargetFacts, ClassFacts, NoiseFacts, DomainFacts)
"""Mappings that may contain only the facts that they list."""


def check_facts(facts: Any, form: Any, where: str, place: str = "") -> None:
    """Check the facts of a file against a form, one of the classes above.

    Raises
    ------
    InputError
        If a fact is missing, unknown or not allowed.
    """
    if not isinstance(facts, dict):
        raise InputError("surrogate.no_fact", where=where, place=place)
    listed = form.__annotations__
    for name, hint in listed.items():
        here = f"{place}.{name}" if place else name
        if get_origin(hint) is not NotRequired and name not in facts:
            raise InputError("surrogate.no_fact", where=where, place=here)
        if name in facts:
            (hint,) = get_args(hint) if get_origin(hint) is NotRequired else (hint,)
            _check_fact(facts[name], hint, where, here)
    if form in CLOSED and (extra := sorted(facts.keys() - listed.keys())):
        raise InputError(
            "surrogate.unknown_fact", where=where, place=place, name=extra[0], known=sorted(listed)
        )


def _check_fact(value: Any, hint: Any, where: str, place: str) -> None:
    if is_typeddict(hint):
        return check_facts(value, hint, where, place)
    rule: Rule = MAPPINGS if get_origin(hint) is list else hint.__metadata__[0]
    if not rule.holds(value):
        stored = one_line(repr(value), 100)
        raise InputError(
            "surrogate.other_fact", where=where, place=place, stored=stored, allowed=rule.allowed
        )
    for number, each in enumerate(value if rule is MAPPINGS else ()):
        check_facts(each, get_args(hint)[0], where, f"{place}.{number}")
    return None
