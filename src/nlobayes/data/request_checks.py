"""Check of what a dataset requests from a table: columns, units and targets, all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from nlobayes.data.column_names import check_known, closest_name, named_columns
from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.features import feature_names
from nlobayes.data.row_groups import groups_of
from nlobayes.data.selection import Request, check_requested_names, finite_numbers
from nlobayes.data.units import in_unit
from nlobayes.errors import InputError
from nlobayes.types import Table


def check_request(table: Table, request: Request, source: str) -> None:
    """Refuse a request that the table cannot meet; empty target columns are not checked.

    Raises InputError with every missing column, unsuitable unit and target that cannot be learned,
    each with the key that requests it. The fields `faults` and `places` have the code and the key
    of each.
    """
    check_requested_names([*request.features, *request.targets, *request.variations], {}, source)
    faults = [*_missing(table, request)]
    if faults:
        faults.append(InputError("data.known_columns", known=named_columns(table.columns)))
    faults += _widths(request)
    for check in _checks(table, request):
        try:
            check()
        except InputError as error:
            faults.append(error)
    if faults:
        reasons = "; ".join(map(str, faults))
        raise InputError(
            "data.request_refused",
            where=source,
            reasons=reasons,
            faults=[fault.code for fault in faults],
            places=[str(fault.where or "") for fault in faults],
        )


def declare_units(table: Table, units: Mapping[str, str], *, source: str) -> Table:
    """Set the units of columns whose header states none.

    Raises InputError if a column does not exist, or its header states another unit.
    """
    for name, unit in units.items():
        check_known(table.columns, name, source)
        given = table.units.get(name, "")
        if given not in ("", unit):
            raise InputError(
                "data.unit_declared_twice", where=source, name=name, unit=given, declared=unit
            )
    return table._replace(units={**table.units, **units})


def _missing(table: Table, request: Request) -> Iterator[InputError]:
    single = {
        "target.relative_error": request.relative_error,
        "target.error": request.error,
        "target.relative_to": request.reference,
        "groups": request.groups,
        "split.column": request.split,
    }
    columns_by_key = {
        "features.columns": request.features,
        "target.column": request.targets,
        "target.scale_variations": request.variations,
        **{key: (name,) for key, name in single.items() if name},
    }
    for key, names in columns_by_key.items():
        absent = [name for name in names if name not in table.columns]
        if absent:
            yield _absent(table, key, absent, by_default=names == request.defaults.get(key))


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


def _widths(request: Request) -> Iterator[InputError]:
    taken, given = FEATURE_MAPS[request.feature_map].COLUMNS, len(request.features)
    if taken is not None and given - len(taken) not in (0, 1):
        yield InputError(
            "data.map_of_other_columns",
            where="features.map",
            map=request.feature_map,
            count=len(taken),
            taken=taken,
            given=given,
        )
        return
    features = len(feature_names(request.feature_map, request.features))
    if request.components is not None and request.components > features:
        yield InputError(
            "data.more_components_than_features",
            where="features.components",
            components=request.components,
            features=features,
        )


def _checks(table: Table, request: Request) -> Iterator[Callable[[], object]]:
    """Yield the checks of units, and of the values of columns that were read."""
    yield partial(declare_units, table, request.declared, source="source.units")
    units = {**table.units, **request.declared}
    requested = {
        name: ("target.unit" if name in request.targets else "features.units", unit)
        for name, unit in request.units.items()
    }
    own = request.targets[0]
    target_unit = request.units.get(own, "") or units.get(own, "")
    requested |= dict.fromkeys(request.variations, ("target.scale_variations", target_unit))
    for key, column in (("relative_to", request.reference), ("error", request.error)):
        if column:
            requested[column] = (f"target.{key}", target_unit)
    for name, (key, unit) in requested.items():
        if name in table.columns:
            yield partial(in_unit, np.ones(1), name, (units.get(name, ""), unit), key)
    read = {name for name, cells in table.columns.items() if len(cells)}
    for name in filter(read.__contains__, request.targets):
        scale = "identity" if name in request.signed else request.target_scale
        yield partial(_learnable, table, name, scale)
    if request.reference in read:
        yield partial(_divides, table, request.reference, request)
    if request.groups in read:
        yield partial(groups_of, table, request.groups)


def _divides(table: Table, name: str, request: Request) -> None:
    values = finite_numbers(table, name, "target.relative_to")
    if request.target_scale == "log10" and (bad := values <= 0).any():
        raise InputError(
            "references.not_positive",
            column=name,
            count=bad.sum(),
            total=bad.size,
            row=bad.argmax() + 1,
        )
    units, own = {**table.units, **request.declared}, request.targets[0]
    if not (request.units.get(own, "") or units.get(own, "")) and units.get(name, ""):
        raise InputError("references.other_unit", column=name, received=units[name])


def _learnable(table: Table, name: str, scale: str) -> None:
    values = finite_numbers(table, name, "target.column")
    if scale == "log10" and (bad := values <= 0).any():
        raise InputError(
            "data.log10_of_not_positive",
            where="target.scale",
            name=name,
            count=bad.sum(),
            total=bad.size,
            row=bad.argmax() + 1,
        )
