"""Rounds: further points of a program, which the posterior given the points so far chooses."""

from __future__ import annotations

from math import ceil, log
from typing import Annotated

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Fraction, Frozen, PositiveInt, Seed
from nlobayes.study.accuracy import Accuracy

SPLIT = "split"
"""Column of a table in rounds that states the split of each row."""
MOST_ROUNDS = 100
FEWEST_HELD_OUT = 4
"""Two validation rows and two test rows."""


class Rounds(Frozen):
    """How further points are chosen, and when they are enough.

    Every round adds chosen points as train rows and random points as validation and test rows,
    which alone decide whether the target is met.
    """

    most: Annotated[int, Field(ge=1, le=MOST_ROUNDS)]
    """Most rounds after the first; no further one begins where the target is met."""
    points: PositiveInt
    """Points that each further round adds."""
    held_out: Annotated[int, Field(ge=FEWEST_HELD_OUT)] = 100
    """Random points that the first round adds to its design."""
    random: Fraction = 0.2
    """Share of random points of each further round."""
    seed: Seed = 1
    """Seed of all random points."""
    target: Accuracy = Accuracy()
    """Accuracy that ends the rounds."""

    @model_validator(mode="after")
    def _adds_both(self) -> Rounds:
        if not 0 < self.random_points < self.points:
            raise InputError("study.round_of_one_kind", points=self.points, share=self.random)
        level = (1 - self.target.confidence) / (self.most + 1)
        held_out, least = self.held_out + self.most * self.random_points, log(level) / log(0.95)
        if held_out < least:
            raise InputError(
                "study.target_of_few", where="held_out", held_out=held_out, least=ceil(least)
            )
        return self

    @property
    def random_points(self) -> int:
        """Random points of a further round."""
        return ceil(self.random * self.points)

    def names(self, dataset: str) -> tuple[str, ...]:
        """Name the datasets of all rounds; the first has the name of its preset."""
        return (dataset, *(f"{dataset}_{number}" for number in range(1, self.most + 1)))
