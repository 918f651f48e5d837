"""Settings of an ensemble of networks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.settings.values import Fraction, Positive, PositiveInt
from nlobayes.study.presets import Width
from nlobayes.study.rival import RivalSettings


class NetworkEnsembleRival(RivalSettings):
    """Networks that are trained for accuracy, independently of each other: tanh, Adam, no prior."""

    kind: Literal["network_ensemble"]
    members: Annotated[int, Field(ge=2, le=100)] = 5
    """Number of networks, each from its own start."""
    hidden: Annotated[tuple[Width, ...], Field(min_length=1, max_length=10)] = (64, 64)
    """Units of each hidden layer."""
    steps: Annotated[int, Field(ge=100, le=10_000_000, multiple_of=100)] = 10_000
    """Steps of Adam, a multiple of 100; the learning rate falls to zero along half a cosine."""
    batch: PositiveInt = 100
    """Train rows of each step."""
    learning_rate: Positive = 0.01
    """Learning rate of the first step."""
    held_out: Fraction = 0.1
    """Share of the train rows, different ones for each member, that select its best weights."""
