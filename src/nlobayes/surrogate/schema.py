"""Requirements on the file of a surrogate, which may come from an unknown source.

Table `FACTS` has a rule for each fact, and table `WHOLE` has rules for several facts and arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from nlobayes.data.transforms import CLASSES
from nlobayes.errors import InputError, one_line
from nlobayes.surrogate.rules import FACTS, LABELS, NUMBERS_ALONE, OPTIONAL, Rule, one_of
from nlobayes.surrogate.targets import one_by_one
from nlobayes.surrogate.whole import OF_NUMBERS, WHOLE, WHOLE_OF_CLASSES
from nlobayes.types import Exported

CLOSED = ("noise", "domain", "transforms.features", "transforms.target")
"""Mappings that may contain only facts of the tables."""


class Form(NamedTuple):
    """Required content of files of numbers, or of classes."""

    facts: Mapping[str, Rule]
    optional: Mapping[str, Rule]
    closed: Sequence[str]
    whole: Mapping[str, Callable[[Exported], bool]]


def _form(exported: Exported) -> Form:
    """Return the required content for the form that a file states."""
    if exported.facts.get("form") != CLASSES:
        return Form(FACTS, OPTIONAL, CLOSED, WHOLE)
    labels = {"transforms.target.labels": LABELS}
    scale = {"transforms.target.scale": one_of([CLASSES])}
    facts = {place: rule for place, rule in FACTS.items() if not place.startswith("noise.")}
    others = {p: rule for p, rule in OPTIONAL.items() if p not in (*labels, *NUMBERS_ALONE)}
    whole = {rule: holds for rule, holds in WHOLE.items() if holds not in OF_NUMBERS}
    return Form(facts | scale | labels, others, CLOSED[1:], whole | WHOLE_OF_CLASSES)


FURTHER_TARGET = Form(
    FACTS, OPTIONAL, CLOSED, {rule: holds for rule, holds in WHOLE.items() if holds in OF_NUMBERS}
)
"""Form of a target after the first; it shares inputs, domain and reference with the first."""


def check(exported: Exported, source: str) -> Exported:
    """Refuse a surrogate with invalid content, and otherwise return it.

    Raises
    ------
    InputError
        If a fact is missing or not allowed, an array has another shape, is not finite or not in
        order, or facts and arrays contradict each other. The same holds for further targets.
    """
    _check(exported, _form(exported), source)
    for target in islice(one_by_one(exported), 1, None):
        _check(target, FURTHER_TARGET, f"{source}: target {target.facts['target']}")
    return exported


def _check(exported: Exported, form: Form, source: str) -> None:
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
    for description, holds in form.whole.items():
        if not holds(exported):
            raise InputError("surrogate.not_whole", where=source, rule=description)


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
        stored = one_line(repr(found), 100)
        raise InputError(
            "surrogate.other_fact", where=source, place=place, stored=stored, allowed=rule.allowed
        )
