"""Centres of linearised networks in thinned posteriors, and the refusal of such posteriors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nlobayes.artifacts.chains import CENTRES, LINEARISED
from nlobayes.artifacts.contents import read_variables
from nlobayes.artifacts.netcdf import Groups
from nlobayes.errors import InputError
from nlobayes.types import Named


def read_centres(thinned: Groups) -> Named | None:
    """Read the centre of each draw (chain, draw, ...); None if the networks are not linearised."""
    return read_variables(thinned[CENTRES]) if CENTRES in thinned else None


def check_networks(made: Mapping[str, Any], posterior: object) -> None:
    """Refuse a posterior of linearised networks, given the attributes of its file.

    Raises
    ------
    InputError
        If the networks are linearised.
    """
    if made.get("predictive") == LINEARISED:
        raise InputError("commands.linearised", where=posterior)
