"""The vocabulary of pretraining: where it starts, its optimiser, how the learning rate falls."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from nlobayes.errors import InputError
from nlobayes.study.values import Fraction, Frozen, Positive, PositiveInt

START_DRAWS = 1000
"""Draws of the prior that the best is chosen from, where none are stated."""


class _Kind(Frozen):
    """What every optimiser and every schedule can do."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the optimiser or the schedule itself."""
        return self.model_dump(exclude={"kind"})


class AdamOptimiser(_Kind):
    """Adam: steps scaled by the first two moments of the gradient."""

    kind: Literal["adam"]


class AMSGradOptimiser(_Kind):
    """Adam with the largest second moment so far, so that steps never grow again."""

    kind: Literal["amsgrad"]


class AdamWOptimiser(_Kind):
    """Adam with decoupled weight decay, which is no part of the posterior.

    The loss stays the negative log posterior, but chains start away from its maximum, nearer to
    zero: what is found is then not the MAP.
    """

    kind: Literal["adamw"]
    weight_decay: Positive = 1e-4
    """Share of the position that a step takes away, times the learning rate; of non-centered
    weights in units of their prior sd."""


class SGDOptimiser(_Kind):
    """Stochastic gradient descent."""

    kind: Literal["sgd"]
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """What is left of a gradient one step later; 0 forgets it."""


class ConstantSchedule(_Kind):
    """The learning rate stays."""

    kind: Literal["constant"]


class CosineSchedule(_Kind):
    """The learning rate falls to zero with the last epoch, along half a cosine."""

    kind: Literal["cosine"]


class ExponentialSchedule(_Kind):
    """The learning rate falls by the same factor in equal numbers of epochs, step by step."""

    kind: Literal["exponential"]
    decay_rate: Fraction
    """What is left of the learning rate after `decay_epochs`."""
    decay_epochs: PositiveInt | None = None
    """Epochs in which it falls to that; null: all epochs."""


class CyclesSchedule(_Kind):
    """The learning rate falls from cycle to cycle, each begun at the best position so far.

    TensorBNN's (arXiv:2009.14393) are three, from 0.01 to 0.0001. A cycle lasts `epochs` epochs, or
    until `patience` epochs have not bettered the validation error.
    """

    kind: Literal["cycles"]
    cycles: Annotated[int, Field(ge=2)] = 3
    """Number of cycles."""
    factor: Fraction = 0.1
    """What is left of the learning rate in the next cycle."""


def _is_a_mapping(value: Any) -> Any:
    if isinstance(value, str):
        raise InputError("study.kind_alone", given=value)
    return value


Optimiser = Annotated[
    AdamOptimiser | AMSGradOptimiser | AdamWOptimiser | SGDOptimiser,
    Field(discriminator="kind"),
    BeforeValidator(_is_a_mapping),
]
Schedule = Annotated[
    ConstantSchedule | CosineSchedule | ExponentialSchedule | CyclesSchedule,
    Field(discriminator="kind"),
    BeforeValidator(_is_a_mapping),
]


class Pretraining(Frozen):
    """From independent starting points to one MAP per chain, by gradient descent."""

    epochs: PositiveInt = 1000
    """Passes through the train rows; with the schedule `cycles`, the most of each cycle."""
    batch: PositiveInt | Literal["full"] = 100
    """Rows per minibatch; `full` takes all train rows at once, in their order."""
    optimiser: Optimiser = AdamOptimiser(kind="adam")
    """Kind and settings of what turns gradients into steps."""
    learning_rate: Positive = 0.01
    """Where the schedule begins."""
    schedule: Schedule = CosineSchedule(kind="cosine")
    """How the learning rate falls."""
    patience: PositiveInt | None = None
    """Epochs without a better validation error before stopping; null never stops early."""
    start: Literal["prior", "standard_normal", "he", "best_of_prior"] = "prior"
    """Distribution of the independent starting points: the prior; a standard normal of every
    number; weights N(0, 2 / inputs) with biases of zero, all else from the prior (He et al.,
    arXiv:1502.01852); or of `start_draws` draws of the prior that of the highest posterior density
    on the train rows."""
    start_draws: Annotated[int, Field(ge=1, le=100_000)] = START_DRAWS
    """Draws of the prior that `best_of_prior` chooses from."""
    restarts: Annotated[int, Field(ge=1, le=1000)] = 1
    """Fits of each chain from as many starting points; that of the highest posterior density on
    the train rows is kept. Time grows with it."""

    @property
    def most_epochs(self) -> int:
        """Epochs of all cycles and restarts, if none stops early."""
        cycles = self.schedule.cycles if isinstance(self.schedule, CyclesSchedule) else 1
        return self.restarts * cycles * self.epochs

    def batches(self, rows: int) -> int:
        """Count the batches of an epoch of so many train rows, at least one."""
        return 1 if self.batch == "full" else ceil(rows / self.batch)

    @model_validator(mode="after")
    def _draws_are_chosen_from(self) -> Pretraining:
        if self.start != "best_of_prior" and self.start_draws != START_DRAWS:
            raise InputError("study.start_draws", draws=self.start_draws, start=self.start)
        return self

    @model_validator(mode="after")
    def _cycles_can_end(self) -> Pretraining:
        if isinstance(self.schedule, CyclesSchedule) and self.patience is None:
            raise InputError("study.cycles_without_patience")
        return self
