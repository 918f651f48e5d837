"""Tables that cannot be drawn are refused in words that help."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nlobayes.errors import InputError
from nlobayes.plots import FIGURES

Draw = Callable[..., Figure]
Tables = dict[str, pd.DataFrame]


NEEDED = {
    "trace": "chain draw log_density noise",
    "convergence": "rhat ess_bulk ess_tail",
    "autocorrelation": "lag f_mean f_p10 f_p90 log_density",
    "loss": "chain epoch train_loss validation_rmse",
    "predicted_vs_true": "split target_log10 mean_log10 total_sd_log10 target_pb median_pb",
    "residuals": "split mass_gev target_log10 mean_log10",
    "pulls": "split z_total z_epistemic",
    "coverage": "split k nominal epistemic total lower upper",
    "cases": "case point target_log10 draw_log10 mean_log10 total_sd_log10",
}


@pytest.mark.parametrize(
    ("name", "column"), [(name, column) for name in NEEDED for column in NEEDED[name].split()]
)
def test_missing_column_is_named(name: str, column: str, tables: Tables) -> None:
    (table,) = FIGURES[name].tables
    with pytest.raises(InputError, match=rf"table '{table}' lacks the column {column};"):
        FIGURES[name].draw(tables[table].drop(columns=column))


@pytest.mark.parametrize("name", FIGURES)
def test_only_the_needed_columns_are_used(name: str, tables: Tables) -> None:
    (table,) = FIGURES[name].tables
    assert FIGURES[name].draw(tables[table][NEEDED[name].split()]).axes


def test_text_instead_of_numbers_is_refused(tables: Tables, draw: Draw) -> None:
    table = tables["loss"].assign(train_loss="high")
    with pytest.raises(InputError, match="'loss': column 'train_loss' must hold numbers"):
        draw("loss", loss=table)


def test_unknown_split_is_refused(tables: Tables, draw: Draw) -> None:
    table = tables["coverage"].replace({"split": {"val": "validation"}})
    with pytest.raises(InputError, match=r"holds \['test', 'train', 'validation'\], allowed"):
        draw("coverage", coverage=table)


@pytest.mark.parametrize("name", ["predicted_vs_true", "residuals", "pulls"])
def test_missing_test_split_is_named(name: str, tables: Tables) -> None:
    table = tables["predictions"]
    with pytest.raises(InputError, match="no rows of split 'test'; it has train, val"):
        FIGURES[name].draw(table[table["split"] != "test"])


def test_table_without_a_finite_row_is_refused(tables: Tables, draw: Draw) -> None:
    with pytest.raises(InputError, match="'autocorrelation' has no row with finite"):
        draw("autocorrelation", autocorrelation=tables["autocorrelation"].assign(f_mean=np.nan))
