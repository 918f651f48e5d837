"""Tables that cannot be drawn are refused in words that help."""

import numpy as np
import pytest

from nlobayes.figures import ALL
from nlobayes.plots.frames import ANYTHING, drawable_rows
from tests.refusals import refused
from tests.unit.plots.drawing import TABLES, draw

OF_TEST_ROWS = (
    *("overview", "predicted_vs_true", "residuals", "bands", "curves", "density", "pulls", "pit"),
    "scale_ratio",
)


def test_every_figure_is_drawn_from_the_columns_that_it_names() -> None:
    for figure in ALL:
        chosen = {
            table: TABLES[table][columns.replace("?", "").split()]
            for table, columns in figure.tables.items()
            if columns != ANYTHING
        }
        assert draw(figure.name, chosen).axes, figure.name


def test_a_table_is_refused_by_its_columns_and_rows() -> None:
    table, columns = TABLES["autocorrelation"], ("lag", "f_mean", "noise?")
    assert list(drawable_rows(table, "autocorrelation", columns)) == ["lag", "f_mean", "noise"]
    for column in ("f_mean", "noise"):
        with refused("plots.no_column", table="autocorrelation", missing=[column]):
            drawable_rows(table.drop(columns=column), "autocorrelation", columns)
        with refused("plots.no_numbers", table="autocorrelation", column=column):
            drawable_rows(table.assign(**{column: "high"}), "autocorrelation", columns)
    with refused("plots.no_finite_row", table="autocorrelation", rows=len(table)):
        draw("autocorrelation", {"autocorrelation": table.assign(f_mean=np.nan)})


def test_unknown_split_is_refused() -> None:
    renamed = TABLES["coverage"].replace({"split": {"val": "validation"}})
    with refused("plots.unknown_word", found=["test", "train", "validation"]):
        draw("coverage", {"coverage": renamed})


@pytest.mark.parametrize("name", [*OF_TEST_ROWS, "confusion", "thresholds"])
def test_missing_test_split_is_named(name: str) -> None:
    of = name if name in TABLES and name not in OF_TEST_ROWS else "predictions"
    table = TABLES[of]
    with refused("plots.no_split", table=of, split="test", splits=["train", "val"]):
        draw(name, {of: table[table["split"] != "test"]})
