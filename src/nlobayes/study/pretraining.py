"""Models of pretraining: its start, its optimiser, and the schedule of the learning rate."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.user_files import check_place, pin
from nlobayes.settings.values import Fraction, Frozen, Positive, PositiveInt
from nlobayes.untyped import Document

START_DRAWS = 1000
"""Draws of the prior from which the best is chosen, if no number is stated."""


class _Kind(Frozen):
    """Base of the settings of all optimisers and schedules."""

    @property
    def settings(self) -> Document:
        """Settings of the optimiser or the schedule itself."""
        return self.model_dump(exclude={"kind"})


class AdamOptimiser(_Kind):
    """Adam: steps scaled by the first two moments of the gradient."""

    kind: Literal["adam"]


class AMSGradOptimiser(_Kind):
    """Adam with the largest second moment so far, so that steps never grow again."""

    kind: Literal["amsgrad"]


class AdamWOptimiser(_Kind):
    """Adam with decoupled weight decay, no part of the posterior: the result is not the MAP."""

    kind: Literal["adamw"]
    weight_decay: Positive = 1e-4
    """Share of the position that a step subtracts, times the learning rate; for non-centered
    weights in prior sds."""


class SGDOptimiser(_Kind):
    """Stochastic gradient descent."""

    kind: Literal["sgd"]
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of a gradient that remains one step later; 0 keeps none."""


class LBFGSOptimiser(_Kind):
    """Limited-memory BFGS with a line search, for few parameters; it needs `batch: full`.

    The learning rate is the first length of a line search; 1 with schedule `constant` is usual.
    """

    kind: Literal["lbfgs"]


class ConstantSchedule(_Kind):
    """The learning rate is constant."""

    kind: Literal["constant"]


class CosineSchedule(_Kind):
    """The learning rate falls to zero with the last epoch, along half a cosine."""

    kind: Literal["cosine"]


class ExponentialSchedule(_Kind):
    """The learning rate falls by the same factor in equal numbers of epochs, step by step."""

    kind: Literal["exponential"]
    decay_rate: Fraction
    """Share of the learning rate that remains after `decay_epochs`."""
    decay_epochs: PositiveInt | None = None
    """Epochs in which it falls to that share; null: all epochs."""


class CyclesSchedule(_Kind):
    """The learning rate falls from cycle to cycle; each starts at the best position so far.

    It is that of TensorBNN (arXiv:2009.14393). A cycle lasts `epochs` epochs, or ends after
    `patience` epochs without a better validation error of all cycles (in Keras: of this cycle).
    """

    kind: Literal["cycles"]
    cycles: Annotated[int, Field(ge=2)] = 3
    """Number of cycles."""
    factor: Fraction = 0.1
    """Learning rate of the next cycle, relative to that of the current one."""


def _is_a_mapping(value: Any) -> Any:
    if isinstance(value, str):
        raise InputError("study.kind_alone", given=value)
    return value


Optimiser = Annotated[
    AdamOptimiser | AMSGradOptimiser | AdamWOptimiser | LBFGSOptimiser | SGDOptimiser,
    Field(discriminator="kind"),
    BeforeValidator(_is_a_mapping),
]
Schedule = Annotated[
    ConstantSchedule | CosineSchedule | ExponentialSchedule | CyclesSchedule,
    Field(discriminator="kind"),
    BeforeValidator(_is_a_mapping),
]


class WeightsFile(Frozen):
    """Weights and biases in the units of the network, from any program: `np.savez` by their names.

    `weights_1` (input, unit) and `biases_1` (unit,) are those of the first layer, and so on. An
    array with one more axis in front has its values for each chain, and again from the first after
    the last. What the file does not have is drawn from the prior.
    """

    file: str
    """Path of the file, `.npz`, from the root of the project."""
    sha256: str = ""
    """Digest of the file: computed if it is not given, checked if it is."""

    @field_validator("file")
    @classmethod
    def _is_of_numpy(cls, file: str) -> str:
        return check_place(file, ".npz")

    @model_validator(mode="before")
    @classmethod
    def _digest(cls, value: Any) -> Any:
        return pin(value)


class Pretraining(Frozen):
    """Gradient descent from independent starting points to one MAP per chain."""

    epochs: PositiveInt = 1000
    """Passes through the train rows; with the schedule `cycles`, the maximum for each cycle."""
    batch: PositiveInt | Literal["full"] = 100
    """Rows per minibatch; `full` takes all train rows at once, in their order."""
    optimiser: Optimiser = AdamOptimiser(kind="adam")
    """Kind and settings of the optimiser."""
    learning_rate: Positive = 0.01
    """Initial learning rate of the schedule."""
    schedule: Schedule = CosineSchedule(kind="cosine")
    """Kind and settings of the schedule, by which the learning rate falls."""
    patience: PositiveInt | None = None
    """Epochs without a better validation error before stopping; null never stops early."""
    start: Literal["prior", "standard_normal", "he", "best_of_prior"] = "prior"
    """Distribution of the starting points: the prior; a normal of sd `start_sd` (0.22 of Marek);
    weights N(0, 2 / inputs) with biases of zero (He et al., arXiv:1502.01852; TensorBNN names it,
    and its code has 2 / outputs); or the best of `start_draws` draws of the prior on the train rows
    (as in the text of Berezowski; the code there takes the lowest training error)."""
    start_draws: Annotated[int, Field(ge=1, le=100_000)] = START_DRAWS
    """Draws of the prior from which `best_of_prior` chooses."""
    start_weights: Annotated[WeightsFile | None, Field(exclude_if=lambda file: file is None)] = None
    """Weights and biases at which chains start, trained elsewhere; for `start: prior`, of which all
    other parameters are a draw."""
    start_sd: Annotated[Positive, Field(exclude_if=lambda sd: sd == 1)] = 1.0
    """Standard deviation of `standard_normal`, in units of the parameters that chains move: those
    of non-centered weights are prior sds."""
    start_sizes: Annotated[tuple[PositiveInt, ...], Field(exclude_if=lambda sizes: not sizes)] = ()
    """Units of each hidden layer, or hidden layers, at which chains start, if these numbers are
    drawn: the first chain at the first, and again from the first after the last. By default the
    starting point is of any size that the prior allows."""
    restarts: Annotated[int, Field(ge=1, le=1000)] = 1
    """Fits for each chain, each from its own start; the one with the highest posterior density
    on the train rows is kept."""

    @property
    def most_epochs(self) -> int:
        """Epochs of all cycles and restarts, if none stops early."""
        cycles = self.schedule.cycles if isinstance(self.schedule, CyclesSchedule) else 1
        return self.restarts * cycles * self.epochs

    def batches(self, rows: int) -> int:
        """Count the batches of an epoch for a number of train rows, at least one."""
        return 1 if self.batch == "full" else ceil(rows / self.batch)

    @model_validator(mode="after")
    def _draws_are_chosen_from(self) -> Pretraining:
        if self.start != "best_of_prior" and self.start_draws != START_DRAWS:
            raise InputError("study.start_draws", draws=self.start_draws, start=self.start)
        return self

    @model_validator(mode="after")
    def _sd_is_used(self) -> Pretraining:
        if self.start != "standard_normal" and self.start_sd != 1:
            raise InputError("study.start_sd", sd=self.start_sd, start=self.start)
        return self

    @model_validator(mode="after")
    def _weights_are_put_into_a_draw(self) -> Pretraining:
        if self.start != "prior" and self.start_weights is not None:
            raise InputError("study.start_weights", start=self.start)
        return self

    @model_validator(mode="after")
    def _line_search_sees_one_loss(self) -> Pretraining:
        if isinstance(self.optimiser, LBFGSOptimiser) and self.batch != "full":
            raise InputError("study.lbfgs_of_batches", batch=self.batch)
        return self

    @model_validator(mode="after")
    def _cycles_can_end(self) -> Pretraining:
        if isinstance(self.schedule, CyclesSchedule) and self.patience is None:
            raise InputError("study.cycles_without_patience")
        return self
