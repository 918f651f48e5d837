"""Latin hypercube (McKay et al. 1979): each of equal parts of a range holds one point."""

from __future__ import annotations

from math import ceil
from typing import Literal

from nlobayes.designs import Points
from nlobayes.designs._sampled import TRIALS, SampledDesign


class LatinHypercubeDesign(SampledDesign):
    """Latin hypercube in declared ranges.

    With constraints it is the first part of a larger one that satisfies them.
    """

    kind: Literal["latin_hypercube"]

    def compute(self) -> Points:
        """Compute the points; errors as `random`."""
        import numpy as np
        from scipy.stats import qmc

        trials = self.points
        while True:
            cube = qmc.LatinHypercube(len(self.columns), rng=np.random.default_rng(self.seed))
            kept = self._kept(cube.random(trials))
            found = len(kept[self.columns[0]])
            if found >= self.points:
                return {name: values[: self.points] for name, values in kept.items()}
            self._check_region(found, trials)
            trials = ceil(1.1 * trials * self.points / found) if found else max(trials, TRIALS)
