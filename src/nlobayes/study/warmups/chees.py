"""Settings of the warm-up that all chains of ChEES-HMC share."""

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.settings.values import Fraction, Positive
from nlobayes.study.warmup import WarmupSettings


class ChEESWarmup(WarmupSettings):
    """Step size and trajectory length learned by all chains together, mass matrix the identity."""

    kind: Literal["chees"] = "chees"
    target_acceptance: Fraction = 0.651
    """Target of dual averaging for the harmonic mean of the acceptance."""
    learning_rate: Annotated[float, Field(gt=0, le=0.05)] = 0.025
    """Learning rate of ADAM for the logarithm of the trajectory length."""
    initial_trajectory_length: Positive = 0.1
    """Initial trajectory length."""
