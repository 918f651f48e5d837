"""Priors whose scales are learned; whitened (non-centred), weights are a scale times normals."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import pymc as pm
import pytensor.tensor as pt

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.priors import WHITENED, Parameters

OUTPUT_BIAS_SCALE = 1.0


class HalfNormal(NamedTuple):
    """A scale that is half-normal."""

    scale: float

    def state(self, name: str) -> Any:
        """Name a scale."""
        return pm.HalfNormal(f"scale_{name}", pm.floatX(self.scale))


class HalfCauchy(NamedTuple):
    """A scale that is half-Cauchy (Gelman 2006, Bayesian Analysis 1, 515)."""

    scale: float

    def state(self, name: str) -> Any:
        """Name a scale."""
        return pm.HalfCauchy(f"scale_{name}", pm.floatX(self.scale))


class GammaPrecision(NamedTuple):
    """A scale whose inverse square is Gamma of a shape and a rate (Neal 1996, chapter 3)."""

    shape: float
    rate: float

    def state(self, name: str) -> Any:
        """Name a precision and its scale."""
        precision = pm.Gamma(f"precision_{name}", pm.floatX(self.shape), pm.floatX(self.rate))
        return pm.Deterministic(f"scale_{name}", 1 / pt.sqrt(precision))


class Hierarchical(NamedTuple):
    """Gaussian weights and biases with learned scales, of each layer or of the whole network.

    Weights are N(0, s_w^2 / fan_in), hidden biases N(0, s_b^2), the output bias N(0, 1). The
    scales s_w and s_b follow `hyper`; `shared` is `layer` or `network`.
    """

    hyper: HalfNormal | HalfCauchy | GammaPrecision
    shared: str

    def state(self, parameters: Parameters) -> Any:
        """Name one array, and its scale where that is new."""
        group = self.group_of(parameters)
        if group is None:
            return _scaled(parameters, OUTPUT_BIAS_SCALE)
        root = sqrt(parameters.fan_in) if parameters.role == WEIGHTS else 1.0
        return _scaled(parameters, self._scale_of(group) / root)

    def group_of(self, parameters: Parameters) -> str | None:
        """Name what shares a learned scale with an array; None where its scale is fixed."""
        if parameters.role != WEIGHTS and parameters.output:
            return None
        return parameters.name if self.shared == "layer" else parameters.role

    def _scale_of(self, group: str) -> Any:
        """Make the scale of a group, or take the one that another array made."""
        model = pm.modelcontext(None)
        name = f"scale_{group}"
        return model[name] if name in model else self.hyper.state(group)


class Horseshoe(NamedTuple):
    """The regularised horseshoe: most weights near zero, some as large as the slab lets them.

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
        """Name one array, with the scales of its weights."""
        if parameters.role != WEIGHTS:
            biases = OUTPUT_BIAS_SCALE if parameters.output else self.bias_scale
            return _scaled(parameters, biases)
        name, dims = parameters.name, parameters.dims
        local = pm.HalfCauchy(f"local_{name}", pm.floatX(1.0), dims=dims)
        shared = pm.HalfCauchy(f"global_{name}", pm.floatX(self.global_scale))
        half = pm.floatX(self.slab_degrees / 2)
        slab = pm.InverseGamma(f"slab_{name}", half, half * self.slab_scale**2)
        regularised = local * pt.sqrt(slab / (slab + shared**2 * local**2))
        return _scaled(parameters, shared * regularised / sqrt(parameters.fan_in))


class TensorBNN(NamedTuple):
    """Weights and biases N(a, b^2) of each layer, with a ~ N(0, 0.1^2) and b ~ N(1, 0.1^2), b > 0.

    The hyper-priors of TensorBNN's Gaussian layer (arXiv:2009.14393). Its code states them for
    sqrt(b) as if they were for b; here log b is sampled, with its Jacobian.
    """

    mean_sd: float = 0.1
    scale_mean: float = 1.0
    scale_sd: float = 0.1

    def state(self, parameters: Parameters) -> Any:
        """Name one array, its mean and its scale."""
        name = parameters.name
        mean = pm.Normal(f"mean_{name}", 0.0, pm.floatX(self.mean_sd))
        scale = _positive_normal(f"scale_{name}", self.scale_mean, self.scale_sd)
        return _scaled(parameters, scale, mean)


class TensorBNNSlopes(NamedTuple):
    """Slopes N(a, b^2) of each layer, with a ~ N(0, 0.3^2) and b ~ N(0.3, 0.1^2), b > 0.

    TensorBNN's prior of SquarePReLU, with the constants of its code, which its Table 4 swaps.
    """

    mean_sd: float = 0.3
    scale_mean: float = 0.3
    scale_sd: float = 0.1

    def state(self, parameters: Parameters) -> Any:
        """Name the slopes of one layer, their mean and their scale."""
        return TensorBNN(*self).state(parameters)


def _positive_normal(name: str, mean: float, sd: float) -> Any:
    return pm.TruncatedNormal(name, pm.floatX(mean), pm.floatX(sd), lower=pm.floatX(0.0))


def _scaled(parameters: Parameters, scale: Any, mean: Any = None) -> Any:
    name, dims = parameters.name, parameters.dims
    if not parameters.whitened:
        return pm.Normal(name, 0.0 if mean is None else mean, scale, dims=dims)
    spread = pm.Normal(name + WHITENED, 0.0, 1.0, dims=dims) * scale
    return pm.Deterministic(name, spread if mean is None else mean + spread, dims=dims)
