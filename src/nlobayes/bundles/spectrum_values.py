"""Values of one spectrum for several surrogates, some of which may need what it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nlobayes.data.fixed_parameters import unit_of_parameter
from nlobayes.data.slha import spectrum_of
from nlobayes.data.slha_blocks import read_text
from nlobayes.errors import InputError
from nlobayes.surrogate.point_arrays import values_of

Spectrum = Any
"""An SLHA file, SLHA text of several lines, or values by the names of columns (masses in GeV): a
mapping, or a row of a frame."""
Point = Mapping[str, float] | InputError
"""Values by the names of inputs and conditions, or why they cannot be read."""


class Needs(NamedTuple):
    """Inputs and conditions of a surrogate: for the name of each, its name in the spectrum."""

    inputs: Mapping[str, str]
    conditions: Mapping[str, str]


def points_of(given: Spectrum, needs: Sequence[Needs]) -> list[Point]:
    """Read what each surrogate needs, and no other blocks of an SLHA file.

    Raises InputError if the spectrum is neither a file that can be read nor one named point.
    """
    if not isinstance(given, str | Path):
        names = {name for each in needs for of in each for name in of.values()}
        given_values = values_of(given, names)
        return [_point(given_values, each) for each in needs]
    is_text = isinstance(given, str) and "\n" in given
    text, source = (str(given), "SLHA") if is_text else (read_text(Path(given)), str(given))
    try:
        values = _read(text, source, needs)
    except InputError:  # of one surrogate or another: each is read alone
        return [_point_alone(text, source, each) for each in needs]
    return [_point(values, each) for each in needs]


def _read(text: str, source: str, needs: Iterable[Needs]) -> Mapping[str, float]:
    inputs = {name for each in needs for name in each.inputs.values()}
    conditions = {name for each in needs for name in each.conditions.values()}
    columns = inputs | {name for name in conditions if not unit_of_parameter(name)}
    return spectrum_of(text, source, columns, columns | conditions)


def _point_alone(text: str, source: str, needs: Needs) -> Point:
    try:
        return _point(_read(text, source, [needs]), needs)
    except InputError as error:
        return error


def _point(values: Mapping[str, float], needs: Needs) -> Point:
    named = {**needs.inputs, **needs.conditions}
    point = {own: values[name] for own, name in named.items() if name in values}
    missing = [name for own, name in needs.inputs.items() if own not in point]
    return InputError("surrogate.not_in_spectrum", missing=missing) if missing else point
