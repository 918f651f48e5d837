"""Function draws and acceptance of finished segments, which are shown while a run continues."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import netCDF4
import numpy as np

from nlobayes.artifacts.places import remedy
from nlobayes.artifacts.plain_hdf5 import check_plain
from nlobayes.artifacts.seals import check_seal
from nlobayes.errors import InputError


class Drawn(NamedTuple):
    """Draws of a segment.

    `function` has axes (chain, draw, quantity), where the outputs of each reference point follow
    each other. `acceptance` has axes (chain, draw).
    """

    function: np.ndarray
    acceptance: np.ndarray


def read_drawn(segment: Path) -> Drawn:
    """Read the function draws and acceptance of a segment without its weights.

    The weights are the largest part of the file.

    Raises
    ------
    InputError
        If the file is missing, is not what was written, or is no segment.
    """
    check_seal(segment)
    check_plain(segment)
    try:
        with netCDF4.Dataset(segment) as file:
            function = np.asarray(file["predictions/f"][:])
            acceptance = np.asarray(file["sample_stats/acceptance_rate"][:])
    except (OSError, RuntimeError, IndexError) as error:
        raise InputError(
            "artifacts.not_netcdf", path=segment, reason=str(error), remedy=remedy(segment)
        ) from error
    return Drawn(function.reshape(*function.shape[:2], -1), acceptance)
