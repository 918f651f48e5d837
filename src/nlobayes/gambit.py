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

import numpy as np

from nlobayes.bundles.index import ENDING
from nlobayes.bundles.requests import Order, check_order
from nlobayes.bundles.surrogates import Bundle
from nlobayes.data.slha import key_of
from nlobayes.errors import InputError
from nlobayes.surrogate.acceptance import CONFIDENCE, SHARE, check_limits
from nlobayes.surrogate.cross_section import CrossSection
from nlobayes.surrogate.domain import INSIDE, NEAR_EDGE
from nlobayes.surrogate.theory import REGRESSION, SIDES
from nlobayes.untyped import Facts

VARIABLE = "NLOBAYES_SURROGATES"
PARAMETERS = ("energy", "max_error", "order", "surrogates")
FB_PER_PB = 1000.0
TRUST = {INSIDE: 1, NEAR_EDGE: 0}
"""Trust levels of GAMBIT: 1 for reliable, 0 for questionable and -1 for unreliable values."""
NOT_TRUSTED = -1
KEYS = ("central", "tot_err_up", "tot_err_down", "regup_rel", "regdown_rel")
SOURCES = {"regression": "reg", "scale": "scale", "pdf": "pdf", "alpha_s": "alphas"}
"""Names of the sources of errors in GAMBIT."""
Answer = dict[str, float | int | str]


class Backend:
    """State of the backend: surrogates as one bundle, requested energy and order, and spectrum."""

    def __init__(self) -> None:
        self._bundle: Bundle | None = None
        self._energy: float | None = None
        self._order: Order = None
        self._max_error: float | None = None
        self._slha: str | None = None
        self._answers: dict[tuple[int, ...], Answer] = {}

    def set_parameters(self, parameters: Facts) -> None:
        """Set `energy` in GeV, `order`, and `surrogates`: paths of files or bundles, or names.

        Without `order` the entry of a process that applies to the spectrum is taken, as by
        `Bundle.predict`. With a relative `max_error`, such as 0.01, a cross section that
        `Surrogate.accepted` does not accept has trust level -1; None accepts all.

        Raises
        ------
        InputError
            If a parameter is unknown, or a surrogate cannot be loaded, does not store its process,
            or has the same name as another; or if `max_error` is not between 0 and 1.
        """
        for name in parameters:
            if name not in PARAMETERS:
                raise InputError("surrogate.gambit_parameter", name=name, known=PARAMETERS)
        energy, bundle = self._energy, self._bundle
        order = parameters.get("order", self._order)
        check_order(order)
        max_error = parameters.get("max_error", self._max_error)
        if max_error is not None:
            check_limits(max_error, SHARE, CONFIDENCE)
        if "energy" in parameters:
            energy = _energy(parameters["energy"])
        if "surrogates" in parameters:
            bundle = _load(_paths(parameters["surrogates"]))
        self._energy, self._order, self._bundle, self._answers = energy, order, bundle, {}
        self._max_error = max_error

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
        - `trust_level`: 1 inside the training data, 0 near their edge, -1 outside them, without a
          prediction, or if `max_error` is set and the cross section is not accepted. Failed checks
          do not change it;
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
        if self._bundle is None:
            self._bundle = _load(_from_environment())
        if not self._bundle.entries:
            return _nothing(f"no surrogates: set `surrogates`, or {VARIABLE}")
        try:
            found = self._bundle.predict(self._slha, [outgoing], self._energy, self._order)
        except InputError as error:
            return _nothing(str(error))
        section = found[outgoing]
        entry = self._bundle.entry(section.entry)
        if entry.inclusive:
            return _nothing(f"the cross section is only known in a sum: {entry.inclusive}")
        answer = _answer_in_fb(section, entry.failed_checks)
        if self._max_error is not None and (reason := self._not_accepted(section)):
            reasons = "; ".join(filter(None, [reason, str(answer["reason"])]))
            return {**answer, "trust_level": NOT_TRUSTED, "reason": reasons}
        return answer

    def _not_accepted(self, section: CrossSection) -> str:
        """Say why a cross section does not keep the largest error; empty if it is accepted."""
        assert self._bundle is not None
        assert self._max_error is not None
        try:
            threshold = self._bundle.surrogates[section.entry].threshold(self._max_error)
        except InputError as error:
            return str(error)
        sides = (abs(section.errors.get(f"{REGRESSION}_{side}", math.nan)) for side in SIDES)
        stated = np.array([max(sides)])
        if threshold.accepts(stated, np.array([section.domain]))[0]:
            return ""
        return f"not accepted: the prediction states an error of {100 * stated[0]:.3g} %"


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


def _load(paths: Iterable[Path]) -> Bundle:
    """Load surrogate files, and the surrogates of bundles given by folder or name."""
    return Bundle.of(*(path if path.suffix == ENDING else Bundle.load(path) for path in paths))


def _answer_in_fb(predicted: CrossSection, failed: Mapping[str, Sequence[str]]) -> Answer:
    """Convert a cross section in pb to an answer in fb, with the names of failed checks."""
    errors, median = predicted.errors, FB_PER_PB * predicted.median
    if math.isnan(median) and not errors:
        return _nothing(predicted.reason)
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
