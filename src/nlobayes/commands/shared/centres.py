"""Where the networks of draws are linearised, and who cannot do with such draws."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlobayes.artifacts.contents import read_variables
from nlobayes.artifacts.draws import CENTRES, LINEARISED
from nlobayes.artifacts.netcdf import Groups
from nlobayes.errors import InputError
from nlobayes.types import Named


def read_centres(thinned: Groups) -> Named | None:
    """Read the centre of each draw (chain, draw, ...); None where no network is linearised."""
    return read_variables(thinned[CENTRES]) if CENTRES in thinned else None


def check_networks(made: Mapping[str, Any], posterior: Path) -> None:
    """Refuse draws whose network is linearised, by the attributes of their file.

    Raises
    ------
    InputError
        If it is.
    """
    if made.get("predictive") == LINEARISED:
        raise InputError("commands.linearised", where=posterior)
