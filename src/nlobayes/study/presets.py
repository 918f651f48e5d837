"""Models of the presets of a study and of a run: their keys, defaults and limits.

These models, and those of `sources` and `methods`, are the only place of defaults. All are frozen
and refuse unknown keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, field_validator

from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.noises import NOISES
from nlobayes.likelihoods import Likelihood
from nlobayes.methods import Method
from nlobayes.methods.mcmc import MCMC
from nlobayes.priors import Prior
from nlobayes.settings.agreement import Agreement
from nlobayes.settings.user_files import Code, OwnFunction
from nlobayes.settings.values import (
    Fraction,
    Frozen,
    Names,
    NamesOrNone,
    Positive,
    PositiveInt,
    Seed,
    Seeds,
)
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.network import Network
from nlobayes.study.pretraining import Pretraining


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
    """Number of draws that the exported surrogate keeps, and rows that it learns."""

    draws: PositiveInt = 1000
    """Most draws."""
    tolerance: Fraction | None = 0.1
    """Keep the fewest draws whose mean (in units of the total sd) and total sd (relative) stay
    this close to those of all, at every validation row; null keeps `draws`. Classes keep
    `draws`, evenly spread."""
    rows: Annotated[Literal["train", "all"], Field(exclude_if=lambda rows: rows == "train")] = (
        "train"
    )
    """Rows on which the functions of an infinitely wide network are conditioned in a surrogate. Its
    scales and scores are those of the train rows alone: with `all` its errors are smaller than the
    scores and error bars say."""


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


SCORE_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
NO_SCORES = {
    *("run", "setting", "replicate", "converged", "failed_checks", "exact", "checks", "chains"),
    *("divergences", "gradients_total", "draws_per_chain", "between_chain_variance_share"),
    *("undefined", "groups", "points"),
}
NO_SCORE_PREFIXES = ("baseline_", "coverage_", "ess_", "loo_", "rhat_", "stated_", "waic_")
"""Prefixes of keys that are not scores."""


class CustomScore(OwnFunction):
    """A score of your own: a function in a Python file, of the predictions of one split."""

    compared: bool = False
    """Whether runs are also compared by this score, in the tables and the figure of differences."""


def check_scores(scores: Mapping[str, CustomScore]) -> Mapping[str, CustomScore]:
    """Refuse names that are not valid keys, or that other scores have.

    Raises InputError if there is such a name.
    """
    if not scores:
        return scores
    from nlobayes.metrics import METRICS  # imported here, since jobs of other verbs do not need it

    taken = NO_SCORES.union(*(metric.keys for metric in METRICS))
    for name in scores:
        if not SCORE_NAME.fullmatch(name):
            raise InputError("study.score_name", name=name, pattern=SCORE_NAME.pattern)
        if name in taken or name.startswith(NO_SCORE_PREFIXES):
            raise InputError("study.score_taken", name=name, prefixes=NO_SCORE_PREFIXES)
    return scores


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
    """Family of the predictive noise fitted on held-out rows: validation rows, and with `width:
    infinite` also train rows, which are predicted by leave-one-out.

    `auto` takes `gaussian`, `fitted_student_t` or `conformal`, whichever has the highest log score
    on halves of the held-out rows that it was not fitted to; below 80 of them `gaussian`. If the
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


CROSSED = ("dataset", "network", "prior", "likelihood", "pretraining", "method")
"""Kinds of presets that grids cross, in the order of the path of a run."""


class RunSpec(Frozen):
    """All presets and settings of one run."""

    names: dict[str, str]
    dataset: DatasetPreset
    network: Network
    prior: Prior
    likelihood: Likelihood
    pretraining: Pretraining
    method: Method
    evaluation: Evaluation
    seed: Seed
    precision: Literal["float32", "float64"]
    execution: Execution

    @cached_property
    def run_id(self) -> str:
        """Path of the run: its preset names and its seed."""
        return "/".join([*(self.names[kind] for kind in CROSSED), f"s{self.seed}"])

    @cached_property
    def model_id(self) -> str:
        """Path of the sampled model, shared by all samplers: the run without its sampler."""
        return "/".join([*(self.names[kind] for kind in CROSSED[:-1]), f"s{self.seed}"])

    @cached_property
    def starts(self) -> Sequence[int]:
        """Number of the MAP that each chain, or each member of an ensemble, starts from."""
        return self.method.starts

    @cached_property
    def chain_groups(self) -> list[list[int]]:
        """Numbers of the chains of each job; none for methods without chains."""
        return self.method.chain_groups(self.execution.chains_per_job)

    @property
    def mcmc(self) -> MCMC | None:
        """Method if it is one of chains, else None."""
        return self.method if isinstance(self.method, MCMC) else None
