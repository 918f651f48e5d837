"""The figures of every part of the report, and the tables that they are drawn from."""

from __future__ import annotations

FIGURES_OF_CHAINS = {
    "Convergence": (
        "verdict",
        "convergence",
        "trace",
        "autocorrelation",
        "divergences",
        "thinning",
    ),
    "Posterior": ("weight_planes", "history"),
    "Pretraining": ("loss",),
}
FIGURES = {
    **FIGURES_OF_CHAINS,
    "Accuracy": ("predicted_vs_true", "residuals", "residual_histogram", "deciles"),
    "Calibration": ("pulls", "coverage", "levels", "pit", "conditional", "cases"),
}
FIGURES_OF_CLASSES = {
    **FIGURES_OF_CHAINS,
    "Classes": ("confusion", "reliability", "thresholds"),
}
TABLES_OF_CHAINS = (
    "verdict",
    "trace",
    "convergence",
    "quantities",
    "autocorrelation",
    "weight_autocorrelation",
    "history",
    "weight_planes",
    "divergences",
    "loss",
    "labels",
    "calibration_checks",
)
VERDICTS_OF_RUN = {
    "--verdict": "verdict.csv",
    "--calibration": "calibration_checks.csv",
}
LANDSCAPE_FIGURES = ("landscape", "distances")
PRIOR = "prior_predictive"
COMPARISON_FIGURES = ("scan", "differences")
"""The second is of two settings or more."""
LANDSCAPE_TABLES = ("landscape", "landscape_maps", "path", "distances")
PRIOR_TABLES = ("prior_quantiles", "prior_draws", "prior_scales", "labels")
BAND_TABLES = ("verdict", "calibration_checks", "predictions", "labels")
TABLES = (
    *TABLES_OF_CHAINS,
    "predictions",
    "coverage",
    "levels",
    "pit",
    "conditional",
    "deciles",
    "cases",
)
TABLES_OF_CLASSES = (*TABLES_OF_CHAINS, "classes", "confusion", "reliability", "thresholds")
