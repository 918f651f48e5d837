"""Requests of a dataset on a table, compared with header and targets: all errors at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from nlobayes.data.csv_text import check_separated, closest_name, named_columns
from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.features import feature_names
from nlobayes.data.row_groups import groups_of
from nlobayes.data.splits import bounds_of_parts
from nlobayes.data.tables import check_requested_names, finite_numbers
from nlobayes.data.units import declare_units, in_unit
from nlobayes.errors import InputError
from nlobayes.types import Table


class Request(NamedTuple):
    """The requests on a table.

    Attributes
    ----------
    features, targets, variations
        Names of columns.
    relative_error
        Name of a column; None where there is none.
    declared
        Unit of each column that does not name its own.
    feature_units, target_unit
        Units that are requested; empty for a column without one.
    feature_map, target_scale
        Names of what is made of features and of targets.
    defaults
        Names that are requested without a choice of the user, by key.
    reference
        Name of the column that the target is learned relative to; None where there is none.
    groups
        Name of the column that names groups of rows; None where there is none.
    components
        How many principal components replace the features; None where these are seen.
    error
        Name of the column with the sd of each target; None where there is none.
    """

    features: tuple[str, ...]
    targets: tuple[str, ...]
    variations: tuple[str, ...]
    relative_error: str | None
    declared: Mapping[str, str]
    feature_units: Mapping[str, str]
    target_unit: str
    feature_map: str
    target_scale: str
    defaults: Mapping[str, tuple[str, ...]]
    reference: str | None = None
    groups: str | None = None
    components: int | None = None
    error: str | None = None


def check_request(table: Table, asked: Request, source: str) -> None:
    """Refuse what a table cannot give; target columns without values are not checked.

    Raises
    ------
    InputError
        Naming every column that is missing, unit that does not fit and target that cannot be
        learned, each with the key that requests it. Its fields `faults` and `places` have an entry
        for each: the code, and the key.
    """
    check_requested_names([*asked.features, *asked.targets, *asked.variations], {}, source)
    faults = [*_missing(table, asked)]
    if faults:
        check_separated(table.columns, faults[0].fields["columns"][0], source)
        faults.append(InputError("data.known_columns", known=named_columns(table.columns)))
    for check in (_widths, _declared, _units, _values, _references, _groups):
        faults += check(table, asked)
    if faults:
        said = "; ".join(map(str, faults))
        raise InputError(
            "data.request_refused",
            where=source,
            said=said,
            faults=[fault.code for fault in faults],
            places=[str(fault.where or "") for fault in faults],
        )


def check_rows_of_splits(
    count: int,
    sizes: Sequence[float],
    train_from: int,
    validation_from: int | None,
    classes: np.ndarray | None = None,
) -> None:
    """Refuse splits that so many rows cannot fill; arguments and errors as `split_rows`."""
    for _ in bounds_of_parts(np.arange(count), classes, sizes, train_from, validation_from):
        pass


def _missing(table: Table, asked: Request) -> Iterator[InputError]:
    single = {
        "target.relative_error": asked.relative_error,
        "target.error": asked.error,
        "target.relative_to": asked.reference,
        "groups": asked.groups,
    }
    wanted = {
        "features.columns": asked.features,
        "target.column": asked.targets,
        "target.scale_variations": asked.variations,
        **{key: (name,) for key, name in single.items() if name},
    }
    for key, names in wanted.items():
        absent = [name for name in names if name not in table.columns]
        if absent:
            yield _absent(table, key, absent, by_default=names == asked.defaults.get(key))


def _absent(table: Table, key: str, columns: list[str], *, by_default: bool) -> InputError:
    named = [_with_hint(table, name) for name in columns]
    if not by_default:
        return InputError("data.columns_absent", where=key, columns=columns, named=named)
    if key == "features.columns":
        return InputError("data.default_features_absent", where=key, columns=columns, named=named)
    return InputError("data.default_target_absent", where=key, columns=columns, named=named)


def _with_hint(table: Table, name: str) -> str:
    meant = closest_name(table.columns, name)
    return f"{name!r} (did you mean {meant!r}?)" if meant else repr(name)


def _widths(table: Table, asked: Request) -> Iterator[InputError]:
    taken, given = FEATURE_MAPS[asked.feature_map].COLUMNS, len(asked.features)
    if taken is not None and given - len(taken) not in (0, 1):
        yield InputError(
            "data.map_of_other_columns",
            where="features.map",
            map=asked.feature_map,
            count=len(taken),
            taken=taken,
            given=given,
        )
        return
    features = len(feature_names(asked.feature_map, asked.features))
    if asked.components is not None and asked.components > features:
        yield InputError(
            "data.more_components_than_features",
            where="features.components",
            components=asked.components,
            features=features,
        )


def _declared(table: Table, asked: Request) -> list[InputError]:
    return _said(partial(declare_units, source="source.units"), table, asked.declared)


def _units(table: Table, asked: Request) -> list[InputError]:
    own = {**table.units, **asked.declared}
    wanted = {name: ("features.units", unit) for name, unit in asked.feature_units.items()}
    wanted |= dict.fromkeys(asked.targets, ("target.unit", asked.target_unit))
    of_target = asked.target_unit or own.get(asked.targets[0], "")
    wanted |= dict.fromkeys(asked.variations, ("target.scale_variations", of_target))
    for key, column in (("relative_to", asked.reference), ("error", asked.error)):
        if column:
            wanted[column] = (f"target.{key}", of_target)
    return [
        fault
        for name, (key, unit) in wanted.items()
        if name in table.columns
        for fault in _said(_convert, name, (own.get(name, ""), unit), key)
    ]


def _convert(name: str, units: tuple[str, str], key: str) -> None:
    in_unit(np.ones(1), name, units, key)


def _values(table: Table, asked: Request) -> list[InputError]:
    known = [name for name in asked.targets if len(table.columns.get(name, ()))]
    return [fault for name in known for fault in _said(_learnable, table, name, asked.target_scale)]


def _references(table: Table, asked: Request) -> list[InputError]:
    if asked.reference is None or not len(table.columns.get(asked.reference, ())):
        return []
    return _said(_divides, table, asked.reference, asked)


def _groups(table: Table, asked: Request) -> list[InputError]:
    if asked.groups is None or not len(table.columns.get(asked.groups, ())):
        return []
    return _said(groups_of, table, asked.groups)


def _divides(table: Table, name: str, asked: Request) -> None:
    values = finite_numbers(table, name, "target.relative_to")
    bad = np.flatnonzero(values <= 0)
    if asked.target_scale == "log10" and bad.size:
        raise InputError(
            "references.not_positive",
            count=bad.size,
            total=values.size,
            column=name,
            row=bad[0] + 1,
        )
    own = {**table.units, **asked.declared}
    if not (asked.target_unit or own.get(asked.targets[0], "")) and own.get(name, ""):
        raise InputError("references.other_unit", column=name, received=own[name])


def _learnable(table: Table, name: str, scale: str) -> None:
    values = finite_numbers(table, name, "target.column")
    bad = np.flatnonzero(values <= 0)
    if scale == "log10" and bad.size:
        raise InputError(
            "data.log10_of_not_positive",
            where="target.scale",
            name=name,
            count=bad.size,
            total=values.size,
            row=bad[0] + 1,
        )


def _said(check: Callable[..., object], *arguments: object) -> list[InputError]:
    try:
        check(*arguments)
    except InputError as error:
        return [error]
    return []
