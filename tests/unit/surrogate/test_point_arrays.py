"""Names count: columns of frames, mappings and structured arrays are selected by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nlobayes import Classifier, Surrogate
from nlobayes.surrogate.point_arrays import points_of
from tests.refusals import refused
from tests.unit.surrogate.conftest import COLUMNS, make_exported, points
from tests.unit.surrogate.test_classifier import of_classes

Columns = dict[str, np.ndarray]
X = points(4, seed=2)
OTHER_ORDER: Columns = {
    "note": np.arange(4.0),
    **{name: X[:, COLUMNS.index(name)] for name in ("n14", "m1", "n12", "n11", "n13")},
}
FORMS: dict[str, Callable[[Columns], Any]] = {
    "mapping": dict,
    "mapping of lists": lambda columns: {name: each.tolist() for name, each in columns.items()},
    "pandas": pd.DataFrame,
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "structured": lambda columns: pd.DataFrame(columns).to_records(index=False),
}


def with_missing(form: str) -> Any:
    """Leave the first mass out, as each form does."""
    masses: list[Any] = [None, *X[1:, 0].tolist()]
    if form in ("arrow", "batch"):
        return FORMS[form]({**OTHER_ORDER, "m1": pa.array(masses)})
    return FORMS[form]({**OTHER_ORDER, "m1": np.array(masses, np.float64)})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loaded", [Surrogate(make_exported()), Classifier(of_classes())], ids=repr)
def test_columns_are_selected_by_name(loaded: Surrogate | Classifier, form: str) -> None:
    named = FORMS[form](OTHER_ORDER)
    for found, expected in zip(loaded.predict(named), loaded.predict(X), strict=True):
        assert np.array_equal(found, expected)
    assert loaded.domain(named).tolist() == loaded.domain(X).tolist()
    assert np.array_equal(loaded.sample(named), loaded.sample(X))
    assert np.isnan(loaded.distance(with_missing(form))).tolist() == [True, False, False, False]
    assert loaded.domain(with_missing(form))[0] == "outside"


def test_columns_of_another_type_are_refused_or_read() -> None:
    named = pd.DataFrame(OTHER_ORDER)
    for given in (
        named.assign(n14="a"),
        named.assign(n14=pd.Timestamp("2020-01-01")),
        {**OTHER_ORDER, "n14": [1.0, 2.0]},
        X * 1j,
    ):
        with refused("surrogate.not_numbers", inputs=COLUMNS):
            points_of(given, COLUMNS)
    whole = named.assign(n14=[True, False, True, False], n11=["1", "2", "3", "4"])
    assert points_of(whole, COLUMNS)[:, [1, 4]].tolist() == [[1, 1], [2, 0], [3, 1], [4, 0]]


def test_arrays_and_frames_without_names_are_positional() -> None:
    for given in (X, X.tolist(), pd.DataFrame(X), np.asfortranarray(X), X.astype(object)):
        assert np.array_equal(points_of(given, COLUMNS), X)
    point = dict(zip(reversed(COLUMNS), reversed(X[0].tolist()), strict=True))
    assert np.array_equal(points_of(point, COLUMNS), X[:1])
    with refused("surrogate.other_shape", shape=(5,)):
        points_of(X[0], COLUMNS)


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_column_is_refused_in_one_line(form: str) -> None:
    lacking = {name: values for name, values in OTHER_ORDER.items() if name not in ("n14", "m1")}
    lacking["M1"] = OTHER_ORDER["m1"]
    with refused("surrogate.no_columns", missing=["m1", "n14"]) as caught:
        points_of(FORMS[form](lacking), COLUMNS)
    assert "n12" in caught.value.fields["known"]
    assert "\n" not in str(caught.value)


def test_a_column_that_is_named_twice_is_refused() -> None:
    twice = pd.concat([pd.DataFrame(OTHER_ORDER)] * 2, axis=1)
    for given in (twice, pa.Table.from_arrays([*OTHER_ORDER.values()] * 2, [*OTHER_ORDER] * 2)):
        with refused("surrogate.columns_twice", twice=[*COLUMNS]):
            points_of(given, COLUMNS)
