"""Simulators, which compute tables: one file each, named like the kind of source."""

from typing import Any, Protocol

from nlobayes.families import Family
from nlobayes.types import Table


class Simulator(Protocol):
    """Interface that the file of a simulator implements."""

    def simulate(self, **settings: Any) -> Table:
        """Compute the table; equal settings give equal values."""
        ...


SIMULATORS: Family[Simulator] = Family(__name__, __file__)
