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
    this close to those of all; null keeps `draws`."""
    rows: Annotated[Literal["train", "all"], Field(exclude_if=lambda rows: rows == "train")] = (
        "train"
    )
    """Rows on which an infinitely wide network is conditioned in a surrogate. With `all` the noise
    is fitted again: to validation and test rows, each given all others, and below 40 of these also
    to train rows. Errors are then smaller than the scores say."""


Case = Annotated[int, Field(ge=0, strict=True)] | Annotated[dict[str, float], Field(min_length=1)]
"""A row by its number, or by the values of some of its inputs."""
MOST_PANELS = 15
"""Most parameters whose marginal densities are shown."""


class Shown(Frozen):
    """Contents of the figures of a run, instead of the automatic choice."""

    cases: Annotated[tuple[Case, ...], Field(max_length=6)] = ()
    """Test rows of the figure `cases`: numbers of rows, or values of inputs that one row alone
    has, as in `{m1: 512.3, m2: -87}`. None: a small, a typical and a large pull."""
    weight_planes: Annotated[tuple[tuple[str, str], ...], Field(max_length=8)] = ()
    """Pairs of parameters of the figure `weight_planes`, by their names in the posterior file,
    as in `["weights_1[m1, 0]", "biases_2[3]"]`. None: four pairs."""
    marginals: Annotated[NamesOrNone, Field(max_length=MOST_PANELS)] = ()
    """Parameters of the figure `marginals`, by the same names. None: noise and hyperparameters,
    and coefficients or six weights."""


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
    """Family of the predictive noise, fitted to held-out rows (docs/statistics.md). `auto` takes
    the one with the highest log score on halves of them; below 40 rows `gaussian` or
    `scaled_gaussian`."""
    combine: Combine = "equal"
    """All draws count the same (`equal`), or also `stacking` (docs/statistics.md) of chains by
    their log score on validation rows."""
    scores: Annotated[dict[str, CustomScore], AfterValidator(check_scores)] = {}
    """Your own scores by their names, stored with the others in `evaluation.json`."""
    figures: Shown = Shown()
    """What the figures of a run show."""

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions that are scores, by name."""
        return {name: score.codes["function"] for name, score in self.scores.items()}
