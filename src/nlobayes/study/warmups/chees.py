"""Settings of the warm-up that all chains of ChEES-HMC share."""

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.study.values import Fraction, Positive
from nlobayes.study.warmup import WarmupSettings


class ChEESWarmup(WarmupSettings):
    """Step size and trajectory length learned by all chains together, mass matrix the identity."""

    kind: Literal["chees"] = "chees"
    target_acceptance: Fraction = 0.651
    """Harmonic mean of the acceptance that dual averaging aims at."""
    learning_rate: Annotated[float, Field(gt=0, le=0.05)] = 0.025
    """Of ADAM on the logarithm of the trajectory length."""
    initial_trajectory_length: Positive = 0.1
    """Where the length starts."""
