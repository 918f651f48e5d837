"""The list of all scores: their names, their units, what is better, and where they are shown.

It imports no library, because planning, evaluation and figures read it. Its order is that of tables
and panels. `docs/scores.md` is this list; `python -m nlobayes.metrics` prints it.
"""

from __future__ import annotations

from nlobayes.metrics.metric import HIGHER, LOWER, Axis, Column, ComparisonPlace, Metric, MetricKind
from nlobayes.metrics.posterior_scores import OF_POSTERIORS

NUMBERS, CLASSES = MetricKind.NUMBERS, MetricKind.CLASSES
SCAN, FOREST, PAIRED = ComparisonPlace
EVERYWHERE = frozenset(ComparisonPlace)
INTERVAL, ERROR = ("_low", "_high"), ("_se",)
TARGET, MODEL_SCALE, NATS = "target's unit", "model scale", "nats per point"

METRICS = (
    Metric(
        "r2_log10",
        NUMBERS,
        "R² of log₁₀ target",
        better=HIGHER,
        beside=INTERVAL,
        shown=EVERYWHERE,
        axis=Axis(span=0.01),
        column=Column("R²", ".4f", place=1, rank=4, first=False),
    ),
    Metric(
        "r2_target_mean",
        NUMBERS,
        "R² of target",
        better=HIGHER,
        shown=frozenset({SCAN}),
        axis=Axis(span=0.01),
        column=Column("R²", ".4f", place=1, rank=4, first=False),
    ),
    Metric(
        "r2_target_median",
        NUMBERS,
        "R² of target, median",
        better=HIGHER,
        beside=INTERVAL,
        shown=frozenset({FOREST, PAIRED}),
        axis=Axis(span=0.01),
    ),
    Metric(
        "rmse_log10",
        NUMBERS,
        "RMSE",
        "dex",
        LOWER,
        shown=EVERYWHERE,
        axis=Axis("fitting"),
        column=Column("RMSE", ".3g", place=0),
    ),
    Metric(
        "rmse_target",
        NUMBERS,
        "RMSE",
        TARGET,
        LOWER,
        shown=EVERYWHERE,
        axis=Axis("fitting"),
        column=Column("RMSE", ".3g", place=0),
    ),
    Metric(
        "accuracy",
        CLASSES,
        "accuracy",
        "%",
        HIGHER,
        ERROR,
        shown=EVERYWHERE,
        column=Column("accuracy", ".4f", place=0),
    ),
    Metric("brier", CLASSES, "Brier score", "", LOWER, ERROR, shown=EVERYWHERE),
    Metric(
        "ece",
        CLASSES,
        "calibration error",
        "%",
        LOWER,
        shown=EVERYWHERE,
        column=Column("ece", ".3f", place=2, rank=2),
    ),
    Metric("crps", NUMBERS, "CRPS", MODEL_SCALE, LOWER, shown=frozenset({FOREST, PAIRED})),
    Metric(
        "lppd",
        NUMBERS,
        "log score",
        NATS,
        HIGHER,
        shown=frozenset({FOREST, PAIRED}),
        column=Column("log score", ".3f", place=4, rank=3, first=False),
    ),
    Metric(
        "coverage_68",
        NUMBERS,
        "68 % coverage",
        "%",
        0.68,
        shown=frozenset({PAIRED}),
        column=Column("68 %", ".1%", place=2, rank=1),
    ),
    Metric(
        "coverage_95",
        NUMBERS,
        "95 % coverage",
        "%",
        0.95,
        shown=EVERYWHERE,
        axis=Axis(span=0.1),
        column=Column("95 %", ".1%", place=3, rank=2),
    ),
    Metric(
        "coverage_68_worst_slab",
        NUMBERS,
        "68 % coverage of the worst slab",
        "%",
        0.68,
        INTERVAL,
        ("test",),
        column=Column("worst slab", ".1%", place=3, rank=5, first=False),
    ),
    Metric("coverage_99_7", NUMBERS, "99.7 % coverage", "%", 0.997),
    Metric(
        "sigma_z_epistemic", NUMBERS, "sd of the pulls, epistemic sd alone", shown=frozenset({SCAN})
    ),
    Metric(
        "sigma_z_total",
        NUMBERS,
        "sd of the pulls",
        "",
        1.0,
        ERROR,
        shown=frozenset({SCAN, PAIRED}),
        axis=Axis(span=0.1),
    ),
    Metric("mean_z_total", NUMBERS, "mean pull", "", 0.0, ERROR),
    Metric("chi2_per_point", NUMBERS, "mean squared pull", "", 1.0, ERROR),
    *(
        Metric(f"coverage_k{k}{kind}", NUMBERS, f"points within {k}{name} sd of the mean", "%")
        for kind, name in (("", ""), ("_epistemic", " epistemic"))
        for k in range(1, 6)
    ),
    Metric(
        "interval_score_95",
        NUMBERS,
        "interval score, 95 %",
        MODEL_SCALE,
        LOWER,
        shown=frozenset({PAIRED}),
    ),
    *(
        Metric(f"interval_score_{p}", NUMBERS, f"interval score, {p} %", MODEL_SCALE, LOWER)
        for p in (68, 90)
    ),
    Metric("pit_ks", NUMBERS, "largest distance of the PIT from uniform", "", LOWER),
    Metric("nll_gaussian", NUMBERS, "minus log score of a Gaussian", NATS, LOWER),
    Metric("crps_target", NUMBERS, "CRPS of target", TARGET, LOWER),
    Metric("lppd_target", NUMBERS, "log score of target", NATS, HIGHER),
    Metric("nll_gaussian_target", NUMBERS, "minus log score of a Gaussian, target", NATS, LOWER),
    Metric("interval_score_95_target", NUMBERS, "interval score of target, 95 %", TARGET, LOWER),
    Metric("posterior_sd", NUMBERS, "epistemic sd, root mean square", MODEL_SCALE),
    Metric("noise_sd", NUMBERS, "sd of the predictive noise, root mean square", MODEL_SCALE),
    Metric("total_sd", NUMBERS, "total sd, root mean square", MODEL_SCALE),
    Metric("squared_error_log10", NUMBERS, "mean squared error", "dex²", LOWER),
    Metric("bias_log10", NUMBERS, "mean of predicted minus observed", "dex", 0.0),
    Metric("squared_error", NUMBERS, "mean squared error of target", "squared unit", LOWER),
    Metric("percent_error", NUMBERS, "mean of |predicted / target - 1|, times 100", "", LOWER),
    *(
        Metric(
            f"relative_error_p{p}", NUMBERS, f"|predicted / target - 1|, {p} % quantile", "", LOWER
        )
        for p in (50, 68, 90, 95, 99)
    ),
    *(
        Metric(
            f"variance_share_top{k}_{space}",
            NUMBERS,
            f"share of the {k} largest squared deviations, {space}",
        )
        for space in ("log10", "target")
        for k in (1, 5, 10, 20)
    ),
    Metric("error_over_scale_p50", NUMBERS, "median |error| over scale uncertainty", "", LOWER),
    Metric(
        "error_over_scale_share_below_0_3",
        NUMBERS,
        "points whose |error| is below 0.3 scale uncertainties",
        "%",
        HIGHER,
    ),
    Metric(
        "sd_over_scale_share_below_0_3",
        NUMBERS,
        "points whose total sd is below 0.3 scale uncertainties",
        "%",
        HIGHER,
    ),
    Metric(
        "lppd",
        CLASSES,
        "log score",
        NATS,
        HIGHER,
        ERROR,
        column=Column("log score", ".3f", place=1, rank=1, first=False),
    ),
    *(
        Metric(
            f"top_{k}_accuracy", CLASSES, f"true class among {k} most probable", "%", HIGHER, ERROR
        )
        for k in (2, 3)
    ),
    Metric("confidence", CLASSES, "mean of the largest probability", "%", None, ERROR),
    Metric("predictive_entropy", CLASSES, "entropy of the prediction", NATS, None, ERROR),
    Metric("expected_entropy", CLASSES, "mean entropy of the draws", NATS, None, ERROR),
    Metric("mutual_information", CLASSES, "epistemic part of the entropy", NATS, None, ERROR),
    *(
        Metric(f"{name}_at_{p}", CLASSES, f"{label} at confidence {p} %", "%", better, ERROR)
        for p in (20, 40, 60, 80, 90)
        for name, label, better in (
            ("precision", "correct of those answered", HIGHER),
            ("recall", "correct and answered of all", HIGHER),
            ("answered", "answered of all", None),
        )
    ),
    Metric("ece_adaptive", CLASSES, "calibration error, bins of equal mass", "%", LOWER),
    Metric("precision_macro", CLASSES, "precision, mean over classes", "%", HIGHER),
    Metric("recall_macro", CLASSES, "recall, mean over classes", "%", HIGHER),
    Metric("f1_macro", CLASSES, "F1, mean over classes", "%", HIGHER),
    *OF_POSTERIORS,
)

_BY_KEY = {metric.key: metric for metric in reversed(METRICS)}


def metric_of(key: str) -> Metric:
    """Find the score of a key; the first one if both numbers and classes have it.

    A key that is not in the list belongs to a custom score and is its name.
    """
    return _BY_KEY.get(key) or Metric(key, NUMBERS, key.replace("_", " "))


def is_own(key: str) -> bool:
    """Return whether a key belongs to a custom score."""
    return key not in _BY_KEY


def shown_in(place: ComparisonPlace) -> tuple[str, ...]:
    """Return the keys of the scores that are shown at a place, in the order of the list."""
    return tuple(metric.key for metric in METRICS if place in metric.shown)


def by_column(kind: MetricKind) -> dict[Column, tuple[str, ...]]:
    """Return the columns of the summary in their order, and the keys that fill each."""
    found: dict[Column, tuple[str, ...]] = {}
    for metric in METRICS:
        if metric.kind == kind and metric.column:
            found[metric.column] = (*found.get(metric.column, ()), metric.key)
    return dict(sorted(found.items(), key=lambda item: item[0].place))
