"""A cross section that the embedded engine computes at the masses and mixings of points.

Settings are `{calculation, pair, sqrt_s_tev, squark_mass_gev, mu_over_q, engine,
parton_distributions, unit}`. With charginos or sleptons, `process`, two particle numbers, replaces
`pair`, and sleptons have no `squark_mass_gev`. `columns` may state what stands for a column of the
process: a number, or another column of the points, with a minus for its negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nlobayes.data.fixed_parameters import SQUARKS
from nlobayes.data.references import Reference, Settings
from nlobayes.data.units import CROSS_SECTION, UNITS, convert
from nlobayes.errors import InputError
from nlobayes.physics import ENGINE_VERSION
from nlobayes.physics.partonic import pair_at
from nlobayes.physics.processes import KNOWN, columns_of, make_process, name_of, neutralino_pair
from nlobayes.untyped import Array, Document

ORDERS: dict[tuple[str, float], str] = {
    ("born", 1.0): "lo_pb",
    ("nlo", 1.0): "nlo_pb",
    ("nlo", 0.5): "scale_up_pb",
    ("nlo", 2.0): "scale_down_pb",
}
"""Field of `CrossSections` by calculation and mu / Q."""
PAIRS = [[i, j] for i in range(1, 5) for j in range(i, 5)]


class Calculation(Reference):
    """A calculation of a process, which may still be open."""

    def __init__(
        self,
        *,
        calculation: str,
        pair: tuple[int, int] | None = None,
        process: Sequence[int] = (),
        sqrt_s_tev: float = 13.0,
        squark_mass_gev: float | str = 3000.0,
        mu_over_q: float = 1.0,
        columns: Mapping[str, float | str] | None = None,
        engine: str = ENGINE_VERSION,
        parton_distributions: str = "",
        unit: str = "",
    ) -> None:
        self.name, self.unit = calculation, unit
        self.particles = (*neutralino_pair(pair),) if pair else (*process,)
        own = [columns_of(particle) for particle in self.particles]
        of_process = dict.fromkeys(name for names in own for name in names)
        self._given = {name: (columns or {}).get(name, name) for name in of_process}
        squarks = [squark_mass_gev] if isinstance(squark_mass_gev, str) else []
        self.columns = (*dict.fromkeys(filter(None, map(_column, self._given.values()))), *squarks)
        masses = (_column(self._given[names[0]]) for names in own)
        self.masses = [*dict.fromkeys(filter(None, masses)), *squarks]
        at = "" if mu_over_q == 1 else f" at mu = {mu_over_q:g} Q"
        self.in_words = f"{calculation} of {' '.join(map(name_of, self.particles))}{at}"
        mass = f"of column {squarks[0]}" if squarks else f"of {squark_mass_gev:g} GeV"
        with_squarks = "" if _of_sleptons(self.particles) else f" squarks {mass},"
        self.meaning = (
            f"{calculation} of the embedded engine at every point: {sqrt_s_tev:g} TeV,"
            f"{with_squarks} mu = {mu_over_q:g} Q"
        )
        self._order = ORDERS[calculation, float(mu_over_q)]
        self._squarks, self._sqrt_s_tev, self._engine = squark_mass_gev, sqrt_s_tev, engine

    def at(self, named: Mapping[str, Array]) -> Array:
        """Evaluate the engine.

        The import of SciPy is here because surrogates without such a reference do not need it.
        """
        from nlobayes.physics.hadronic import beams_at, by_exchange

        like = named[self.columns[0]]
        points = {name: _values(given, named, like) for name, given in self._given.items()}
        pair = pair_at(make_process(*self.particles), points)
        squarks = _values(self._squarks, named, like)
        beams = beams_at(float(self._sqrt_s_tev))
        (found,) = by_exchange(pair, squarks, beams, (self._order,))
        return convert(found.sum(axis=0), "pb", self.unit)

    def allowed(self, which: str) -> str:
        """Describe the masses that the engine takes."""
        from nlobayes.physics.hadronic import ALLOWED

        return f"a {which} {self.name} cross section: {ALLOWED}"

    def check_units(self, units: Mapping[str, str]) -> None:
        """Refuse masses in another unit than GeV, and targets that are no cross section."""
        if UNITS.get(self.unit, ("",))[0] != CROSS_SECTION:
            raise InputError("references.target_unit", received=self.unit)
        for name in self.masses:
            if units.get(name, "") != "GeV":
                raise InputError("references.mass_unit", column=name, received=units.get(name, ""))

    def check_version(self) -> None:
        """Refuse another version of the engine, whose numbers may differ."""
        if self._engine != ENGINE_VERSION:
            raise InputError(
                "references.other_engine", received=self._engine, allowed=ENGINE_VERSION
            )


build = Calculation


def facts() -> Document:
    """State the version of the engine, and its parton distributions."""
    from nlobayes.physics.pdf import MSTW2008_NLO

    return {"engine": ENGINE_VERSION, "parton_distributions": MSTW2008_NLO.name}


def is_whole(settings: Settings) -> bool:
    """Return whether the settings have every key, with a value that the engine takes."""
    of_process = "process" in settings
    squarks = {} if _of_sleptons(settings.get("process")) else {"squark_mass_gev": _is_squark_mass}
    rules: dict[str, Callable[[Any], bool]] = {
        "calculation": lambda v: isinstance(v, str),
        **({"process": _is_process} if of_process else {"pair": lambda v: v in PAIRS}),
        "sqrt_s_tev": lambda v: _is_number(v) and 7 <= v <= 14,
        **squarks,
        **({"columns": lambda v: _are_columns(v, settings)} if "columns" in settings else {}),
        "mu_over_q": lambda v: _is_number(v) and (settings["calculation"], float(v)) in ORDERS,
        "engine": lambda v: isinstance(v, str) and v.isprintable(),
        "parton_distributions": lambda v: isinstance(v, str) and v.isprintable(),
        "unit": lambda v: UNITS.get(v, ("",))[0] == CROSS_SECTION,
    }
    allowed = settings.keys() == rules.keys()
    return allowed and all(rule(settings[name]) for name, rule in rules.items())


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= 1e100


def _is_squark_mass(value: Any) -> bool:
    return value == SQUARKS or (_is_number(value) and value >= 2000)


def _is_process(value: Any) -> bool:
    """Return whether a value from a file is a process, in its order, but not of neutralinos."""
    if not isinstance(value, list) or len(value) != 2 or not all(one in KNOWN for one in value):
        return False
    try:
        process = make_process(*value)
    except InputError:
        return False
    return [*process] == value and not process.of_neutralinos


def _of_sleptons(particles: Any) -> bool:
    is_process = isinstance(particles, list | tuple) and _is_process([*particles])
    return is_process and make_process(*particles).of_sleptons


def _are_columns(value: Any, settings: Settings) -> bool:
    """Return whether a value from a file states what stands for columns; one remains a column."""
    pair = settings.get("pair")
    needed = (neutralino_pair(pair) if pair else make_process(*settings["process"])).columns
    if not isinstance(value, dict) or not value.keys() <= {*needed}:
        return False
    given = [value.get(name, name) for name in needed]
    names = [one for one in given if isinstance(one, str)]
    numbers = [one for one in given if not isinstance(one, str)]
    are_names = all(one.isprintable() and _column(one) for one in names)
    return bool(names) and are_names and all(map(_is_number, numbers))


def _column(given: float | str) -> str:
    """Name the column of the points that stands for one of the process; empty for a number."""
    return given.removeprefix("-") if isinstance(given, str) else ""


def _values(given: float | str, named: Mapping[str, Array], like: Array) -> Array:
    """Return a column of the points, its negative, or a number for all points (point,)."""
    if not isinstance(given, str):
        return like.__array_namespace__().full_like(like, float(given))
    values = named[_column(given)]
    return -values if given.startswith("-") else values
