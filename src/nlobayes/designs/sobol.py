"""Scrambled Sobol points (Sobol 1967; Owen 1998), which fill a region evenly."""

from __future__ import annotations

from typing import Literal

from nlobayes.designs import Points
from nlobayes.designs._sampled import SampledDesign


class SobolDesign(SampledDesign):
    """Scrambled Sobol points in declared ranges; a longer design begins with the same points."""

    kind: Literal["sobol"]

    def compute(self) -> Points:
        """Compute the points; errors as `random`."""
        import numpy as np
        from scipy.stats import qmc

        sequence = qmc.Sobol(len(self.columns), rng=np.random.default_rng(self.seed))
        # The properties of the sequence, and SciPy, ask for a power of two to begin with.
        return self._accepted(
            self.points, lambda trials: sequence.random(2 ** (trials - 1).bit_length())
        )
