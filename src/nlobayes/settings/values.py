"""Types of preset values: bounded numbers, lists without repetition, frozen models."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from nlobayes.errors import InputError
from nlobayes.untyped import Document

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
"""Name of a preset or a grid, which becomes a folder and a part of file names and patterns."""
REPEATED = re.compile(r"(.+?)\1{19}")
"""Twenty repetitions of a text, which Snakemake takes for an endlessly growing path."""
MOST = 10**9
"""Largest number for keys without their own limit."""
TAKEN = {"datasets": {"agreement", "comparison", "data", "landscape", "prior_predictive", "rounds"}}
"""Names that datasets cannot have, since folders of results beside those of runs have them."""


def check_names(section: str, names: Iterable[str]) -> None:
    """Refuse names that cannot all be folders side by side on any file system."""
    seen: dict[str, str] = {}
    for name in names:
        if not NAME.fullmatch(name):
            raise InputError("study.name", where=section, name=name, pattern=NAME.pattern)
        if REPEATED.search(name):
            raise InputError("study.name_repeats", where=section, name=name)
        if name.lower() in TAKEN.get(section, ()):
            raise InputError("study.name_taken", where=section, name=name)
        first = seen.setdefault(name.lower(), name)
        if first != name:
            raise InputError("study.names_by_case", where=section, first=first, name=name)


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for value, times in Counter(values).most_common(1):
        if times > 1:
            raise InputError("study.twice", value=value)
    return values


def _at_most(number: int) -> int:
    if number > MOST:
        raise InputError("study.above_most", number=number, most=MOST)
    return number


Fraction = Annotated[float, Field(gt=0, lt=1)]
PositiveInt = Annotated[int, Field(ge=1), AfterValidator(_at_most)]
Segments = Annotated[int, Field(ge=1, le=10_000)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Jitter = Annotated[float, Field(ge=0, lt=1)]
Width = Annotated[int, Field(ge=1, le=10_000)]
Rows = Annotated[int, Field(ge=1, strict=True)] | Fraction
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(_each_once)]
Value = TypeVar("Value")
Each = Annotated[tuple[Value, ...], Field(min_length=1), AfterValidator(_each_once)]
NamesOrNone = Annotated[tuple[str, ...], AfterValidator(_each_once)]
Names = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_each_once)]

THIN_WAS = {"keep_every": "thin"}
"""Name of the stride of the stored draws in samplers and jobs of the previous release."""


def _describe(schema: Document, model: type) -> None:
    from nlobayes.settings.meanings import describe

    describe(schema, model)


class Frozen(BaseModel):
    """Immutable model that refuses unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra=_describe, defer_build=True
    )
    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Names of keys in the previous release, and their new names."""

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, value: Any) -> Any:
        value = _with_new_names(value, cls.RENAMED)
        for key in value if isinstance(value, dict) else ():
            if key not in cls.model_fields:
                raise InputError("study.unknown_key", key=key, known=sorted(cls.model_fields))
            _check_no_truth(key, value[key], cls.model_fields[key].annotation)
        return value


class Choice(Frozen):
    """Settings of one member of a family, which `kind` names."""

    kind: str

    def arguments(self) -> Document:
        """Return the arguments from which the member of this name is built."""
        return self.model_dump(exclude={"kind"})


def _with_new_names(value: Any, renamed: Mapping[str, str]) -> Any:
    """Replace old keys of a mapping by new ones, with a warning; only studies have old keys."""
    if not isinstance(value, dict) or not renamed.keys() & value.keys():
        return value
    given = dict(value)
    for old in renamed.keys() & value.keys():
        warnings.warn(
            f"key {old!r} is now {renamed[old]!r}; the next release refuses the old name",
            FutureWarning,
            stacklevel=2,
        )
        given[renamed[old]] = _overridden(given.get(renamed[old]), given.pop(old))
    return given


def _overridden(base: Any, changes: Any) -> Any:
    """Override the values of a library preset by those given under the old name, key by key."""
    if not (isinstance(base, dict) and isinstance(changes, dict)):
        return changes
    return base | {key: _overridden(base.get(key), value) for key, value in changes.items()}


def _check_no_truth(key: str, given: Any, annotation: Any) -> None:
    """Refuse true and false for numbers, since Python takes them for 1 and 0."""
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, bool) and not _takes_truth(annotation):
            raise InputError("study.truth_value", where=key, given=one)


def _takes_truth(annotation: Any) -> bool:
    return annotation is bool or any(map(_takes_truth, get_args(annotation)))
