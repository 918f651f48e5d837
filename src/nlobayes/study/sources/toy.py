"""Settings of the toy problems."""

from __future__ import annotations

from typing import Literal

from nlobayes.settings.values import Seed
from nlobayes.study.sources import ComputedSource

MOST_ROWS = 2500
"""Rows of no toy problem exceed this number."""


class ToySource(ComputedSource):
    """A published problem: train, validation and test rows of x and y.

    `tensorbnn_sparse`: 11, 50 and 122 rows of x sin(2 pi x) - cos(pi x), train points even on [-2,
    2]; `tensorbnn_variable`: 2055, 50 and 120 rows, nearly all outside [-1, 1]; tests reach to |x|
    = 3. `marek`: 31, 30 and 100 rows of x/2 + x^2 - x^4/4 with noise of sd 0.1, trained outside a
    gap. `xor`, `xor_noisy`: 200, 100 and 200 rows of Gaussian clouds around (+-0.5, +-0.5), of
    variance 0.015 or 0.08.
    """

    kind: Literal["toy"]
    name: Literal["tensorbnn_sparse", "tensorbnn_variable", "marek", "xor", "xor_noisy"]
    seed: Seed = 0
    """Seed of the noise and of the random points."""

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all columns of the table."""
        return ("x1", "x2", "label") if self.name.startswith("xor") else ("x", "y")

    def rows(self, columns: int) -> int:
        """Return the largest number of rows of any problem."""
        del columns
        return MOST_ROWS
