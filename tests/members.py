"""Members of families by their kinds, with settings by name."""

from typing import Any

from pydantic import TypeAdapter

from nlobayes.adaptations import WARMUPS
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.inference.kernel import Kernel, Posterior
from nlobayes.kernels import KERNELS
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


def build_kernel(kind: str, posterior: Posterior, **settings: Any) -> Kernel:
    """Build a kernel of a kind on a posterior."""
    return KERNELS[kind](kind=kind, **settings).build(posterior)


def build_warmup(kind: str, untuned: Untuned, **settings: Any) -> Adaptation:
    """Build a warm-up of a kind for a kernel."""
    return WARMUPS[kind](kind=kind, **settings).build(untuned)
