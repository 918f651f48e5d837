"""The content of `evaluation.json`: its keys, their types and their meaning."""

from typing import Any, NotRequired, TypedDict

from nlobayes.checks import CalibrationCheck

Scores = dict[str, Any]
"""Scores of some rows, by the names of `metrics` and of custom scores."""


class Spread(TypedDict):
    """`spread`: residuals of train and validation rows along the prediction."""

    p_value: float
    """The p-value of noise of one distribution."""
    changes: bool
    """Whether the [spread changes](statistics.md#a-spread-that-changes-along-the-prediction)."""
    thirds: list[float]
    """Root mean squares on the model scale in the lower, the middle and the upper third."""
    coverage_68: NotRequired[list[CalibrationCheck]]
    """The checks of validation and test rows in each third; of the posterior alone."""


class Halves(TypedDict):
    """`halves`: held-out rows, scored by noise that their other half fits."""

    family: str
    """The family of the noise."""
    halvings: int
    """How often the rows were halved; zero where they are too few."""
    points: int
    """The number of rows."""
    coverage_68: float | None
    """The share inside central 68 % intervals."""
    coverage_95: float | None
    """The share inside central 95 % intervals."""
    lppd: float | None
    """The log score."""
    crps: float | None
    """The CRPS."""
    deciles: dict[str, list[float]] | None
    """The same four in bins of the covariate, with the edges `low` and `high`."""
    candidates: NotRequired[dict[str, float]]
    """The log score of each family, where `auto` chose."""
    undefined: NotRequired[str]
    """The reason, where there are no scores."""


class SplitScores(TypedDict, total=False):
    """Scores of predictions; classes have the splits alone."""

    train: Scores
    """The [scores](scores.md) of the train rows, of classes the
    [scores of classes](scores.md#scores-of-predicted-classes). With `width: infinite` they are of
    leave-one-out predictions."""
    val: Scores
    """Those of the validation rows."""
    test: Scores
    """Those of the test rows. Intervals of R² are 95 % bootstrap intervals. `monte_carlo_error` has
    the [Monte-Carlo error](statistics.md#monte-carlo-errors) of each score by its name, or is
    null."""
    predictive_noise: dict[str, Any]
    """`family`, `scale`, `degrees_of_freedom`, `exponent`, `reference_sd`, `knots`, `coefficients`,
    `spread_range`, `scale_range`, `column`, `edges`, `tails`, `slope`, `reference_mean`, `unit`,
    `fitted_on`: `val`, or with `width: infinite` `train and val`."""
    spread: Spread
    """Residuals of train and validation rows along the prediction."""
    halves: Halves
    """Held-out rows, scored by noise that their other half fits."""


class Ensemble(SplitScores, total=False):
    """The same scores of the MAPs as an ensemble."""

    members: dict[str, list[float]]
    """The RMSE or the accuracy of each MAP on the test rows."""


class LeastSquares(SplitScores, total=False):
    """The same scores of least squares on the features."""

    coefficients: dict[str, dict[str, float | None]]
    """`value` and `standard_error` by feature, in units of the network."""


class Difference(TypedDict):
    """`lppd_difference` of a rival, with its 95 % interval; null of too few rows."""

    size: float
    """The number of rows."""
    mean: float
    """The mean."""
    standard_error: float | None
    """Its standard error."""
    low: float | None
    """The lower end."""
    high: float | None
    """The upper end."""


class Rival(SplitScores, total=False):
    """One of `rivals`: the same scores of another regressor, and these keys."""

    missing: str
    """The package that is not installed; then the only key."""
    facts: dict[str, Any]
    """What its fit says of itself."""
    lppd_difference: Difference
    """Its log score minus that of the run, paired over the test rows."""
    own: dict[str, float]
    """`coverage_68`, `coverage_95` and `lppd` by its own sd."""


class StatedNoise(TypedDict):
    """`stated_noise`: scores with the noise of the likelihood."""

    family: str | None
    """The family of the likelihood."""
    declared: float | None
    """The number of a fixed sigma."""
    train: Scores
    """`lppd`, `lppd_se`, `coverage_68`, `coverage_95` and `monte_carlo_error`."""
    val: Scores
    """The same of the validation rows."""
    test: Scores
    """The same of the test rows."""


class ScoredDraws(TypedDict):
    """`scored_draws`: the draws that all scores of the posterior are of."""

    draws_scored: int
    """Their number."""
    ess_scored_median: float | None
    """The bulk ESS of f at the reference points, the median; null where draws are no chains."""
    ess_scored_min: float | None
    """The smallest of them."""


class LearnedTarget(TypedDict):
    """`learned`: what was learned; runs are comparable only if it is equal."""

    target: list[str]
    """The names of the targets."""
    unit: str
    """The unit of the first."""
    scale: str
    """The scale on which it is learned."""
    train: str
    """The digest of the train rows."""


class Stacking(TypedDict):
    """`stacking`, of `combine: stacking` ([statistics](statistics.md#chains-that-do-not-mix))."""

    weights: list[float]
    """The weights of the chains."""
    gap: float
    """By how much the log score could still rise, at most."""
    draws: int
    """The number of draws chosen by weight."""
    distinct: int
    """How many of them differ."""
    lppd_val: dict[str, float]
    """The log score of validation rows with `equal` weights and by `stacking`."""
    lppd_test: dict[str, float]
    """The same of test rows."""
    test: Scores
    """Scores of the chosen draws."""
    failed_checks: NotRequired[list[str]]
    """Checks of convergence that the chains fail."""


class Evaluation(SplitScores, total=False):
    """The run."""

    baseline: Ensemble
    """The same scores of the MAPs as an ensemble, and of each the RMSE or the accuracy."""
    map: SplitScores
    """`test` and `predictive_noise` of one MAP, the first, with the family of `baseline`."""
    linear: LeastSquares
    """The same scores of least squares on the features."""
    rivals: dict[str, Rival]
    """The same scores of other regressors, by name."""
    stated_noise: StatedNoise
    """Scores with the noise of the likelihood."""
    loo: dict[str, Any] | None
    """The log score of new rows, estimated from the train rows: `elpd`, `se`, `p`, `k_max`,
    `k_limit`, `k_above`, `k_above_share`, `points`, `elpd_of_rows`."""
    waic: dict[str, Any] | None
    """The same by WAIC: `elpd`, `se`, `p`, `p_above_share`."""
    undefined: dict[str, str]
    """The reason, where there is no `loo`."""
    calibration_checks: dict[str, CalibrationCheck]
    """By name: `value`, `low`, `high`, `passed`; of test rows."""
    outputs: dict[str, "Evaluation"]
    """Of several targets: all of this, by name of the target. `train`, `val`, `test` and `baseline`
    are then means over them, and checks are named `{check} of {target}`."""
    learned: LearnedTarget
    """What was learned."""
    scored_draws: ScoredDraws
    """The draws that all scores of the posterior are of."""
    own_scores: dict[str, dict[str, Any]]
    """Of custom scores, by name: `file`, `function`, `settings`, `compared`."""
    sizes: dict[str, Any]
    """Where the size of the network is drawn: `modal` (the most frequent size, by name of a
    number), `draws`, `draws_of_modal`; for `val` and `test`, under `marginal` (all draws) and
    `modal` (those of that size), `lppd` under the likelihood itself and `rmse_log10`, `rmse_target`
    or `accuracy` of the mean prediction; the same in the lists `by_chain`, and `by_size` of each
    size that has a hundredth of the draws or more."""
    stacking: Stacking
    """The chains by their weights, with `combine: stacking`."""
