"""The vocabulary of priors: one preset each, with its constants and their limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from nlobayes.study.pinned import check_place, pin
from nlobayes.study.values import Frozen, Positive


class ExponentialSlopes(Frozen):
    """Slopes of an activation are exponential."""

    kind: Literal["exponential"]
    rate: Positive | None = 0.3
    """Inverse mean; null learns it, for each layer."""
    hyper_rate: Positive = 0.3
    """Inverse mean of a learned rate, itself exponential."""


class NormalSlopes(Frozen):
    """Slopes of an activation are N(mean, sd^2)."""

    kind: Literal["normal"]
    mean: float = 0.2
    """Of every slope."""
    sd: Positive = 0.3
    """Of every slope."""


class TensorBNNSlopes(Frozen):
    """Slopes N(a, b^2) of each layer with a ~ N(0, 0.3^2), b ~ N(0.3, 0.1^2): TensorBNN's."""

    kind: Literal["tensorbnn"]


Slopes = Annotated[ExponentialSlopes | NormalSlopes | TensorBNNSlopes, Field(discriminator="kind")]


class MemoryFile(Frozen):
    """What earlier data said of f, as `nlobayes condense` wrote it; it may be written later."""

    file: str
    """Path of the file from the root of the project."""
    sha256: str = ""
    """Digest of the file: filled in from it, and checked where it is given."""

    @field_validator("file")
    @classmethod
    def _is_an_artifact(cls, file: str) -> str:
        return check_place(file, ".nc")

    @model_validator(mode="before")
    @classmethod
    def _digest(cls, value: Any) -> Any:
        return pin(value, needed=False)


class _Prior(Frozen):
    """What every prior preset can say."""

    slopes: Slopes | None = None
    """Prior of the trained slopes, which the activations `prelu` and `square_prelu` need."""
    memory: MemoryFile | None = None
    """Memory of earlier data, which stands beside the prior of the weights."""


class _FanInScaled(_Prior):
    """Weights of one family whose scale falls with the units that enter; sampled whitened."""

    scale: Positive = 1.0
    """Scale of what all weights of a unit add up to."""
    bias_scale: Positive | None = None
    """Scale of the hidden biases; null: `scale`."""
    output_bias_scale: Positive = 1.0
    """Scale of the biases of the output."""


class FanInPrior(_FanInScaled):
    """Weights N(0, scale^2 / fan_in), hidden biases N(0, scale^2), output bias N(0, 1).

    Sampled whitened, in units of the prior sd.
    """

    kind: Literal["fan_in"]


class LaplacePrior(_FanInScaled):
    """Laplace weights of scale b / sqrt(fan_in), biases of scale b."""

    kind: Literal["laplace"]


class CauchyPrior(_FanInScaled):
    """Cauchy weights of scale / fan_in, biases of scale; few chains mix in its tails."""

    kind: Literal["cauchy"]


class StudentTPrior(_FanInScaled):
    """Student-t weights of scale / fan_in^(1/2), fan_in^(1/nu) where nu < 2."""

    kind: Literal["student_t"]
    degrees_of_freedom: Positive = 4.0
    """nu; small ones have heavy tails, 1 is Cauchy."""


class GaussianPrior(_Prior):
    """All weights and biases N(0, 1 / precision), whatever the width."""

    kind: Literal["gaussian"]
    precision: Positive = 1.0
    """Inverse variance of every weight, and of every bias."""
    bias_precision: Positive | None = None
    """Inverse variance of every bias; null: `precision`."""
    whitened: bool = True
    """Sample the weights in units of their prior sd."""


class HalfNormalScale(Frozen):
    """Half-normal scales."""

    kind: Literal["half_normal"]
    scale: Positive = 1.0
    """Their scale."""


class HalfCauchyScale(Frozen):
    """Half-Cauchy scales."""

    kind: Literal["half_cauchy"]
    scale: Positive = 1.0
    """Their median."""


class GammaPrecision(Frozen):
    """Gamma precisions: inverse squares of scales."""

    kind: Literal["gamma_precision"]
    shape: Positive = 1.0
    """Their shape."""
    rate: Positive = 1.0
    """Their rate; shape / rate is their mean."""


class HierarchicalPrior(_Prior):
    """Weights N(0, s^2 / fan_in) and biases N(0, t^2) with learned s and t; output bias N(0, 1)."""

    kind: Literal["hierarchical"]
    hyper: Annotated[
        HalfNormalScale | HalfCauchyScale | GammaPrecision, Field(discriminator="kind")
    ] = HalfNormalScale(kind="half_normal")
    """Prior of the scales."""
    shared: Literal["layer", "network"] = "layer"
    """Whether each layer has an s and a t, or all share them."""


class HorseshoePrior(_Prior):
    """The regularised horseshoe: most weights near zero, few large; biases are Gaussian."""

    kind: Literal["horseshoe"]
    global_scale: Positive = 1.0
    """Median of the scale that the weights of a layer share, before 1 / sqrt(fan_in)."""
    slab_scale: Positive = 2.0
    """Scale of the weights that escape."""
    slab_degrees: Positive = 4.0
    """Degrees of freedom of these."""
    bias_scale: Positive = 1.0
    """Sd of the hidden biases."""


class TensorBNNPrior(_Prior):
    """TensorBNN's hyper-priors: N(a, b^2) of each layer with a ~ N(0, 0.1^2), b ~ N(1, 0.1^2)."""

    kind: Literal["tensorbnn"]
    mean_sd: Positive = 0.1
    """Sd of a."""
    scale_mean: Positive = 1.0
    """Mean of b."""
    scale_sd: Positive = 0.1
    """Sd of b."""


class CustomPrior(_Prior):
    """A prior of your own: a function in a Python file that states each array in PyMC."""

    kind: Literal["custom"]
    file: str
    """Path of the file from the root of the project."""
    function: str
    """Name of the function, called with the parameters of one array and the settings."""
    settings: dict[str, float | int | str | bool] = {}
    """Keyword arguments of the function."""
    sha256: str = ""
    """Digest of the file: filled in from it, and checked where it is given."""

    @field_validator("file")
    @classmethod
    def _is_a_python_file(cls, file: str) -> str:
        return check_place(file, ".py")

    @model_validator(mode="before")
    @classmethod
    def _digest(cls, value: Any) -> Any:
        return pin(value)


Prior = Annotated[
    FanInPrior
    | GaussianPrior
    | LaplacePrior
    | CauchyPrior
    | StudentTPrior
    | HierarchicalPrior
    | HorseshoePrior
    | TensorBNNPrior
    | CustomPrior,
    Field(discriminator="kind"),
]
