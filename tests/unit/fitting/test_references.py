"""The known cross section that `nlobayes fit` learns a target relative to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.data.simulators.simulate import TARGETS, Settings, scan_table
from nlobayes.data.splits import TRAIN
from nlobayes.fitting.reference_choice import AUTO, CALCULATIONS, NONE, columns_of_points
from nlobayes.fitting.studies import Choices, configure, plan_of
from nlobayes.fitting.table_settings import dataset_of
from nlobayes.prepared import prepared
from nlobayes.study.job_builder import prepare_job
from nlobayes.types import Table
from tests.refusals import refused

ENGINE = scan_table(3, 60, Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0)).columns
MIXINGS = ("n11", "n12", "n13", "n14")
INPUTS = {name: ENGINE[name] for name in ("m1", *MIXINGS)}
WAVE = np.exp(0.01 * np.sin(ENGINE["m1"] / 50))
"""What a calculation leaves of the targets: 1 %."""
FB = {"m1": "GeV", "y": "fb"}


def table(y: np.ndarray, units: dict[str, str] = FB, **columns: np.ndarray) -> Table:
    return Table({**INPUTS, **columns, "y": y}, units, {})


def read(given: Table, asked: str = AUTO, scale: str = "log10") -> dict[str, Any]:
    return dataset_of(given, "t.csv", "y", relative_to=asked, scale=scale).dataset


@pytest.mark.parametrize(
    ("column", "reference"),
    [
        ("lo_pb", {"calculation": "born"}),
        ("sigma_pb", {"calculation": "nlo"}),
        ("scale_up", {"calculation": "nlo", "mu_over_q": 0.5}),
        ("scale_down", {"calculation": "nlo", "mu_over_q": 2.0}),
    ],
)
def test_the_calculation_that_leaves_least_is_taken(column: str, reference: dict[str, Any]) -> None:
    """Whatever the constant factor: K-factors differ from 1."""
    dataset = read(table(1.3e3 * ENGINE[column] * WAVE))
    assert dataset["target"]["relative_to"] == reference | {"pair": [1, 1]}
    assert dataset["features"]["map"] == "channels"
    run = plan_of(configure("t", dataset, Choices({"hidden": [4]}, train_rows=42)))[1]
    assert run.dataset.target.relative_to is not None


SCATTER = np.random.default_rng(5).normal(size=60)
OF_TESTS = {
    "a calculation": table(1e3 * ENGINE["lo_pb"] * WAVE),
    "a column": Table({"a": SCATTER, "y": 10**SCATTER * WAVE, "lo": 10**SCATTER}, {}, {}),
    "a copy": Table({"a": WAVE, "b": SCATTER, "y_mev": 1e3 * SCATTER, "y": SCATTER}, {}, {}),
    "a result": Table({"a": WAVE, "b": SCATTER, "sigma": WAVE, "y": WAVE}, {"y": "pb"}, {}),
    "no logarithm": Table({"a": SCATTER, "y": 2 + np.sin(SCATTER)}, {}, {}),
}
STRETCH = 1e3 ** np.random.default_rng(6).normal(size=60)


@pytest.mark.parametrize("given", OF_TESTS.values(), ids=OF_TESTS)
def test_no_choice_depends_on_the_target_of_rows_that_are_not_trained_on(given: Table) -> None:
    """The rows are those of the dataset that `prepare` makes of the study."""
    before = dataset_of(given, "t.csv", "y", relative_to=AUTO)
    run = plan_of(configure("t", before.dataset, Choices({"hidden": [4]}, train_rows=42)))[1]
    split = prepared(given, prepare_job(run.dataset), Path("t.csv")).dataset.split
    target = np.where(split == TRAIN, given.columns["y"], STRETCH * given.columns["y"])
    other = given._replace(columns={**given.columns, "y": target})
    after = dataset_of(other, "t.csv", "y", relative_to=AUTO)
    assert (after.dataset, after.left_out) == (before.dataset, before.left_out)


def test_units_may_be_declared_for_columns_whose_header_names_none() -> None:
    bare = table(1e3 * ENGINE["lo_pb"] * WAVE, {})
    assert "relative_to" not in read(bare)["target"]
    assert read(bare)["features"]["units"] == {"m1": ""}
    assert dataset_of(bare, "t.csv", "y", relative_to=AUTO).without_units == ["m1", "y"]
    assert dataset_of(bare, "t.csv", "y", relative_to=NONE).without_units == []
    given = dataset_of(table(10 ** (ENGINE["m1"] / 100)), "t.csv", "y", relative_to=AUTO)
    assert given.without_units == []
    declared = dataset_of(bare, "t.csv", "y", relative_to=AUTO, units=FB).dataset
    assert declared["source"]["units"] == FB
    assert declared["target"]["unit"] == "fb"
    assert declared["target"]["relative_to"]["calculation"] == "born"
    assert declared["features"]["units"] == {"m1": "GeV"}
    with refused("data.no_column", name="m"):
        dataset_of(bare, "t.csv", "y", units={"m": "GeV"})
    with refused("data.unit_declared_twice", name="m1", unit="GeV", declared="TeV"):
        dataset_of(table(ENGINE["lo_pb"]), "t.csv", "y", units={"m1": "TeV"})


def test_a_calculation_that_leaves_nothing_is_not_taken() -> None:
    """Its table is its own: there is nothing to learn."""
    taken = read(table(1e3 * ENGINE["sigma_pb"]))["target"]["relative_to"]
    assert taken in [one | {"pair": [1, 1]} for one in CALCULATIONS.values()]
    assert taken != CALCULATIONS["nlo"] | {"pair": [1, 1]}


@pytest.mark.parametrize(
    "given",
    [
        table(10 ** (ENGINE["m1"] / 100)),
        table(ENGINE["lo_pb"], {"m1": "GeV"}),
        table(ENGINE["lo_pb"], {"y": "pb"}),
        table(ENGINE["lo_pb"], {"m1": "GeV", "y": "GeV"}),
        table(np.full(60, 0.1)),
    ],
    ids=["other", "no unit", "no unit of m1", "other unit", "constant"],
)
def test_a_target_that_no_calculation_explains_is_learned_itself(given: Table) -> None:
    assert "relative_to" not in read(given)["target"]


@pytest.mark.parametrize("name", ["lo_pb", "sigma_LO", "x_born"])
@pytest.mark.parametrize("has_units", [True, False])
def test_a_leading_order_among_the_columns_is_the_reference(name: str, has_units: bool) -> None:
    """It is an input of the points either way, but no feature."""
    units = {name: "pb", "y": "fb"} if has_units else {}
    given = Table({"mass": ENGINE["m1"], name: 7 * ENGINE["lo_pb"]}, units, {})
    given.columns["y"] = ENGINE["lo_pb"] * WAVE
    dataset = read(given)
    assert dataset["target"]["relative_to"] == {"column": name}
    assert dataset["features"]["columns"] == ["mass"]
    assert columns_of_points(dataset) == ["mass", name]
    assert dataset == read(given, name)
    run = plan_of(configure("t", dataset, Choices({"hidden": [4]}, train_rows=42)))[1]
    assert run.dataset.target.relative_to is not None


@pytest.mark.parametrize(
    ("name", "column", "unit"),
    [
        ("lo_pb", 10 ** (ENGINE["m1"] / 100), "pb"),
        ("lo_pb", ENGINE["lo_pb"], "GeV"),
        ("lo_pb", ENGINE["lo_pb"], ""),
        ("lo_pb", ENGINE["lo_pb"] - 1, "pb"),
    ],
    ids=["far from the target", "mass", "no unit", "negative"],
)
def test_another_column_is_no_reference(name: str, column: np.ndarray, unit: str) -> None:
    columns = {"mass": ENGINE["m1"], name: column, "y": ENGINE["lo_pb"] * WAVE}
    dataset = read(Table(columns, {name: unit, "y": "pb"}, {}))
    assert "relative_to" not in dataset["target"]
    assert dataset["features"]["columns"] == ["mass", name]


def test_a_leading_order_that_is_the_target_itself_is_left_out() -> None:
    """As `ingest --order 0` writes it; with a constant K-factor of all digits likewise."""
    for factor in (1.0, 1.3):
        same = {"mass": ENGINE["m1"], "lo_pb": factor * ENGINE["lo_pb"], "y": ENGINE["lo_pb"]}
        given = dataset_of(Table(same, {"y": "pb"}, {}), "t.csv", "y", relative_to=AUTO)
        assert given.dataset["features"]["columns"] == ["mass"]
        assert given.left_out == {"lo_pb": "repeats the target"}


def test_beside_a_column_as_reference_no_other_leading_order_is_a_feature() -> None:
    lo, y = ENGINE["lo_pb"], ENGINE["lo_pb"] * WAVE**2
    columns = {"mass": ENGINE["m1"], "lo": lo, "lo_ms": lo * WAVE, "y": y}
    dataset = read(Table(columns, {}, {}))
    assert dataset["target"]["relative_to"] == {"column": "lo_ms"}
    assert columns_of_points(dataset) == ["mass", "lo_ms"]


@pytest.mark.parametrize("wrong", [20.0, 2300.0])
def test_a_row_that_prevents_a_reference_is_named_or_left_out(wrong: float) -> None:
    masses = np.append(ENGINE["m1"][:-1], wrong)
    given = table(1e3 * ENGINE["lo_pb"] * WAVE, m1=masses)
    plain = dataset_of(given, "t.csv", "y", relative_to=AUTO)
    assert "relative_to" not in plain.dataset["target"]
    assert f"1 of 60 rows have none, the first at m1 = {wrong:g}" in plain.notes[0]
    assert plain.rows is None
    skipped = dataset_of(given, "t.csv", "y", relative_to=AUTO, skip_bad=True)
    assert skipped.dataset["target"]["relative_to"] == {"calculation": "born", "pair": [1, 1]}
    assert skipped.rows is not None
    assert np.array_equal(skipped.rows.columns["m1"], masses[:-1])


def test_a_table_beyond_the_calculation_is_learned_itself_and_the_reason_is_said() -> None:
    given = table(1e3 * ENGINE["lo_pb"] * WAVE, m1=np.abs(ENGINE["m1"]) + 2000)
    for skip_bad in (False, True):
        heavy = dataset_of(given, "t.csv", "y", relative_to=AUTO, skip_bad=skip_bad)
        assert "relative_to" not in heavy.dataset["target"]
        assert "60 of 60 rows have none" in heavy.notes[0]
        assert heavy.rows is None


def test_a_calculation_is_preferred_to_a_column() -> None:
    """Points to predict then need no leading order."""
    y, lo = 1e3 * ENGINE["lo_pb"] * WAVE, ENGINE["lo_pb"] * WAVE**0.5
    units = {**FB, "lo_pb": "pb"}
    for asked in (AUTO, "born"):
        dataset = read(table(y, units, lo_pb=lo), asked)
        assert dataset["target"]["relative_to"]["calculation"] == "born"
        assert columns_of_points(dataset) == [*INPUTS]
    without_mass = Table({**INPUTS, "lo_pb": lo, "y": y}, {"lo_pb": "pb", "y": "fb"}, {})
    dataset = read(without_mass)
    assert dataset["target"]["relative_to"] == {"column": "lo_pb"}
    assert (dataset["features"]["columns"], dataset["features"]["map"]) == ([*INPUTS], "channels")
    plan_of(configure("t", dataset, Choices({"hidden": [4]}, train_rows=42)))


@pytest.mark.parametrize(
    ("settings", "reference", "features"),
    [
        ({"pair": (2, 2)}, {"pair": [2, 2]}, "channels"),
        ({"pair": (1, 2)}, {"pair": [1, 2]}, "pair_invariants"),
        (
            {"process": (1000024, 1000022)},
            {"process": [1000022, 1000024]},
            "chargino_neutralino_invariants",
        ),
        (
            {"process": (1000022, -1000024)},
            {"process": [1000022, -1000024]},
            "chargino_neutralino_invariants",
        ),
        (
            {"process": (1000024, -1000024)},
            {"process": [1000024, -1000024]},
            "chargino_invariants",
        ),
        (
            {"process": (1000024, -1000037)},
            {"process": [1000024, -1000037]},
            "chargino_pair_invariants",
        ),
    ],
)
def test_the_process_is_that_of_the_columns_and_leaves_the_least(
    settings: dict[str, Any], reference: dict[str, Any], features: str
) -> None:
    """Columns in any order; of the two charges of a chargino, only one leaves the wave alone."""
    engine = scan_table(3, 60, Settings(13.0, 3000.0, **settings))
    inputs = [name for name in engine.columns if name not in TARGETS]
    columns = {name: engine.columns[name] for name in reversed(inputs)}
    wave = np.exp(0.01 * np.sin(engine.columns[inputs[0]] / 50))
    given = Table(columns | {"y": engine.columns["lo_pb"] * wave}, {**engine.units, "y": "pb"}, {})
    dataset = read(given)
    assert dataset["target"]["relative_to"] == {"calculation": "born"} | reference
    assert (dataset["features"]["columns"], dataset["features"]["map"]) == (inputs, features)
    run = plan_of(configure("t", dataset, Choices({"hidden": [4]}, train_rows=42)))[1]
    assert run.dataset.target.relative_to is not None


def test_a_squark_mass_is_of_the_calculation_and_other_columns_leave_the_features_raw() -> None:
    engine = scan_table(3, 60, Settings(13.0, (2000.0, 5000.0)))
    units = {**engine.units, "y": "pb"}
    columns = {name: engine.columns[name] for name in ("msq", *INPUTS)}
    columns["y"] = engine.columns["lo_pb"] * np.exp(0.01 * np.sin(columns["m1"] / 50))
    dataset = read(Table(columns, units, {}))
    assert dataset["features"]["columns"] == [*INPUTS, "msq"]
    assert dataset["features"]["map"] == "channels"
    columns["time"] = np.arange(60.0)
    dataset = read(Table(columns, units, {}))
    assert dataset["features"]["columns"] == ["msq", *INPUTS, "time"]
    assert dataset["features"]["map"] == "raw"
    assert dataset["target"]["relative_to"] == {"calculation": "born", "pair": [1, 1]}


@pytest.mark.parametrize("name", CALCULATIONS)
def test_a_chosen_calculation_is_taken_for_any_target(name: str) -> None:
    dataset = read(table(10 ** (ENGINE["m1"] / 100)), name)
    assert dataset["target"]["relative_to"] == CALCULATIONS[name] | {"pair": [1, 1]}


def test_a_leading_order_alone_remains_an_input() -> None:
    given = Table({"lo_pb": ENGINE["lo_pb"], "y": ENGINE["lo_pb"] * WAVE}, {}, {})
    assert read(given)["features"]["columns"] == ["lo_pb"]
    with refused("fitting.no_inputs"):
        read(given, "lo_pb")


def test_sleptons_are_learned_relative_to_their_calculation_from_plain_columns() -> None:
    """Of four processes with these masses, the one that leaves least."""
    settings = Settings(13.0, 3000.0, None, process=(1000011, -1000012), scan="log")
    made = scan_table(3, 60, settings).columns
    masses = {name: made[name] for name in ("mass_1000011", "mass_1000012")}
    units = dict.fromkeys(masses, "GeV") | {"y": "fb"}
    given = Table({**masses, "y": 1.2e3 * made["lo_pb"] * WAVE}, units, {})
    dataset = read(given)
    expected = {"calculation": "born", "process": [1000011, -1000012]}
    assert dataset["target"]["relative_to"] == expected
    assert dataset["features"]["map"] == "raw"
    assert dataset["features"]["columns"] == [*masses]
