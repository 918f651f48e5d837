"""A pool: rows of a table, which are bought one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from nlobayes.designs import Points
from nlobayes.designs._of_table import DesignOfTable, first_of_equal
from nlobayes.errors import InputError
from nlobayes.settings.values import Seed

if TYPE_CHECKING:
    import numpy as np


class PoolDesign(DesignOfTable):
    """Random rows of a table first, then others of its rows; repeated rows count once."""

    kind: Literal["pool"]
    points: Annotated[int, Field(ge=0, strict=True)]
    """Number of rows to begin with; 0 for none."""
    seed: Seed = 1
    """Seed of their choice."""

    @property
    def rows(self) -> int:
        """Number of rows to begin with."""
        return self.points

    def compute(self) -> Points:
        """Choose the rows; errors as `read`, and if the pool has fewer different ones."""
        import numpy as np

        pool = self._different()
        have = len(pool[self.columns[0]])
        if have < self.points:
            raise InputError("designs.small_pool", where=self.path, rows=have, points=self.points)
        chosen = np.random.default_rng(self.seed).permutation(have)[: self.points]
        return {name: values[chosen] for name, values in pool.items()}

    def random(
        self, count: int, seed: int, taken: Mapping[str, np.ndarray] | None = None
    ) -> Points:
        """Draw rows at random that are neither points of the design nor `taken`; errors as `read`.

        They are fewer if the pool has no more.
        """
        import numpy as np

        pool = self._different()
        used = [self.compute(), *([taken] if taken is not None else [])]
        known = {name: np.concatenate([each[name] for each in (*used, pool)]) for name in pool}
        old = len(known[self.columns[0]]) - len(pool[self.columns[0]])
        free = np.flatnonzero(first_of_equal(known)[old:] >= old)
        drawn = np.random.default_rng([seed, 1]).permutation(free)[:count]
        return {name: values[drawn] for name, values in pool.items()}

    def _different(self) -> Points:
        """Read the rows that repeat no earlier one."""
        import numpy as np

        pool = self.read()
        first = np.unique(first_of_equal(pool))
        return {name: values[first] for name, values in pool.items()}
