"""The vocabulary of likelihoods: one preset each, with its constants and their limits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.study.values import Frozen, Positive


class ToleranceLikelihood(Frozen):
    """Gaussian with a fixed sigma: a declared tolerance for noise-free targets."""

    kind: Literal["tolerance"]
    sigma: Positive
    """In the units of the network's target (its sd on train rows if standardised)."""


class LearnedNoiseLikelihood(Frozen):
    """Gaussian with a learned sigma, half-normal; on noise-free targets chains rarely mix."""

    kind: Literal["learned_noise"]
    scale: Positive = 1.0
    """Scale of the half-normal prior of sigma, in the units of the network's target."""


class StudentTLikelihood(Frozen):
    """Student-t; with a learned scale chains rarely mix on noise-free targets."""

    kind: Literal["student_t"]
    sigma: Positive | None = None
    """Scale in the units of the network's target; null learns it, half-normal a priori."""
    scale: Positive = 1.0
    """Scale of the half-normal prior of a learned `sigma`."""
    degrees_of_freedom: Annotated[float, Field(gt=2, allow_inf_nan=False)] | None = 4.0
    """More than 2, so that the variance exists; null learns them, 2 + Gamma(2, 0.1) a priori."""


class LaplaceLikelihood(Frozen):
    """Laplace; with a learned scale chains rarely mix on noise-free targets."""

    kind: Literal["laplace"]
    sigma: Positive | None = None
    """Scale b of exp(-|y - f| / b), in the units of the network's target; null learns it."""
    scale: Positive = 1.0
    """Scale of the half-normal prior of a learned `sigma`."""


class HeteroscedasticLikelihood(Frozen):
    """Gaussian whose sigma is a second output; on noise-free targets chains do not mix."""

    kind: Literal["heteroscedastic"]
    scale: Positive = 0.1
    """Sigma where the second output, its logarithm, is zero; units of the network's target."""


class BernoulliLikelihood(Frozen):
    """One of two classes by the sigmoid of one output."""

    kind: Literal["bernoulli"]
    temperature: Positive = 1.0
    """What the output is divided by."""


class CategoricalLikelihood(Frozen):
    """One of several classes by the softmax of one output each."""

    kind: Literal["categorical"]
    temperature: Positive = 1.0
    """What the outputs are divided by."""


Likelihood = Annotated[
    ToleranceLikelihood
    | LearnedNoiseLikelihood
    | StudentTLikelihood
    | LaplaceLikelihood
    | HeteroscedasticLikelihood
    | BernoulliLikelihood
    | CategoricalLikelihood,
    Field(discriminator="kind"),
]


def is_of_classes(likelihood: Likelihood) -> bool:
    """Tell whether a likelihood is one of classes, not of numbers."""
    return isinstance(likelihood, BernoulliLikelihood | CategoricalLikelihood)


def stated_sigma(likelihood: Likelihood) -> float | None:
    """Give the one scale that a likelihood states for all rows; None where it states none."""
    return getattr(likelihood, "sigma", None)
