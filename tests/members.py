"""Members of families by their kinds, with settings by name."""

from typing import Any

from pydantic import TypeAdapter

from nlobayes.likelihoods import LIKELIHOODS, LikelihoodSettings
from nlobayes.priors import PRIORS, PriorSettings
from nlobayes.priors.slopes import Slopes, SlopeSettings


def prior(kind: str, **settings: Any) -> PriorSettings:
    """Build the prior of weights and biases of a kind."""
    return PRIORS[kind](kind=kind, **settings)


def slopes(kind: str, **settings: Any) -> SlopeSettings:
    """Build the prior of trained slopes of a kind."""
    built: SlopeSettings = TypeAdapter(Slopes).validate_python({"kind": kind, **settings})
    return built


def likelihood(kind: str, **settings: Any) -> LikelihoodSettings:
    """Build the likelihood of a kind."""
    return LIKELIHOODS[kind](kind=kind, **settings)
