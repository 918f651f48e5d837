"""Theory errors of a cross section as signed relative errors, and their combination.

A network learns ratios to the central value. The errors follow from the medians of the ratios by
the conventions of xsec (Buckley et al., arXiv:2006.16273), which GAMBIT reads:

- `scale`: the lowest and the highest of the cross sections at other scales, two or more;
- `pdf`: the error of the parton distributions, equal on both sides;
- `alpha_s`: half the range between the cross sections at the upper and the lower alpha_s, equal on
  both sides (PDF4LHC, arXiv:1510.03865, section 6.3);
- `combined`: the error that a table states for several sources together, one for both sides or
  those up and down;
- `total`: on each side the sum in quadrature of all of these and of the error of the regression, as
  in GAMBIT's adaptor of xsec. PDF4LHC combines the errors of alpha_s and of parton distributions in
  this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

Sides = tuple[np.ndarray, np.ndarray]
"""Errors down and up."""
REGRESSION, COMBINED, TOTAL = "regression", "combined", "total"
SIDES = ("down", "up")
MEDIAN_AND_INTERVAL = (0.5, 0.16, 0.84)
"""Probabilities of the quantiles from which errors are computed: the median and the ends of the
68 % interval."""


def relative_errors(
    quantiles: Mapping[str, np.ndarray], target: str, theory: Mapping[str, Sequence[str]]
) -> dict[str, np.ndarray]:
    """Combine the predictions of a cross section and of ratios to it.

    Parameters
    ----------
    quantiles
        `MEDIAN_AND_INTERVAL` (quantile, point) of the cross section and of every ratio, by name.
    target
        Name of the cross section.
    theory
        Names of the ratios of each source: two or more for `scale`, two for `alpha_s`, one for
        `pdf`, one or two for `combined`.

    Returns
    -------
    Errors (point,) over the median of the cross section, `{source}_down` and `{source}_up`, of the
    regression, of every given source, and in total. Errors down are negative and errors up are
    positive, with one exception: if all scales give cross sections on one side of the central
    value, both scale errors have the sign of that side, and the error of the other side is 0 in the
    total.
    """
    median, low, high = quantiles[target]
    sides = {REGRESSION: (low / median - 1, high / median - 1)}
    for source, names in theory.items():
        sides[source] = RULES[source](*(quantiles[name][0] for name in names))
    return with_total(sides)


def with_total(sides: Mapping[str, Sides]) -> dict[str, np.ndarray]:
    """Return errors down and up (point,) by source and side, together with the total errors."""
    down, up = (np.stack(side) for side in zip(*sides.values(), strict=True))
    total = (-_root_sum_of_squares(np.minimum(down, 0)), _root_sum_of_squares(np.maximum(up, 0)))
    return {
        f"{source}_{side}": values
        for source, both in {**sides, TOTAL: total}.items()
        for side, values in zip(SIDES, both, strict=True)
    }


def _scale_errors(*others: np.ndarray) -> Sides:
    return np.min(others, axis=0) - 1, np.max(others, axis=0) - 1


def _pdf_errors(error: np.ndarray) -> Sides:
    return -error, error


def _coupling_errors(one: np.ndarray, other: np.ndarray) -> Sides:
    half = np.abs(one - other) / 2
    return -half, half


def _combined_errors(*errors: np.ndarray) -> Sides:
    return -errors[-1], errors[0]


RULES: dict[str, Callable[..., Sides]] = {
    "scale": _scale_errors,
    "pdf": _pdf_errors,
    "alpha_s": _coupling_errors,
    COMBINED: _combined_errors,
}
"""Functions from the ratios of each source to its errors down and up."""


def _root_sum_of_squares(errors: np.ndarray) -> np.ndarray:
    """Add errors (source, point) in quadrature over the sources."""
    total: np.ndarray = np.sqrt(np.square(errors).sum(axis=0))
    return total
