"""Columns of a table that are cross sections, recognised by unit or name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nlobayes.data.prospino import RATIOS
from nlobayes.data.units import CROSS_SECTION, UNITS

LEADING_ORDER = re.compile(r"(^|_)(lo|born)(_|$)", re.IGNORECASE)
"""Names of cross sections at leading order, such as `lo_pb` and `sigma_LO`."""
ERROR = re.compile(r"err|unc", re.IGNORECASE)
"""Names of errors, such as `lo_relnumerr` and `pdf_uncertainty_fb`."""
UNIT_IN_NAME = re.compile(r"_(pb|fb)$", re.IGNORECASE)
"""Names that end with a unit of cross sections, such as `sigma_fb`."""
VARIATIONS = {"scale_up", "scale_down", "alpha_s_up", "alpha_s_down", "rel_error", *RATIOS}
"""Results of `nlobayes ingest`, the engine and Prospino whose names have no unit."""
BESIDE = "a result like the target; select inputs by --column"


def is_leading_order(name: str) -> bool:
    """Return whether the name of a column is that of a cross section at leading order."""
    return bool(LEADING_ORDER.search(name)) and not ERROR.search(name)


def is_cross_section(name: str, unit: str) -> bool:
    """Return whether a column is a cross section by its unit, or by its name if it states none."""
    if unit:
        return UNITS.get(unit, ("",))[0] == CROSS_SECTION
    return UNIT_IN_NAME.search(name) is not None


def results_beside(target: str, names: Iterable[str], units: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that are results of the calculation of a cross section, with the reason.

    Points to predict do not have them. A leading order is none of them, because it takes little
    time to compute. If the target is no cross section, there are none.
    """
    if not is_cross_section(target, units.get(target, "")):
        return {}
    others = [name for name in names if name != target and not is_leading_order(name)]
    return {
        name: BESIDE
        for name in others
        if name in VARIATIONS or is_cross_section(name, units.get(name, ""))
    }
