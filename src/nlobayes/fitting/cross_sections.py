"""Results among the columns of a table, recognised by name, unit and size of the numbers.

Points to predict have no results, so these are no inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from nlobayes.data.units import CROSS_SECTION, UNITS
from nlobayes.types import Table

DECADES = 1.0
"""Powers of ten that positive numbers must span to be learned as their logarithm."""
K_FACTORS = (0.3, 10.0)
"""Range of the median of a column `K` that holds K-factors."""


def whole_word(*patterns: str) -> re.Pattern[str]:
    """Match a whole word of a name; words are separated by all but letters and digits."""
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])", re.IGNORECASE)


ORDER = "a?n{1,3}lo|n[234]lo|n{1,3}ll|n[234]ll|nnloapprox"
LEADING_ORDER = whole_word("lo|born|(?:sigma|xs|xsec)lo")
"""Names of cross sections at leading order, such as `lo_pb` and `sigma_LO`."""
NAMED = whole_word(
    r"[dδ]?(?:xs|xsecs?|x[ _-]?sections?|cross[ _-]?sections?|cross(?![ _-]?[a-z])|sigma|σ)"
    f"(?:tot|{ORDER})?",
    ORDER,
)
"""Names of cross sections, such as `xsec_13TeV`, `sigma` and `NLO_ms`."""
UNIT_IN_NAME = whole_word(*(unit for unit, (kind, _) in UNITS.items() if kind == CROSS_SECTION))
"""Names with a unit of cross sections, such as `sigma_fb` and `xs (pb)`."""
ERROR = whole_word(
    r"(?:rel|abs|num|tot|stat|syst?|pdf|scale|theo|mc|xs|xsec|sigma)*(?:err(?:or)?s?|unc(?:ert\w*)?s?)\d*"
    "(?:up|down|hi|lo|plus|minus)?",
    "stat|syst?|gauss",
)
"""Names of errors, such as `lo_relnumerr` and `unc. (up)`."""
SPREAD = whole_word(
    "d|e|sd|std|stdev|stderr|se|sem|sigma|delta|δ|var|variance|upper|lower|up|down|hi|lo"
)
"""Further words for errors, beside the name of the target."""
SOURCE = whole_word("scale|sca|mu_?[rf]|alpha_?s|tot|total|th|theo|theory|qcd|ewk?")
SIDE = whole_word("up|down|dn|hi|high|lo|low|pos|neg|plus|minus|upper|lower|half|twice")
SIGN = re.compile(r"[+±−-](?!\w)")
PDF, PDF_CHOICE = whole_word("pdf"), whole_word("set|member|id|number|name")
"""Names of variations, such as `scale_up`, `scale+` and `Total_pos`, and choices of a PDF."""
K_FACTOR = re.compile(rf"k|k[ _-]?(?:fac(?:tor)?|{ORDER})s?", re.IGNORECASE)

FUSED = "d|err|error|unc|sd|std|log|log10|ln|sqrt|exp|rank"
"""Words that are written with the name of the target as one, such as `yerr`."""

RESULT = "results like the target"
ERROR_OF_TARGET = "errors of the target"


def is_error(name: str) -> bool:
    """Return whether the name of a column is that of an error, or of a variation by a source."""
    varied = SOURCE.search(name) and (SIDE.search(name) or SIGN.search(name))
    of_pdf = PDF.search(name) and not PDF_CHOICE.search(name)
    return bool(ERROR.search(name) or varied or of_pdf)


def is_leading_order(name: str) -> bool:
    """Return whether the name of a column is that of a cross section at leading order."""
    return bool(LEADING_ORDER.search(name)) and not is_error(name)


def is_cross_section(name: str, unit: str) -> bool:
    """Return whether a column is a cross section by its unit, or by the unit in its name."""
    if unit:
        return UNITS.get(unit, ("",))[0] == CROSS_SECTION
    return UNIT_IN_NAME.search(name) is not None


def spans_decades(values: np.ndarray) -> bool:
    """Return whether the positive numbers of a column (row,) span `DECADES`."""
    logs = np.log10(values[np.isfinite(values) & (values > 0)])
    return logs.size > 0 and float(np.ptp(logs)) >= DECADES


def is_learned_cross_section(target: str, unit: str, values: np.ndarray) -> bool:
    """Return whether a target (row,) is a cross section.

    That is by its unit, or by its name if most of its numbers are positive and span a decade.
    """
    if unit or is_cross_section(target, unit):
        return is_cross_section(target, unit)
    is_named = NAMED.search(target) or is_leading_order(target)
    return bool(is_named and np.mean(values > 0) > 0.5 and spans_decades(values))


def beside_the_name(name: str, target: str) -> str | None:
    """Return what the name of a column adds to that of the target; None if it does not contain it.

    Units are no part of the name of the target.
    """
    core = re.escape(UNIT_IN_NAME.sub("", re.sub(r"[\[(].*", "", target)).strip(" _/") or target)
    found = re.search(rf"(?<![^\W_])({FUSED})?{core}({FUSED})?(?![^\W_])", name, re.IGNORECASE)
    if found is None or name == target:
        return None
    words = (name[: found.start()], found[1], found[2], name[found.end() :])
    return " ".join(filter(None, words))


def results_beside(target: str, names: Iterable[str], table: Table) -> dict[str, str]:
    """Return the columns that are results or errors of the target, with the reason.

    Errors of any target are those whose names contain its name. Beside a cross section, or a
    K-factor, these are all errors, and other cross sections and K-factors are results. A leading
    order is none of them, because it takes little time to compute.
    """
    values = table.columns[target]
    whole = _is_k_factor(target, values) or is_learned_cross_section(
        target, table.units.get(target, ""), values
    )
    found = {}
    for name in names:
        if name == target or is_leading_order(name):
            continue
        added = beside_the_name(name, target)
        if (whole and is_error(name)) or (added and (is_error(added) or SPREAD.search(added))):
            found[name] = ERROR_OF_TARGET
        elif whole and _is_result(name, table):
            found[name] = RESULT
    return found


def _is_result(name: str, table: Table) -> bool:
    """Return whether a column is a cross section or a K-factor."""
    unit = table.units.get(name, "")
    named = NAMED.search(name) and not unit
    return bool(named or is_cross_section(name, unit) or _is_k_factor(name, table.columns[name]))


def _is_k_factor(name: str, values: np.ndarray) -> bool:
    low, high = K_FACTORS
    is_ratio = values.dtype.kind == "f" and low < np.nanmedian(values) < high
    return K_FACTOR.fullmatch(name) is not None and bool(is_ratio)
