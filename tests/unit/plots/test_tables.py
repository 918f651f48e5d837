"""Tables that cannot be drawn are refused in words that help."""

import numpy as np
import pytest

from nlobayes.plots import FIGURES
from tests.refusals import refused
from tests.unit.plots.drawing import TABLES, draw

NEEDED = {
    "trace": {"trace": "chain draw log_density noise"},
    "convergence": {
        "convergence": "rhat rhat_gelman_rubin ess_bulk ess_tail variance_share",
    },
    "autocorrelation": {
        "autocorrelation": "lag f_mean f_p10 f_p90 log_density noise",
        "weight_autocorrelation": "lag mean p10 p90",
    },
    "divergences": {"divergences": "covariate deviation expected"},
    "thinning": {"thinning": "step ess_f_median rmse lppd megabytes stored chosen"},
    "speed": {
        "speed": "parameters rows gradient_ms seconds_per_draw seconds_per_draw_at_most "
        "predict_1_ms predict_16_ms predict_256_ms predict_4096_ms "
        "raw_1_ms raw_16_ms raw_256_ms raw_4096_ms load_ms"
    },
    "loadings": {"loadings": "parameters load_ms"},
    "loss": {"loss": "chain epoch train_loss validation_rmse"},
    "landscape": {
        "landscape": "alpha beta energy",
        "landscape_maps": "chain alpha beta energy",
        "path": "t straight bezier",
    },
    "distances": {"distances": "epoch first second distance"},
    "prior_predictive": {
        "prior_quantiles": "output covariate q2_5 q16 q84 q97_5 observed",
        "prior_draws": "output draw covariate f",
        "prior_scales": "output draw mean sd step range",
    },
    "predicted_vs_true": {
        "predictions": "split truth mean low_68 high_68 truth_target median_target reference",
    },
    "residuals": {"predictions": "split covariate truth mean reference"},
    "residual_histogram": {"predictions": "split truth mean"},
    "curves": {
        "curves": "chain draw covariate f",
        "maps": "member covariate f",
        "predictions": "split covariate truth",
    },
    "density": {
        "density": "covariate value density",
        "predictive_quantiles": "covariate q2_5 q16 q50 q84 q97_5",
        "predictions": "split covariate truth",
    },
    "bands": {"predictions": "split covariate truth mean posterior_sd total_sd"},
    "pulls": {"predictions": "split z_total z_epistemic"},
    "coverage": {"coverage": "split k own_total own_epistemic epistemic total lower upper"},
    "levels": {"levels": "split level coverage lower upper"},
    "pit": {"predictions": "split pit", "pit": "split u ecdf lower upper"},
    "scale_ratio": {"predictions": "split covariate error_over_scale"},
    "confusion": {"confusion": "split true predicted count"},
    "reliability": {"reliability": "split low high count confidence accuracy lower upper"},
    "thresholds": {"thresholds": "split threshold precision lower upper recall answered"},
    "certainty": {
        "plane": "first second class probability disagreement",
        "plane_points": "split first second class right",
    },
    "images": {
        "example_probabilities": "example class probability",
        "example_inputs": "example row column value",
    },
    "cases": {"cases": "case point truth draw mean total_sd"},
}
"""Of the figures that do not take their tables as they are."""

COLUMNS = [
    (name, table, column)
    for name, tables in NEEDED.items()
    for table, columns in tables.items()
    for column in columns.split()
]
NUMBERS = [entry for entry in COLUMNS if entry[-1] not in ("split", "case")]
OF_TEST_ROWS = [
    "predicted_vs_true",
    "residuals",
    "bands",
    "curves",
    "density",
    "pulls",
    "pit",
    "scale_ratio",
]


@pytest.mark.parametrize(("name", "table", "column"), COLUMNS)
def test_missing_column_is_named(name: str, table: str, column: str) -> None:
    with refused("plots.no_column", table=table, missing=[column]):
        draw(name, {table: TABLES[table].drop(columns=column)})


@pytest.mark.parametrize("name", NEEDED)
def test_only_the_needed_columns_are_used(name: str) -> None:
    chosen = {table: TABLES[table][columns.split()] for table, columns in NEEDED[name].items()}
    assert draw(name, chosen).axes


@pytest.mark.parametrize(("name", "table", "column"), NUMBERS)
def test_text_instead_of_numbers_is_refused(name: str, table: str, column: str) -> None:
    with refused("plots.no_numbers", table=table, column=column):
        draw(name, {table: TABLES[table].assign(**{column: "high"})})


@pytest.mark.parametrize("name", ["pulls", "coverage", "levels", "residual_histogram"])
def test_unknown_split_is_refused(name: str) -> None:
    table = FIGURES[name].tables[0]
    renamed = TABLES[table].replace({"split": {"val": "validation"}})
    with refused("plots.unknown_word", found=["test", "train", "validation"]):
        draw(name, {table: renamed})


@pytest.mark.parametrize("name", OF_TEST_ROWS)
def test_missing_test_split_is_named(name: str) -> None:
    table = TABLES["predictions"]
    with refused("plots.no_split", split="test", splits=["train", "val"]):
        draw(name, {"predictions": table[table["split"] != "test"]})


@pytest.mark.parametrize("name", ["confusion", "thresholds"])
def test_missing_test_split_of_classes_is_named(name: str) -> None:
    table = TABLES[name]
    with refused("plots.no_split", table=name, split="test", splits=["train", "val"]):
        draw(name, {name: table[table["split"] != "test"]})


def test_table_without_a_finite_row_is_refused() -> None:
    table = TABLES["autocorrelation"].assign(f_mean=np.nan)
    with refused("plots.no_finite_row", table="autocorrelation", rows=len(table)):
        draw("autocorrelation", {"autocorrelation": table})
