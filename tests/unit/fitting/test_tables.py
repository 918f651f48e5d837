"""Choices of `nlobayes fit` for a table: inputs, units, the scale, the features."""

import numpy as np
import pytest

from nlobayes.errors import InputError
from nlobayes.fitting.studies import Choices, configure, plan_of
from nlobayes.fitting.table_settings import dataset_of
from nlobayes.likelihoods.gaussian import GaussianLikelihood
from nlobayes.types import Table

ROWS = np.linspace(0.0, 1.0, 20)
NEUTRALINO = ("m1", "n11", "n12", "n13", "n14")


def table(**columns: np.ndarray) -> Table:
    return Table(columns, {"mass": "GeV", "y": "pb"}, {})


GIVEN = table(
    mass=100 + ROWS, name=np.full(20, "point"), energy=np.full(20, 13.0), a=ROWS, y=10 ** (3 * ROWS)
)


def test_inputs_are_the_columns_of_numbers_that_differ() -> None:
    read = dataset_of(GIVEN, "t.csv", "y")
    assert read.dataset["features"]["columns"] == ["mass", "a"]
    assert read.dataset["features"]["units"] == {"mass": "GeV"}
    assert read.dataset["target"] == {"column": "y", "unit": "pb", "scale": "log10"}
    assert read.left_out == {"name": "text", "energy": "one value"}


@pytest.mark.parametrize(("target", "scale"), [(ROWS, "identity"), (1 + ROWS, "identity")])
def test_the_logarithm_is_for_positive_targets_that_span_a_decade(
    target: np.ndarray, scale: str
) -> None:
    read = dataset_of(Table({"a": ROWS, "y": target}, {}, {}), "t.csv", "y")
    assert read.dataset["target"]["scale"] == scale


def test_columns_of_a_neutralino_enter_as_invariants() -> None:
    columns = {name: ROWS for name in NEUTRALINO}
    read = dataset_of(table(**columns, y=1 + ROWS), "t", "y")
    assert read.dataset["features"]["map"] == "invariants"
    assert dataset_of(GIVEN, "t", "y").dataset["features"]["map"] == "raw"


@pytest.mark.parametrize("column", ["a", "y"])
@pytest.mark.parametrize(
    ("cell", "message"), [(" ", "row 4 is empty"), ("n/a", "row 4 holds 'n/a'")]
)
def test_numbers_with_a_cell_that_is_none_are_refused_not_left_out(
    column: str, cell: str, message: str
) -> None:
    cells = np.array([*map(str, ROWS)], dtype=object)
    cells[3] = cell
    columns = {"a": ROWS, "b": ROWS, "y": 1 + ROWS, column: cells}
    with pytest.raises(InputError, match=message) as refused:
        dataset_of(table(**columns), "t.csv", "y")
    assert "1 of 20 cells are none" in str(refused.value)
    assert dataset_of(table(a=cells, b=ROWS, y=1 + ROWS), "t", "y", columns=["b"]).left_out == {}
    cells[5:] = "point"
    assert dataset_of(table(a=cells, b=ROWS, y=1 + ROWS), "t", "y").left_out == {"a": "text"}


def test_a_study_names_presets_and_calls_settings_own() -> None:
    read = dataset_of(GIVEN, "t.csv", "y")
    chosen = Choices(network={"hidden": (8,)}, chains=3, noise="gaussian", train_rows=14, seed=7)
    _, run = plan_of(configure("t", read.dataset, chosen))
    assert run.run_id == "t/own/fan_in/own/own/own/s7"
    assert run.network.hidden == (8,)
    assert run.mcmc is not None
    assert run.mcmc.chains == 3
    assert run.pretraining.batch == "full"
    assert run.evaluation.noise == "gaussian"


@pytest.mark.parametrize(
    ("rows", "scale", "beside"),
    [(1000, "identity", True), (1001, "identity", False), (None, "log10", False)],
)
def test_a_gaussian_process_stands_beside_a_run_of_few_rows(
    rows: int | None, scale: str, beside: bool
) -> None:
    dataset = dataset_of(GIVEN, "t.csv", "y", scale=scale).dataset
    rivals, _ = plan_of(configure("t", dataset, Choices({"hidden": [8]}, train_rows=rows)))
    assert [*rivals] == (["gp_matern"] if beside else [])


@pytest.mark.parametrize(
    ("rows", "floor"), [(None, 0.1), (20, 0.03), (560, 0.067), (1249, 0.1), (10**6, 0.1)]
)
def test_few_rows_allow_a_smaller_sigma(rows: int | None, floor: float) -> None:
    """Rows over the square of the floor are 1.25e5, where it is not at its limits."""
    read = dataset_of(GIVEN, "t.csv", "y")
    _, run = plan_of(configure("t", read.dataset, Choices({"hidden": [8]}, train_rows=rows)))
    learned = run.likelihood
    assert isinstance(learned, GaussianLikelihood)
    assert (learned.sigma, learned.floor) == (None, floor)
    assert (
        rows is None
        or rows not in range(113, 1250)
        or rows / floor**2 == pytest.approx(1.25e5, rel=0.02)
    )
