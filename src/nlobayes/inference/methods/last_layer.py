"""The exact posterior of the output layer, with all other parameters fixed at each MAP.

Hidden layers as features of a Bayesian linear regression (Snoek et al. 2015, ICML, section 3;
Kristiadi, Hein and Hennig 2020, ICML, show that this is enough for a larger uncertainty far from
data). Learned scales and noise are fixed at the MAP too. Draws of several MAPs are a mixture.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.errors import InputError
from nlobayes.inference.method import Approached, Drawn
from nlobayes.inference.methods._mixture import check_starts, deal


class LastLayer(NamedTuple):
    """Draws of the output layer at several MAPs."""

    modes: int
    draws: int

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Draw positions, those of the first MAP first; the log density of the fixed part is kept.

        Raises
        ------
        InputError
            If there are more or fewer MAPs than modes, or the output layer is not integrated out.
        """
        check_starts(posterior.starts, self.modes)
        if posterior.starts.shape == posterior.maps.shape:
            raise InputError("inference.output_not_integrated")
        density = jax.jit(posterior.logdensity_fn)
        reached = [float(density(start)) for start in posterior.starts]
        dealt = jnp.asarray(deal(self.draws, [0.0] * self.modes, "equal"))
        at = jnp.repeat(posterior.starts, dealt, axis=0)
        return Drawn(posterior.complete(key, at), {"log_density_of_starts": reached})


build = LastLayer
