"""The one list of figures: what each is drawn from, by which function, and which runs have it.

Planning reads it too, so it imports nothing. The caption of a figure is the file of its name in
`workflow/report/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Of(StrEnum):
    """What has a figure."""

    RUNS = "every run"
    CHAINS = "runs of chains"
    NUMBERS = "runs of numbers"
    CLASSES = "runs of classes"
    PLANES = "runs of classes with two inputs"
    IMAGES = "runs of classes of images"
    ONE_FEATURE = "runs of numbers with one feature"
    DRAWN_SIZES = "runs whose network size is drawn"
    KNOWN_SCALE = "runs of numbers whose scale uncertainty is known"
    DATA = "datasets of runs whose figures are asked for"
    MAPS = "models with the MAPs that span a plane"
    PRIORS = "models whose prior is asked for"
    GRIDS = "grids of several runs"
    SETTINGS = "grids of several settings"
    SPEED = "grids that are timed"
    APPROXIMATED = "models with chains and approximations beside them"


class Figure(NamedTuple):
    """One figure.

    Attributes
    ----------
    name
        Name of its files, and of its caption.
    category
        Section of the report.
    of
        What has it.
    drawn_by
        Module and function in `nlobayes.plots`; the function takes the tables in their order.
    tables
        The tables that it is drawn from, and the columns that it needs of each. Columns that may
        lack values end in `?`; `*` takes the table as it is.
    """

    name: str
    category: str
    of: Of
    drawn_by: str
    tables: Mapping[str, str]


ALL = (
    Figure(
        "data",
        "Data",
        Of.DATA,
        "data.data",
        {"data_rows": "*", "data_columns": "*", "data_splits": "*"},
    ),
    Figure(
        "verdict",
        "Convergence",
        Of.CHAINS,
        "verdict.verdict",
        {"verdict": "*", "calibration_checks": "*"},
    ),
    Figure(
        "convergence",
        "Convergence",
        Of.CHAINS,
        "convergence.convergence",
        {"convergence": "rhat? rhat_gelman_rubin? ess_bulk ess_tail variance_share?"},
    ),
    Figure(
        "trace",
        "Convergence",
        Of.CHAINS,
        "convergence.trace",
        {"trace": "chain draw log_density noise?"},
    ),
    Figure(
        "autocorrelation",
        "Convergence",
        Of.CHAINS,
        "convergence.autocorrelation",
        {
            "autocorrelation": "lag f_mean f_p10 f_p90 log_density noise?",
            "weight_autocorrelation": "lag mean p10 p90",
        },
    ),
    Figure(
        "divergences",
        "Convergence",
        Of.CHAINS,
        "convergence.divergences",
        {"divergences": "covariate deviation? expected?", "labels": "*"},
    ),
    Figure(
        "thinning",
        "Convergence",
        Of.CHAINS,
        "thinning.thinning",
        {"thinning": "step ess_f_median rmse? lppd megabytes stored chosen"},
    ),
    Figure("weight_planes", "Posterior", Of.CHAINS, "weights.planes", {"weight_planes": "*"}),
    Figure("history", "Posterior", Of.CHAINS, "weights.history", {"history": "*"}),
    Figure(
        "loss",
        "Pretraining",
        Of.RUNS,
        "convergence.loss",
        {"loss": "chain epoch train_loss validation_rmse?"},
    ),
    Figure(
        "predicted_vs_true",
        "Accuracy",
        Of.NUMBERS,
        "accuracy.predicted_vs_true",
        {
            "predictions": (
                "split truth mean low_68 high_68 truth_target median_target reference?"
            ),
            "labels": "*",
        },
    ),
    Figure(
        "residuals",
        "Accuracy",
        Of.NUMBERS,
        "accuracy.residuals",
        {"predictions": "split covariate truth mean reference?", "labels": "*"},
    ),
    Figure(
        "residual_histogram",
        "Accuracy",
        Of.NUMBERS,
        "accuracy.residual_histogram",
        {"predictions": "split truth mean", "labels": "*"},
    ),
    Figure(
        "deciles",
        "Accuracy",
        Of.NUMBERS,
        "conditional.deciles",
        {"deciles": "*", "labels": "*"},
    ),
    Figure(
        "bands",
        "Accuracy",
        Of.ONE_FEATURE,
        "bands.bands",
        {"predictions": "split covariate truth mean posterior_sd total_sd", "labels": "*"},
    ),
    Figure(
        "curves",
        "Accuracy",
        Of.ONE_FEATURE,
        "curves.curves",
        {
            "curves": "chain draw covariate f",
            "maps": "member covariate f",
            "predictions": "split covariate truth",
            "labels": "*",
        },
    ),
    Figure(
        "density",
        "Accuracy",
        Of.ONE_FEATURE,
        "curves.density",
        {
            "density": "covariate value density",
            "predictive_quantiles": "covariate q2_5 q16 q50 q84 q97_5",
            "predictions": "split covariate truth",
            "labels": "*",
        },
    ),
    Figure(
        "pulls",
        "Calibration",
        Of.NUMBERS,
        "calibration.pulls",
        {"predictions": "split z_total z_epistemic?"},
    ),
    Figure(
        "coverage",
        "Calibration",
        Of.NUMBERS,
        "calibration.coverage",
        {"coverage": "split k own_total own_epistemic? epistemic? total lower upper"},
    ),
    Figure(
        "levels",
        "Calibration",
        Of.NUMBERS,
        "calibration.levels",
        {"levels": "split level coverage lower upper"},
    ),
    Figure(
        "pit",
        "Calibration",
        Of.NUMBERS,
        "calibration.pit",
        {"predictions": "split pit", "pit": "split u ecdf lower upper"},
    ),
    Figure(
        "conditional",
        "Calibration",
        Of.NUMBERS,
        "conditional.conditional",
        {"conditional": "*", "labels": "*"},
    ),
    Figure(
        "cases",
        "Calibration",
        Of.NUMBERS,
        "calibration.cases",
        {"cases": "case point truth draw mean total_sd", "labels": "*"},
    ),
    Figure(
        "scale_ratio",
        "Calibration",
        Of.KNOWN_SCALE,
        "accuracy.scale_ratio",
        {"predictions": "split covariate error_over_scale?", "labels": "*"},
    ),
    Figure(
        "confusion",
        "Classes",
        Of.CLASSES,
        "classification.confusion",
        {"confusion": "split true predicted count", "classes": "*"},
    ),
    Figure(
        "reliability",
        "Classes",
        Of.CLASSES,
        "classification.reliability",
        {"reliability": "split low high count confidence? accuracy? lower? upper?"},
    ),
    Figure(
        "thresholds",
        "Classes",
        Of.CLASSES,
        "classification.thresholds",
        {"thresholds": "split threshold precision? lower? upper? recall? answered"},
    ),
    Figure("sizes", "Network size", Of.DRAWN_SIZES, "sizes.sizes", {"sizes": "*"}),
    Figure(
        "visits",
        "Network size",
        Of.DRAWN_SIZES,
        "sizes.visits",
        {"visits": "*", "sizes": "*"},
    ),
    Figure("size_trace", "Network size", Of.DRAWN_SIZES, "sizes.size_trace", {"size_trace": "*"}),
    Figure(
        "draw_scores",
        "Network size",
        Of.DRAWN_SIZES,
        "sizes.draw_scores",
        {"draw_scores": "*", "size_scores": "*", "labels": "*"},
    ),
    Figure(
        "certainty",
        "Classes",
        Of.PLANES,
        "certainty.certainty",
        {
            "plane": "first second class probability disagreement",
            "plane_points": "split first second class right",
            "plane_inputs": "*",
            "classes": "*",
        },
    ),
    Figure(
        "images",
        "Classes",
        Of.IMAGES,
        "images.images",
        {
            "examples": "*",
            "example_probabilities": "example class probability",
            "example_inputs": "example row column value",
            "classes": "*",
        },
    ),
    Figure(
        "landscape",
        "Pretraining",
        Of.MAPS,
        "landscape.landscape",
        {
            "landscape": "alpha beta energy?",
            "landscape_maps": "chain alpha beta energy",
            "path": "t straight? bezier?",
        },
    ),
    Figure(
        "distances",
        "Pretraining",
        Of.MAPS,
        "landscape.distances",
        {"distances": "epoch first second distance"},
    ),
    Figure(
        "prior_predictive",
        "Prior",
        Of.PRIORS,
        "prior_predictive.prior_predictive",
        {
            "prior_quantiles": "output covariate q2_5 q16 q84 q97_5 observed?",
            "prior_draws": "output draw covariate f",
            "prior_scales": "output draw? mean sd step range",
            "labels": "*",
        },
    ),
    Figure("scan", "Comparison", Of.GRIDS, "scan.scan", {"runs": "*", "scanned": "*"}),
    Figure(
        "differences",
        "Comparison",
        Of.SETTINGS,
        "comparison.differences",
        {"differences": "*"},
    ),
    Figure(
        "speed",
        "Speed",
        Of.SPEED,
        "speed.speed",
        {
            "speed": "parameters rows gradient_ms seconds_per_draw? seconds_per_draw_at_most?"
            " predict_1_ms predict_16_ms predict_256_ms predict_4096_ms"
            " raw_1_ms raw_16_ms raw_256_ms raw_4096_ms load_ms"
        },
    ),
    Figure("loadings", "Speed", Of.SPEED, "speed.loadings", {"loadings": "parameters load_ms"}),
    Figure("fidelity", "Comparison", Of.APPROXIMATED, "fidelity.fidelity", {"fidelity": "*"}),
)

VERDICTS = ("verdict", "calibration_checks")
"""Tables of a run whose failures stand on every figure of it."""
OF_EVERY_RUN = (*VERDICTS, "labels")
"""Tables that every run has, whichever its figures."""
BESIDE_CHAINS = ("quantities",)
"""Tables of chains that no figure shows."""
FROM_THINNING = ("thinning",)
"""Tables that are written where draws are thinned, not where the other ones are."""


def tabulated_of_sizes() -> tuple[str, ...]:
    """Name the tables that are written for runs alone whose network size is drawn."""
    return tuple(t for t in tables_of(Of.DRAWN_SIZES) if t not in OF_EVERY_RUN)


def names_of(*kinds: Of) -> tuple[str, ...]:
    """Name the figures that something has, in the order of the list."""
    return tuple(figure.name for figure in ALL if figure.of in kinds)


def by_category(*kinds: Of) -> dict[str, tuple[str, ...]]:
    """Name the figures that something has, by the section of the report."""
    found: dict[str, tuple[str, ...]] = {}
    for figure in ALL:
        if figure.of in kinds:
            found[figure.category] = (*found.get(figure.category, ()), figure.name)
    return found


def tables_of(*kinds: Of) -> tuple[str, ...]:
    """Name the tables that the figures of something are drawn from, each once."""
    return tuple(dict.fromkeys(t for figure in ALL if figure.of in kinds for t in figure.tables))


def tabulated(*kinds: Of) -> tuple[str, ...]:
    """Name the tables that are written for the figures of a run, and those that every run has."""
    return tuple(dict.fromkeys((*tables_of(*kinds), *OF_EVERY_RUN)))


def tabulated_of_chains() -> tuple[str, ...]:
    """Name the tables that are written for the figures of chains alone, and those beside them."""
    elsewhere = (*OF_EVERY_RUN, *FROM_THINNING)
    return (*(t for t in tables_of(Of.CHAINS) if t not in elsewhere), *BESIDE_CHAINS)
