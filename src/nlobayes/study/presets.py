"""Models of the presets of a study: their keys, defaults and limits.

These models, and those of `sources` and `methods`, are the only place of defaults. All are frozen
and refuse unknown keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.noises import NOISES
from nlobayes.model.activations import ACTIVATIONS, has_slopes, is_known
from nlobayes.settings.agreement import Agreement
from nlobayes.settings.own_function import Code
from nlobayes.settings.values import (
    Fraction,
    Frozen,
    Names,
    NamesOrNone,
    Positive,
    PositiveInt,
    Seeds,
    Width,
)
from nlobayes.study.activation import Activations, CustomActivation, form_of
from nlobayes.study.counts import Count
from nlobayes.study.own_score import CustomScore, check_scores


class Network(Frozen):
    """A dense multilayer perceptron with linear outputs, as many as the likelihood needs."""

    hidden: Annotated[tuple[Width, ...], Field(max_length=100)]
    """Units of each hidden layer; empty for a linear model."""
    activation: Activations = "tanh"
    """Activation of every hidden layer, or a list with one for each. `prelu` and `square_prelu`
    have trained slopes, one per unit. `leaky_relu(0.3)` states the slope below zero, which is 0.01
    by default. `{kind: custom, file: ..., function: ...}` is a function of your own."""
    outputs: PositiveInt | None = None
    """Number of outputs; null: as many as targets and likelihood need."""
    output: Literal["sampled", "marginalised"] = "sampled"
    """Whether chains move the weights and the bias of the output (`sampled`), or these are
    integrated out exactly and drawn for each stored draw (`marginalised`). The latter needs a
    Gaussian likelihood, a prior of the output that is Gaussian given its scales, pretraining with
    `batch: full`, and `precision: float64`."""
    units: Count | None = None
    """Prior of the number of units in each hidden layer, with `hidden` as the maximum; null fixes
    the number. The kernel `reversible_jump` draws it with the weights."""
    layers: Count | None = None
    """Prior of the number of hidden layers, with those of `hidden` as the maximum; null fixes the
    number. It needs the activation `relu`, layers of one width, and the kernel
    `reversible_jump`."""

    @field_validator("activation", mode="before")
    @classmethod
    def _is_known(cls, named: Any) -> Any:
        for name in named if isinstance(named, list | tuple) else (named,):
            if form_of(name) == "name" and not is_known(name):
                raise InputError("study.unknown_activation", name=name, known=list(ACTIVATIONS))
        return named

    @model_validator(mode="after")
    def _each_layer_has_its_own(self) -> Network:
        named = self.activation
        if isinstance(named, tuple) and len(named) != len(self.hidden):
            raise InputError("study.activations", given=len(named), layers=len(self.hidden))
        return self

    @property
    def varies(self) -> bool:
        """Whether the number of units or of layers is not fixed."""
        return self.units is not None or self.layers is not None

    @property
    def has_slopes(self) -> bool:
        """Whether an activation has slopes that are trained."""
        return bool(self.hidden) and any(has_slopes(name) for name in self.activations)

    @property
    def activations(self) -> tuple[str | CustomActivation, ...]:
        """Activation of all hidden layers, or one for each."""
        return self.activation if isinstance(self.activation, tuple) else (self.activation,)

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions among the activations, by number; none if all are built in."""
        own = (name for name in self.activations if isinstance(name, CustomActivation))
        return {str(number): one.codes["function"] for number, one in enumerate(own)}


class Thresholds(Agreement):
    """Limits within which chains count as converged; each is stored with its value and verdict."""

    ebfmi_min: Positive = 0.3
    """Smallest E-BFMI of any chain."""
    max_divergences: Annotated[int, Field(ge=0)] = 0
    """Most divergent draws of all chains."""


class CalibrationTolerances(Frozen):
    """Largest deviations of calibration, beyond chance (99.73 %)."""

    coverage: Positive = 0.02
    """Deviation of the coverage of central intervals of 68 % and 95 %, and of the confidence of
    classes."""
    chi2: Positive = 0.1
    """Deviation of the mean squared pull from 1."""


if TYPE_CHECKING:
    NoiseFamily = str
else:
    NoiseFamily = Literal["auto", *NOISES]


class Export(Frozen):
    """Number of draws that the exported surrogate keeps."""

    draws: PositiveInt = 1000
    """Most draws."""
    tolerance: Fraction | None = 0.1
    """Keep the fewest draws whose mean (in units of the total sd) and total sd (relative) stay
    this close to those of all, at every validation row; null keeps `draws`. Classes keep
    `draws`, evenly spread."""


Case = Annotated[int, Field(ge=0, strict=True)] | Annotated[dict[str, float], Field(min_length=1)]
"""A row by its number, or by the values of some of its inputs."""
MOST_PANELS = 15
"""Most parameters whose marginal densities are shown."""


class Shown(Frozen):
    """Contents of the figures of a run, instead of the automatic choice."""

    cases: Annotated[tuple[Case, ...], Field(max_length=6)] = ()
    """Test rows of the figure `cases`: numbers of rows, as its panels and `predictions.csv` name
    them, or values of inputs that one test row alone has, as in `{m1: 512.3, m2: -87}`. None: rows
    of a small, a typical and a large pull. Not for classes."""
    weight_planes: Annotated[tuple[tuple[str, str], ...], Field(max_length=8)] = ()
    """Pairs of parameters of the figure `weight_planes`, by their names in the posterior file, as
    in `["weights_1[m1, 0]", "biases_2[3]"]`; `weights_1[0, 0]` is that of the first feature. None:
    four pairs from the first and the second half of all weights."""
    marginals: Annotated[NamesOrNone, Field(max_length=MOST_PANELS)] = ()
    """Parameters of the figure `marginals`, by the same names. None: the noise and the
    hyperparameters, and all coefficients of a linear model (at most 15 in all), or six weights of
    another network."""


Combine = Literal["equal", "stacking"]


class Evaluation(Frozen):
    """Scores and export of a posterior; a change never causes new sampling."""

    thresholds: Thresholds = Thresholds()
    """Limits of the convergence checks."""
    calibration: CalibrationTolerances = CalibrationTolerances()
    """Limits of the calibration checks."""
    thinning_loss: Fraction = 0.1
    """Share of the effective sample size that thinning may lose."""
    export: Export = Export()
    """What the surrogate file holds."""
    noise: NoiseFamily = "auto"
    """Family of the predictive noise fitted on validation rows.

    `auto` takes `gaussian`, `fitted_student_t` or `conformal`, whichever has the highest log score
    on halves of the validation rows that it was not fitted to; below 80 of them `gaussian`. If the
    spread of the residuals changes along the prediction, it may also take `scaled_gaussian`, and
    below 80 rows does. About every draw: `gaussian` covers the tails, `scaled_gaussian` has a scale
    that changes along the prediction, `student_t` (4 degrees of freedom) is sharper in the centre,
    `fitted_student_t` fits its degrees of freedom. About the mean of the draws:
    `scaled_student_t` follows the sd of the draws and the features; `conformal` does so with 25,
    50, 68 and 95 % intervals set to cover in bins of the covariate.
    """
    combine: Combine = "equal"
    """Combination of chains that do not mix: all draws count the same (`equal`), or `stacking` also
    weights the chains to predict the validation rows best, and reports these scores beside those of
    equal draws. The verdict on convergence does not change."""
    scores: Annotated[dict[str, CustomScore], AfterValidator(check_scores)] = {}
    """Your own scores by their names, stored with the others in `evaluation.json`."""
    figures: Shown = Shown()
    """What the figures of a run show."""

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions that are scores, by name."""
        return {name: score.codes["function"] for name, score in self.scores.items()}


class Execution(Frozen):
    """Device of the densities, and how chains share jobs; belongs in the profile of a machine."""

    device: Literal["cpu", "gpu"] = "cpu"
    """Kind of device; a job stops where it is missing."""
    chains_per_job: PositiveInt | Literal["all"] = 1
    """Chains that one job computes together, vectorised; `all` puts a run into one job."""
    shards: PositiveInt = 1
    """Devices of one job that share the rows of the train split."""


CROSSED_OR_SEEDED = (
    *("dataset", "network", "prior", "likelihood", "pretraining", "method", "seed"),
)


class Grid(Frozen):
    """Preset names to cross into runs."""

    RENAMED: ClassVar[Mapping[str, str]] = {"sampler": "method"}

    dataset: Names
    """Names of dataset presets; a single name needs no list."""
    network: Names
    """Names of network presets; a single name needs no list."""
    prior: Names
    """Names of prior presets; a single name needs no list."""
    likelihood: Names
    """Names of likelihood presets; a single name needs no list."""
    pretraining: Names
    """Names of pretraining presets; a single name needs no list."""
    method: Names
    """Names of method presets; a single name needs no list."""
    evaluation: str = "default"
    """Name of the evaluation preset of all its runs."""
    seed: Seeds | None = None
    """Seeds of the runs; the study's `seeds` where not given."""
    outputs: Literal["figures", "surrogates", "metrics", "speed", "prior"] = "figures"
    """Final outputs of the grid: figures, scores and surrogate of every run; scores and surrogate
    (`surrogates`); scores alone; timings of networks that are not trained; or prior draws before
    any data (`prior`)."""
    rivals: NamesOrNone = ()
    """Names of rival presets: regressors that are fitted to the same train rows and scored beside
    every run of the grid. They need one target that is a number."""

    @field_validator(*CROSSED_OR_SEEDED, "rivals", mode="before")
    @classmethod
    def _one_is_many(cls, names: Any) -> Any:
        return [names] if isinstance(names, str | int) else names
