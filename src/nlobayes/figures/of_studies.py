"""The figures of datasets, MAPs, priors, grids and their comparisons."""

from __future__ import annotations

from nlobayes.figures.figure import Figure, FigureKind

OF_STUDIES = (
    Figure(
        "data",
        "Data",
        FigureKind.DATA,
        "data.data",
        {"data_rows": "*", "data_columns": "*", "data_splits": "*"},
    ),
    Figure(
        "landscape",
        "Pretraining",
        FigureKind.MAPS,
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
        FigureKind.MAPS,
        "landscape.distances",
        {"distances": "epoch first second distance"},
    ),
    Figure(
        "prior_predictive",
        "Prior",
        FigureKind.PRIORS,
        "prior_predictive.prior_predictive",
        {
            "prior_quantiles": "output covariate q2_5 q16 q84 q97_5 observed?",
            "prior_draws": "output draw covariate f",
            "prior_scales": "output draw? mean sd step range",
            "labels": "*",
        },
    ),
    Figure(
        "scan", "Comparison", FigureKind.GRIDS, "comparison.scan", {"runs": "*", "scanned": "*"}
    ),
    Figure(
        "differences",
        "Comparison",
        FigureKind.SETTINGS,
        "comparison.differences",
        {"differences": "*"},
    ),
    Figure(
        "weight_spread",
        "Comparison",
        FigureKind.SETTINGS,
        "settings.weight_spread",
        {"weight_spread": "*"},
    ),
    Figure(
        "pulls_by_setting",
        "Comparison",
        FigureKind.PULLS,
        "settings.pulls",
        {"pulls_by_setting": "*"},
    ),
    Figure(
        "speed",
        "Speed",
        FigureKind.SPEED,
        "speed.speed",
        {
            "speed": "parameters rows gradient_ms seconds_per_draw? seconds_per_draw_at_most?"
            " predict_1_ms predict_16_ms predict_256_ms predict_4096_ms"
            " raw_1_ms raw_16_ms raw_256_ms raw_4096_ms load_ms"
        },
    ),
    Figure(
        "loadings", "Speed", FigureKind.SPEED, "speed.loadings", {"loadings": "parameters load_ms"}
    ),
    Figure(
        "rounds",
        "Data",
        FigureKind.ROUNDS,
        "rounds.rounds",
        {"rounds": "points p50 p50_high? p50_wanted p95 p95_high? p95_wanted"},
    ),
    Figure(
        "fidelity", "Comparison", FigureKind.APPROXIMATED, "fidelity.fidelity", {"fidelity": "*"}
    ),
)
