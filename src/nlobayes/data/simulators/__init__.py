"""What computes a table: one file each, by the kind of source that asks for it."""

from typing import Any, Protocol

from nlobayes.families import Family
from nlobayes.types import Table


class Simulator(Protocol):
    """What the file of a simulator says."""

    def simulate(self, **settings: Any) -> Table:
        """Compute the table; equal settings give equal values."""
        ...


SIMULATORS: Family[Simulator] = Family(__name__, __file__)
