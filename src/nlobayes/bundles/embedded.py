"""NLO cross sections of the embedded engine, for processes without an entry that applies.

Entries of pure states do not apply to mixed ones; the engine takes masses and mixings as they are.
It has no error of a regression; its scale errors are those of both scales at half and at twice the
invariant mass of the pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from nlobayes.bundles.spectrum_values import Needs
from nlobayes.data.fixed_parameters import SQUARKS
from nlobayes.errors import InputError
from nlobayes.physics import ENGINE_VERSION
from nlobayes.physics.processes import make_process
from nlobayes.surrogate.cross_section import CrossSection, nothing
from nlobayes.surrogate.domain import INSIDE
from nlobayes.surrogate.theory import REGRESSION, RULES, with_total

ENGINE = "embedded engine"
"""Name of the engine in place of that of an entry."""
ORDER, SCALES = "NLO QCD", "mu = Q for sigma_pb"
REASON = "NLO of the embedded engine for these masses and mixings"
ALL_DECOUPLED = "squarks are not given and count as decoupled"


def origin() -> dict[str, str]:
    """State order, parton distributions and version of the engine."""
    from nlobayes.physics.pdf import MSTW2008_NLO

    engine = f"nlobayes embedded NLO engine, version {ENGINE_VERSION}"
    return {"order": ORDER, "parton_distributions": MSTW2008_NLO.name, "engine": engine}


def needs_of(pair: tuple[int, ...]) -> Needs | None:
    """Name the masses and mixings of a process; None if the engine does not have it."""
    try:
        columns = make_process(*pair).columns
    except InputError:
        return None
    return Needs({name: name for name in columns}, {SQUARKS: SQUARKS})


def taken_to(
    found: CrossSection,
    pair: tuple[int, ...],
    point: Mapping[str, float],
    energies: tuple[float, float],
) -> CrossSection:
    """Take the cross section of a process from one energy in GeV to another.

    The ratio is that of the engine's NLO. Relative errors stay as they are.
    """
    if math.isnan(found.median):
        return found
    before, after = (by_engine(pair, point, energy) for energy in energies)
    ratio = after.median / before.median
    if math.isnan(ratio):
        return nothing(after.reason)._replace(entry=found.entry)
    own, other = (f"{energy / 1000:g}" for energy in energies)
    said = f"from {own} to {other} TeV by the NLO of the embedded engine"
    median, low, high = (ratio * each for each in (found.median, found.low, found.high))
    reason = "; ".join(filter(None, [found.reason, said]))
    return found._replace(median=median, low=low, high=high, reason=reason)


def by_engine(pair: tuple[int, ...], point: Mapping[str, float], sqrt_s_gev: float) -> CrossSection:
    """Compute a process at the values that `needs_of` names; NaN outside the engine's domain."""
    from nlobayes.physics.hadronic import of_process

    squarks = point.get(SQUARKS, np.inf)
    try:
        found = of_process(make_process(*pair), point, sqrt_s_gev / 1000, squarks)
    except InputError as error:
        return nothing(f"{ENGINE}: {error.reason}")._replace(entry=ENGINE)
    central, none = float(found.nlo_pb[0]), (np.zeros(1), np.zeros(1))
    varied = (found.scale_up_pb, found.scale_down_pb)
    scales = RULES["scale"](*(each / central for each in varied)) if central else none
    errors = with_total({REGRESSION: none, "scale": scales})
    needs_squarks = not make_process(*pair).of_sleptons and SQUARKS not in point
    reason = f"{REASON}; {ALL_DECOUPLED}" if needs_squarks else REASON
    numbers = {name: float(error[0]) for name, error in errors.items()}
    return CrossSection(central, central, central, INSIDE, reason, numbers, ENGINE)
