"""The input along which residuals, calibration and divergences are shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.types import Dataset

MASS_UNITS = ("GeV", "TeV")


class Covariate(NamedTuple):
    """Label of the covariate with its unit, and its values (point,) and (reference_point,).

    A mass may carry a sign and is shown by its absolute value. A mixing keeps its sign.
    """

    label: str
    values: np.ndarray
    at_reference: np.ndarray


def covariate_of(data: Dataset, column: str) -> Covariate:
    """Return a column of the inputs as covariate.

    Raises InputError if the dataset has no such column.
    """
    if column not in data.input_names:
        raise InputError("commands.no_covariate", column=column, known=[*data.input_names])
    values = data.inputs[:, data.input_names.index(column)]
    unit = data.units.get(column, "")
    unsigned = unit in MASS_UNITS
    name = f"|{column}|" if unsigned else column
    shown = np.abs(values) if unsigned else values
    label = f"{name} ({unit})" if unit not in ("", "1") else name
    return Covariate(label, shown, shown[data.reference])
