"""The exact posterior of the output layer, with all other parameters fixed at each MAP.

Hidden layers as features of a Bayesian linear regression (Snoek et al. 2015, ICML, section 3;
Kristiadi, Hein and Hennig 2020, ICML, show that this is enough for a larger uncertainty far from
data). Learned scales and noise are fixed at the MAP too. Draws of several MAPs are a mixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods._modes import FromModes

if TYPE_CHECKING:
    import jax


class LastLayer(FromModes):
    """Output layer, drawn exactly given all other parameters at a MAP; an approximation.

    It needs a Gaussian likelihood, a prior of the output that is Gaussian given its scales, and
    `precision: float64`.
    """

    draws_output: ClassVar[bool] = True

    kind: Literal["last_layer"]

    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Draw positions, those of the first MAP first; the log density of the fixed part is kept.

        Raises InputError if there are more or fewer MAPs than modes, or the output layer is not
        integrated out.
        """
        import jax
        import jax.numpy as jnp

        from nlobayes.inference.mode_mixture import check_starts, deal

        check_starts(posterior.starts, self.modes)
        if posterior.starts.shape == posterior.maps.shape:
            raise InputError("inference.output_not_integrated")
        density = jax.jit(posterior.logdensity_fn)
        reached = [float(density(start)) for start in posterior.starts]
        dealt = jnp.asarray(deal(self.draws, [0.0] * self.modes, "equal"))
        at = jnp.repeat(posterior.starts, dealt, axis=0)
        return MethodDraws(posterior.complete(key, at), {"log_density_of_starts": reached})
