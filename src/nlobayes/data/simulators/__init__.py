"""What computes a table: one file each, named like the kind of source."""

from typing import Any, Protocol

from nlobayes.families import Family
from nlobayes.types import Table


class Simulator(Protocol):
    """Content of the file of a simulator."""

    def simulate(self, **settings: Any) -> Table:
        """Compute the table; equal settings give equal values."""
        ...


SIMULATORS: Family[Simulator] = Family(__name__, __file__)
