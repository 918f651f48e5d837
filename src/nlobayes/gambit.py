"""Cross sections for GAMBIT's ColliderBit, as a Python backend of three functions.

    import nlobayes.gambit as backend

    backend.set_parameters({"surrogates": ["chi1_chi2.nc"], "energy": 13000})
    backend.import_slha_string(text)
    backend.get_xsection((1000022, 1000023))  # a dict, in fb

The functions share one state, the `Backend` of this module. A bundle stands for all its surrogates.
The environment variable `NLOBAYES_SURROGATES` also lists surrogates, separated as in PATH, because
the C++ side of GAMBIT only sets the energy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlobayes.bundles.index import ENDING, Key
from nlobayes.bundles.surrogates import Bundle, NamedSurrogate, load_each, repeated_process
from nlobayes.data.slha import key_of, same_energy, spectrum_of
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import CrossSection, cross_section
from nlobayes.surrogate.domain import INSIDE, NEAR_EDGE
from nlobayes.untyped import Facts

VARIABLE = "NLOBAYES_SURROGATES"
PARAMETERS = ("energy", "surrogates")
FB_PER_PB = 1000.0
TRUST = {INSIDE: 1, NEAR_EDGE: 0}
"""Trust levels of GAMBIT: 1 for reliable, 0 for questionable and -1 for unreliable values."""
NOT_TRUSTED = -1
KEYS = ("central", "tot_err_up", "tot_err_down", "regup_rel", "regdown_rel")
SOURCES = {"regression": "reg", "scale": "scale", "pdf": "pdf", "alpha_s": "alphas"}
"""Names of the sources of errors in GAMBIT."""
Answer = dict[str, float | int | str]


class Backend:
    """State of the backend: surrogates by process and energy, requested energy, and spectrum."""

    def __init__(self) -> None:
        self._surrogates: dict[Key, NamedSurrogate] | None = None
        self._energy: float | None = None
        self._slha: str | None = None
        self._answers: dict[tuple[int, ...], Answer] = {}

    def set_parameters(self, parameters: Facts) -> None:
        """Set `energy` in GeV, and `surrogates`: paths of files or bundles, or names of bundles.

        Raises
        ------
        InputError
            If a parameter is unknown, or a surrogate cannot be loaded, does not store its process,
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
        self._energy, self._surrogates, self._answers = energy, surrogates, {}

    def import_slha_string(self, slha: str) -> None:
        """Set the spectrum as SLHA text. Invalid text gives trust level -1 later."""
        if not isinstance(slha, str):
            raise InputError("surrogate.not_text", kind=type(slha).__name__)
        self._answers, self._slha = {}, slha

    def get_xsection(self, pid_pair: Iterable[int]) -> Answer:
        """Return the cross section of two produced particles, in any order, by their PDG numbers.

        The answer is a dictionary:

        - `central`: median of the predictive, in fb;
        - `tot_err_up`, `tot_err_down`: total error on each side, in fb, which is that of the
          surrogate alone if it has no theory errors;
        - `regup_rel`, `regdown_rel`: error of the surrogate alone, from the median to the ends of
          its 68 % interval, over `central` and with a sign;
        - `scaleup_rel`, `pdfup_rel`, `alphasup_rel` and the same with `down`: theory errors in the
          same form, if the surrogate has them;
        - `trust_level`: 1 inside the training data, 0 near their edge, -1 outside them or without a
          prediction. Failed checks do not change it;
        - `reason`: why the trust level is below 1, and which checks of the surrogate failed.

        Without a prediction the numbers are NaN. They are 0 where the Born cross section vanishes.
        """
        outgoing = key_of(int(number) for number in pid_pair)
        if outgoing not in self._answers:
            self._answers[outgoing] = self._answer(outgoing)
        return dict(self._answers[outgoing])

    def _answer(self, outgoing: tuple[int, ...]) -> Answer:
        if self._slha is None:
            return _nothing("no SLHA spectrum was imported")
        if self._surrogates is None:
            self._surrogates = _load(_from_environment())
        energies = {key[1]: key for key in self._surrogates if key[0] == outgoing}
        if self._energy is not None:
            requested = self._energy
            energies = {e: key for e, key in energies.items() if same_energy(e, requested)}
        if len(energies) != 1:
            return _nothing(self._missing(outgoing, [*energies]))
        (key,) = energies.values()
        try:
            surrogate = self._surrogates[key][1]
            spectrum = spectrum_of(self._slha, "SLHA", surrogate.inputs, surrogate.condition_names)
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
    paths = [received] if isinstance(received, str | Path) else received
    if not isinstance(paths, list | tuple) or not all(isinstance(p, str | Path) for p in paths):
        raise InputError("surrogate.gambit_surrogates", received=received)
    return [Path(path) for path in paths]


def _from_environment() -> list[Path]:
    return [Path(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]


def _load(paths: Iterable[Path]) -> dict[Key, NamedSurrogate]:
    """Load surrogate files, and the surrogates of bundles given by folder or name."""
    loaded: dict[Key, NamedSurrogate] = {}
    for path in paths:
        found = load_each([path]) if path.suffix == ENDING else Bundle.load(path).loaded
        for key, (name, surrogate) in found.items():
            if key in loaded:
                raise repeated_process(name, loaded[key][0], surrogate)
            loaded[key] = name, surrogate
    return loaded


def _in_fb(predicted: CrossSection, failed: Mapping[str, Sequence[str]]) -> Answer:
    """Convert a cross section in pb to an answer in fb, with the names of failed checks."""
    errors, median = predicted.errors, FB_PER_PB * predicted.median
    up, down = (errors[f"total_{side}"] * median for side in ("up", "down"))
    total = {"tot_err_up": up, "tot_err_down": -down}
    relative = {
        f"{name}{side}_rel": errors[f"{source}_{side}"]
        for source, name in SOURCES.items()
        for side in ("up", "down")
        if f"{source}_{side}" in errors
    }
    trust = TRUST.get(predicted.domain, NOT_TRUSTED)
    checks = [f"{kind} failed: {', '.join(names)}" for kind, names in failed.items() if names]
    parts = filter(None, ["" if trust == 1 else predicted.domain, predicted.reason, *checks])
    reason = "; ".join(parts)
    return {"central": median, **total, **relative, "trust_level": trust, "reason": reason}


def _nothing(reason: str) -> Answer:
    return {**dict.fromkeys(KEYS, math.nan), "trust_level": NOT_TRUSTED, "reason": reason}


_backend = Backend()
set_parameters = _backend.set_parameters
import_slha_string = _backend.import_slha_string
get_xsection = _backend.get_xsection
