"""The regularised horseshoe: most weights near zero, few large."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar, Literal

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import OUTPUT_BIAS_SCALE, Parameters, scaled
from nlobayes.priors import PriorSettings
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array


class HorseshoePrior(PriorSettings):
    """The regularised horseshoe: most weights near zero, few large; biases are Gaussian.

    Weights N(0, tau^2 lambda^2 / fan_in), with lambda of each weight up to the slab, and tau and
    slab of each layer (Piironen and Vehtari, arXiv:1707.01694).
    """

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["horseshoe"]
    global_scale: Positive = 1.0
    """Median of the scale that the weights of a layer share, before 1 / sqrt(fan_in)."""
    slab_scale: Positive = 2.0
    """Scale of the few large weights (the slab)."""
    slab_degrees: Positive = 4.0
    """Degrees of freedom of the slab."""
    bias_scale: Positive = 1.0
    """Sd of the hidden biases."""

    def state(self, parameters: Parameters) -> Array:
        """Define one array, with the scales of its weights.

        Piironen and Vehtari (2017), arXiv:1707.01694, section 2.3, for each layer: weights
        N(0, t^2 l'^2 / fan_in) with l'^2 = c^2 l^2 / (c^2 + t^2 l^2), l of each weight
        half-Cauchy(1), t half-Cauchy(`global_scale`), c^2 inverse-Gamma(d/2, d s^2/2) with d the
        `slab_degrees` and s the `slab_scale`. The output bias is N(0, 1).
        """
        import pymc as pm
        import pytensor.tensor as pt
        from pymc.pytensorf import floatX

        if parameters.role != WEIGHTS:
            biases = OUTPUT_BIAS_SCALE if parameters.output else self.bias_scale
            return scaled(parameters, biases)
        name, dims = parameters.name, parameters.dims
        local = pm.HalfCauchy(f"local_{name}", floatX(1.0), dims=dims)
        shared = pm.HalfCauchy(f"global_{name}", floatX(self.global_scale))
        half = floatX(self.slab_degrees / 2)
        slab = pm.InverseGamma(f"slab_{name}", half, half * self.slab_scale**2)
        regularised = local * pt.sqrt(slab / (slab + shared**2 * local**2))
        return scaled(parameters, shared * regularised / sqrt(parameters.fan_in))
