"""The designs: points at which a program is called, a family with a file for each kind.

A design states how many points it has without numerics, so that jobs can be planned. NumPy and
SciPy are imported where points are computed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice

if TYPE_CHECKING:
    import numpy as np

Points = dict[str, "np.ndarray"]
"""Values (point,) by column."""


class DesignSettings(Choice):
    """Settings of a design; each kind has a file of its name in `designs/`."""

    if TYPE_CHECKING:  # fields of some kinds, properties of others

        @property
        def columns(self) -> tuple[str, ...]:
            """Names of the columns of its points, in their order."""

        @property
        def units(self) -> dict[str, str]:
            """Units of those columns that have one."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of its points, without numerics."""

    @property
    def given(self) -> str | None:
        """Path of the user's table; None if the design has none."""
        return None

    def digest(self) -> str:
        """Return a digest of the user's table, since dates do not reveal changed content."""
        return ""

    @abstractmethod
    def compute(self) -> Points:
        """Compute the points of the design, in `units`, all different."""

    @abstractmethod
    def random(
        self, count: int, seed: int, taken: Mapping[str, np.ndarray] | None = None
    ) -> Points:
        """Draw independent random points; more of the same seed begin with the same points.

        They have the distribution of the design. Of a pool they are rows that are neither points
        of the design nor among those `taken`, and fewer if it has no more.
        """


DESIGNS = settings_of(__name__, __file__, DesignSettings)

if TYPE_CHECKING:
    Design = DesignSettings
else:
    Design = one_of_kinds(DESIGNS.values())
