"""Cross sections for GAMBIT's ColliderBit, as a Python backend: three functions, one state.

    import nlobayes.gambit as backend

    backend.set_parameters({"surrogates": ["chi1_chi2.nc"], "energy": 13000})
    backend.import_slha_string(text)
    backend.get_xsection((1000022, 1000023))  # a dict, in fb

A bundle is used as all its surrogates. The environment variable `NLOBAYES_SURROGATES` lists
surrogates too, separated as in PATH, because the C++ side of GAMBIT only sets the energy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlobayes.bundles.bundle import Bundle
from nlobayes.bundles.index import ENDING, Key
from nlobayes.bundles.surrogates import Named, load_each, twice
from nlobayes.data.slha import key_of, same_energy, spectrum_of
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import CrossSection, cross_section
from nlobayes.surrogate.domain import INSIDE, NEAR_EDGE

VARIABLE = "NLOBAYES_SURROGATES"
PARAMETERS = ("energy", "surrogates")
FB_PER_PB = 1000.0
TRUST = {INSIDE: 1, NEAR_EDGE: 0}
"""What GAMBIT understands: 1 all is well, 0 questionable, -1 not to be trusted."""
NOT_TRUSTED = -1
KEYS = ("central", "tot_err_up", "tot_err_down", "regup_rel", "regdown_rel")
SOURCES = {"regression": "reg", "scale": "scale", "pdf": "pdf", "alpha_s": "alphas"}
"""What GAMBIT calls the sources of errors."""
Answer = dict[str, float | int | str]


class Backend:
    """Surrogates by process and energy, the energy requested, and the spectrum at hand."""

    def __init__(self) -> None:
        self._surrogates: dict[Key, Named] | None = None
        self._energy: float | None = None
        self._slha: str | None = None
        self._found: dict[tuple[int, ...], Answer] = {}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Set `energy` in GeV, and `surrogates`, paths of files or of bundles, or names of these.

        Raises
        ------
        InputError
            If a parameter is unknown, or a surrogate cannot be loaded, does not know its process,
            or has the same process as another.
        """
        for name in parameters:
            if name not in PARAMETERS:
                raise InputError("surrogate.gambit_parameter", name=name, known=PARAMETERS)
        energy, surrogates = self._energy, self._surrogates
        if "energy" in parameters:
            energy = _energy(parameters["energy"])
        if "surrogates" in parameters:
            surrogates = _load(_paths(parameters["surrogates"]))
        self._energy, self._surrogates, self._found = energy, surrogates, {}

    def import_slha_string(self, slha: str) -> None:
        """Read the spectrum of SLHA text. Invalid text gives trust level -1 later."""
        if not isinstance(slha, str):
            raise InputError("surrogate.not_text", kind=type(slha).__name__)
        self._found, self._slha = {}, slha

    def get_xsection(self, pid_pair: Iterable[int]) -> Answer:
        """Return the cross section of two produced particles, in any order, by their PDG numbers.

        Returns
        -------
        `central`, the median of the predictive, in fb, `tot_err_up` and `tot_err_down`, the total
        error on each side; `regup_rel` and `regdown_rel`, that of the surrogate alone, to the ends
        of its 68 % interval, over `central` and with a sign; where the surrogate knows them those
        of theory alike, `scaleup_rel`, `pdfup_rel`, `alphasup_rel` and down (without, the total
        error is that of the surrogate); `trust_level`, 1 inside, 0 near the edge of the training
        data, -1 outside or without an answer; and `reason`, in words where it is not 1, or a check
        of the surrogate failed. Checks do not change the trust level, which shows where a point
        lies. Without an answer the numbers are NaN, not 0.
        """
        outgoing = key_of(int(number) for number in pid_pair)
        if outgoing not in self._found:
            self._found[outgoing] = self._answer(outgoing)
        return dict(self._found[outgoing])

    def _answer(self, outgoing: tuple[int, ...]) -> Answer:
        if self._slha is None:
            return _nothing("no SLHA spectrum was imported")
        if self._surrogates is None:
            self._surrogates = _load(_from_environment())
        energies = {key[1]: key for key in self._surrogates if key[0] == outgoing}
        if self._energy is not None:
            asked = self._energy
            energies = {e: key for e, key in energies.items() if same_energy(e, asked)}
        if len(energies) != 1:
            return _nothing(self._missing(outgoing, [*energies]))
        (key,) = energies.values()
        try:
            surrogate = self._surrogates[key][1]
            spectrum = spectrum_of(self._slha, "SLHA", surrogate.inputs, surrogate.held)
            return _in_fb(cross_section(surrogate, spectrum), surrogate.failed_checks)
        except InputError as error:
            return _nothing(str(error))

    def _missing(self, outgoing: tuple[int, ...], energies: list[float]) -> str:
        if energies:
            return f"surrogates at {', '.join(f'{e:g}' for e in energies)} GeV: set `energy`"
        at = "" if self._energy is None else f" at {self._energy:g} GeV"
        return f"no surrogate of {' '.join(map(str, outgoing))}{at}"


def _energy(received: Any) -> float:
    try:
        energy = float(received)
    except (TypeError, ValueError):
        energy = math.nan
    if not 0 < energy < math.inf:
        raise InputError("surrogate.gambit_energy", received=received)
    return energy


def _paths(received: Any) -> list[Path]:
    given = [received] if isinstance(received, str | Path) else received
    if not isinstance(given, list | tuple) or not all(isinstance(one, str | Path) for one in given):
        raise InputError("surrogate.gambit_surrogates", received=received)
    return [Path(one) for one in given]


def _from_environment() -> list[Path]:
    return [Path(one) for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one]


def _load(paths: Iterable[Path]) -> dict[Key, Named]:
    """Load surrogates, and those of bundles: folders, or names of bundles."""
    loaded: dict[Key, Named] = {}
    for path in paths:
        found = load_each([path]) if path.suffix == ENDING else Bundle.load(path).loaded
        for key, (name, surrogate) in found.items():
            if key in loaded:
                raise twice(name, loaded[key][0], surrogate)
            loaded[key] = name, surrogate
    return loaded


def _in_fb(found: CrossSection, failed: Mapping[str, Sequence[str]]) -> Answer:
    """Give a cross section in fb; trust is where it lies, the reason also what checks failed."""
    of, median = found.errors, FB_PER_PB * found.median
    total = {"tot_err_up": of["total_up"] * median, "tot_err_down": -of["total_down"] * median}
    relative = {
        f"{called}{side}_rel": of[f"{source}_{side}"]
        for source, called in SOURCES.items()
        for side in ("up", "down")
        if f"{source}_{side}" in of
    }
    trust = TRUST.get(found.domain, NOT_TRUSTED)
    checks = [f"{kind} failed: {', '.join(names)}" for kind, names in failed.items() if names]
    said = filter(None, ["" if trust == 1 else found.domain, found.reason, *checks])
    return {"central": median, **total, **relative, "trust_level": trust, "reason": "; ".join(said)}


def _nothing(reason: str) -> Answer:
    return {**dict.fromkeys(KEYS, math.nan), "trust_level": NOT_TRUSTED, "reason": reason}


_backend = Backend()
set_parameters = _backend.set_parameters
import_slha_string = _backend.import_slha_string
get_xsection = _backend.get_xsection
