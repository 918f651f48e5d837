"""The scores of a posterior beside those of its predictions: likelihood, sampling, fidelity."""

from __future__ import annotations

from nlobayes.metrics.metric import HIGHER, LOWER, Axis, ComparisonPlace, Metric, MetricKind

SCAN, PAIRED = ComparisonPlace.SCAN, ComparisonPlace.PAIRED
LIKELIHOOD, SAMPLING, FIDELITY = MetricKind.LIKELIHOOD, MetricKind.SAMPLING, MetricKind.FIDELITY
EXACT_SD, MONTE_CARLO, TEST = "exact sd", "Monte-Carlo errors", ("test",)
OF_F = {"mean": "mean of f", **{f"q{p}": f"{p} % quantile of f" for p in (5, 50, 95)}}
OVER_POINTS = {"mean": "mean over points", "p95": "95 % quantile over points"}

OF_POSTERIORS = (
    Metric(
        "loo_per_row",
        LIKELIHOOD,
        "elpd of LOO",
        "nats per row",
        HIGHER,
        splits=("train",),
        shown=frozenset({PAIRED}),
    ),
    Metric(
        "stated_lppd",
        LIKELIHOOD,
        "log score under its own noise",
        "nats per point",
        HIGHER,
        splits=("test",),
        shown=frozenset({PAIRED}),
    ),
    Metric(
        "rhat_f",
        SAMPLING,
        r"$\hat{R}$, largest",
        better=LOWER,
        splits=(),
        shown=frozenset({SCAN, PAIRED}),
        axis=Axis("log", span=0.05, limit=1.01),
    ),
    Metric(
        "ess_per_million_gradients",
        SAMPLING,
        "smallest ESS of f per million gradients",
        better=HIGHER,
        splits=(),
        shown=frozenset({PAIRED}),
    ),
    Metric(
        "gradients_per_draw",
        SAMPLING,
        "gradients per draw",
        splits=(),
        shown=frozenset({SCAN}),
        axis=Axis("fitting"),
    ),
    Metric("acceptance_rate", SAMPLING, "acceptance rate", splits=(), shown=frozenset({SCAN})),
    *(
        Metric(
            f"{key}_difference_rms", FIDELITY, f"error of the {name}", EXACT_SD, 0.0, splits=TEST
        )
        for key, name in OF_F.items()
    ),
    *(
        Metric(f"{key}_z_rms", FIDELITY, f"error of the {name}", MONTE_CARLO, 1.0, splits=TEST)
        for key, name in (OF_F | {"sd": "sd of f"}).items()
    ),
    *(
        Metric(f"sd_ratio_{key}", FIDELITY, f"sd over exact sd, {name}", "", 1.0, splits=TEST)
        for key, name in (("median", "median"), ("p5", "5 % quantile"), ("p95", "95 % quantile"))
    ),
    *(
        Metric(
            f"wasserstein_{key}",
            FIDELITY,
            f"Wasserstein-1 of f, {name}",
            EXACT_SD,
            0.0,
            splits=TEST,
        )
        for key, name in OVER_POINTS.items()
    ),
    *(
        Metric(
            f"total_variation_{key}",
            FIDELITY,
            f"total variation of predictions, {name}",
            "%",
            0.0,
            splits=TEST,
        )
        for key, name in OVER_POINTS.items()
    ),
    Metric(
        "pareto_k", FIDELITY, "Pareto k of the weights to the exact density", "", LOWER, splits=()
    ),
)
