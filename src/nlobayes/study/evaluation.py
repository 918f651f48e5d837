"""Presets of the evaluation of runs: limits, tolerances, scores, figures, surrogates.

All defaults are here; unknown keys are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.noises import NOISES
from nlobayes.settings.agreement import Agreement
from nlobayes.settings.user_files import Code, OwnFunction
from nlobayes.settings.values import Fraction, Frozen, NamesOrNone, Positive, PositiveInt


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
