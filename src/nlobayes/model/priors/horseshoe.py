"""The regularised horseshoe: most weights near zero, few large."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import pymc as pm
import pytensor.tensor as pt

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import OUTPUT_BIAS_SCALE, Conditional, Parameters, scaled


class Horseshoe(NamedTuple):
    """The regularised horseshoe: most weights are near zero, some as large as the slab allows.

    Piironen and Vehtari (2017), arXiv:1707.01694, section 2.3, for each layer: weights
    N(0, t^2 l'^2 / fan_in) with l'^2 = c^2 l^2 / (c^2 + t^2 l^2), l of each weight half-Cauchy(1),
    t half-Cauchy(`global_scale`), c^2 inverse-Gamma(d/2, d s^2/2) with d the `slab_degrees` and s
    the `slab_scale`. Hidden biases are N(0, `bias_scale`^2), the output bias N(0, 1).
    """

    global_scale: float
    slab_scale: float
    slab_degrees: float
    bias_scale: float

    def state(self, parameters: Parameters) -> Any:
        """Define one array, with the scales of its weights."""
        if parameters.role != WEIGHTS:
            biases = OUTPUT_BIAS_SCALE if parameters.output else self.bias_scale
            return scaled(parameters, biases)
        name, dims = parameters.name, parameters.dims
        local = pm.HalfCauchy(f"local_{name}", pm.floatX(1.0), dims=dims)
        shared = pm.HalfCauchy(f"global_{name}", pm.floatX(self.global_scale))
        half = pm.floatX(self.slab_degrees / 2)
        slab = pm.InverseGamma(f"slab_{name}", half, half * self.slab_scale**2)
        regularised = local * pt.sqrt(slab / (slab + shared**2 * local**2))
        return scaled(parameters, shared * regularised / sqrt(parameters.fan_in))

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """Return an empty list."""
        return []


build = Horseshoe
