"""The reference of a target: a known cross section, relative to which the network learns the rest.

Settings of a reference are plain values, which datasets and surrogates store. `{column, unit}`
names a column of the table. `{calculation, pair, sqrt_s_tev, squark_mass_gev, mu_over_q, engine,
parton_distributions, unit}` is the embedded engine, evaluated at masses and mixings; with
charginos, `process`, two particle numbers, replaces `pair`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nlobayes.data.physics.partonic import Particle, pair_of
from nlobayes.data.physics.version import ENGINE_VERSION
from nlobayes.data.processes import KNOWN, Process, columns_of, make_process, neutralino_pair
from nlobayes.data.units import UNITS, convert
from nlobayes.errors import InputError

ORDERS: dict[tuple[str, float], str] = {
    ("born", 1.0): "lo_pb",
    ("nlo", 1.0): "nlo_pb",
    ("nlo", 0.5): "scale_up_pb",
    ("nlo", 2.0): "scale_down_pb",
}
"""Field of `CrossSections` by calculation and mu / Q."""
PAIRS = [[i, j] for i in range(1, 5) for j in range(i, 5)]
SQUARK_COLUMN = "msq"

Settings = Mapping[str, Any]


def completed(settings: Settings, unit: str) -> dict[str, Any]:
    """Add the unit of the reference, and the engine that computes it, to settings."""
    if "column" in settings:
        return {**settings, "unit": unit}
    from nlobayes.data.physics.pdf import MSTW2008_NLO

    engine = {"engine": ENGINE_VERSION, "parton_distributions": MSTW2008_NLO.name}
    return {**settings, **engine, "unit": unit}


def columns_behind(settings: Settings | None) -> tuple[str, ...]:
    """Name the columns that points must have after the inputs of the network."""
    return () if settings is None or "column" not in settings else (settings["column"],)


def columns_needed(settings: Settings) -> tuple[str, ...]:
    """Name the columns that points must have."""
    if "column" in settings:
        return (settings["column"],)
    return (*_process_of(settings).columns, *_squark_column(settings))


def is_reference(value: Any) -> bool:
    """Return whether a value from a file holds complete settings of a reference."""
    if not isinstance(value, dict) or not isinstance(value.get("unit"), str):
        return False
    if "column" in value:
        return value.keys() == {"column", "unit"} and isinstance(value["column"], str)
    rules: dict[str, Callable[[Any], bool]] = {
        "calculation": lambda v: isinstance(v, str),
        **({"process": _has_chargino} if "process" in value else {"pair": lambda v: v in PAIRS}),
        "sqrt_s_tev": lambda v: _is_number(v) and 7 <= v <= 14,
        "squark_mass_gev": lambda v: v == SQUARK_COLUMN or (_is_number(v) and v >= 2000),
        "mu_over_q": lambda v: _is_number(v) and (value["calculation"], float(v)) in ORDERS,
        "engine": lambda v: isinstance(v, str) and v.isprintable(),
        "parton_distributions": lambda v: isinstance(v, str) and v.isprintable(),
        "unit": lambda v: UNITS.get(v, ("",))[0] == UNITS["pb"][0],
    }
    return value.keys() == rules.keys() and all(rule(value[name]) for name, rule in rules.items())


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= 1e100


def check_version(settings: Settings | None) -> None:
    """Refuse a reference of another version of the engine, whose numbers may differ.

    Raises
    ------
    InputError
        If the versions differ.
    """
    if settings is not None and settings.get("engine", ENGINE_VERSION) != ENGINE_VERSION:
        raise InputError(
            "references.other_engine", received=settings["engine"], allowed=ENGINE_VERSION
        )


def reference_at(
    settings: Settings, points: np.ndarray, names: Sequence[str], scale: str
) -> np.ndarray:
    """Compute the reference of points (point, column) with these column names; shape (point,).

    It is NaN outside the domain: for a mass below m_Z / 2 or above 1100 GeV, squarks below 2 TeV,
    or on the scale log10 a value that is not positive.
    """
    named = dict(zip(names, np.asarray(points, np.float64).T, strict=True))
    values = named[settings["column"]] if "column" in settings else calculated(settings, named)
    return np.where(
        _has_logarithm(values) if scale == "log10" else np.isfinite(values), values, np.nan
    )


def _has_logarithm(values: np.ndarray) -> np.ndarray:
    """Return which values are finite and positive."""
    return np.isfinite(values) & (values > 0)


def allowed(settings: Settings, scale: str) -> str:
    """Describe the points that have a reference."""
    which = "positive" if scale == "log10" else "finite"
    if "column" in settings:
        return f"{which} {settings['column']}"
    from nlobayes.data.physics.points import ALLOWED

    return f"a {which} {settings['calculation']} cross section: {ALLOWED}"


def units_of(settings: Settings | None) -> dict[str, str]:
    """Return the unit of the column of a reference, by its name."""
    return {} if settings is None else {n: settings["unit"] for n in columns_behind(settings)}


def check_known(settings: Settings, values: np.ndarray, scale: str) -> None:
    """Refuse rows without a reference (row,).

    Raises
    ------
    InputError
        If there are any; the error counts them and names the first.
    """
    bad = np.flatnonzero(np.isnan(values)) + 1
    if bad.size:
        raise InputError(
            "references.no_reference",
            what=settings.get("column", settings.get("calculation")),
            count=bad.size,
            total=len(values),
            rows=[*bad[:5].tolist(), *(["..."] if bad.size > 5 else [])],
            allowed=allowed(settings, scale),
        )


def check_units(settings: Settings, units: Mapping[str, str]) -> None:
    """Refuse masses in a unit that the engine does not take, and targets that are no cross section.

    Raises
    ------
    InputError
        If there is one.
    """
    if "column" in settings:
        return
    if UNITS.get(settings["unit"]) is None or UNITS[settings["unit"]][0] != UNITS["pb"][0]:
        raise InputError("references.target_unit", received=settings["unit"])
    for name in _masses(settings):
        if units.get(name, "") != "GeV":
            raise InputError("references.mass_unit", column=name, received=units.get(name, ""))


def _has_chargino(value: Any) -> bool:
    """Return whether a value from a file is a process with charginos, in the order of `Process`."""
    if not isinstance(value, list) or len(value) != 2 or not all(one in KNOWN for one in value):
        return False
    try:
        process = make_process(*value)
    except InputError:
        return False
    return [*process] == value and not process.of_neutralinos


def _process_of(settings: Settings) -> Process:
    if "process" in settings:
        return make_process(*settings["process"])
    return neutralino_pair(settings["pair"])


def _masses(settings: Settings) -> list[str]:
    masses = (columns_of(particle)[0] for particle in _process_of(settings))
    return [*dict.fromkeys(masses), *_squark_column(settings)]


def _squark_column(settings: Settings) -> list[str]:
    return [SQUARK_COLUMN] if settings["squark_mass_gev"] == SQUARK_COLUMN else []


def calculated(settings: Settings, named: Mapping[str, np.ndarray]) -> np.ndarray:
    """Evaluate the engine at named columns of NumPy or JAX, in the unit of the reference.

    The result (point,) is NaN outside the domain. The import of SciPy is here because surrogates
    without such a reference do not need it.
    """
    from nlobayes.data.physics.points import by_exchange_at

    process = _process_of(settings)
    pair = pair_of(process, *(_particle(named, number) for number in process))
    stated = settings["squark_mass_gev"]
    mass = pair.first_mass_gev
    xp = mass.__array_namespace__()
    squarks = named[stated] if stated == SQUARK_COLUMN else xp.full_like(mass, float(stated))
    chosen = ORDERS[settings["calculation"], float(settings["mu_over_q"])]
    (found,) = by_exchange_at(pair, squarks, float(settings["sqrt_s_tev"]), (chosen,))
    return convert(found.sum(axis=0), "pb", settings["unit"])


def _particle(named: Mapping[str, np.ndarray], number: int) -> Particle:
    """Select the masses of a particle and its mixings, as m1 and n11 to n14."""
    mass, *mixings = columns_of(number)
    xp = named[mass].__array_namespace__()
    return named[mass], xp.column_stack([named[name] for name in mixings])
