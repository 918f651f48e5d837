"""Cross sections among the columns of a table, by unit or name."""

import numpy as np
import pytest

from nlobayes.data.physics.source import TARGETS, Settings, simulate
from nlobayes.fitting.cross_sections import is_cross_section, is_leading_order, results_beside
from nlobayes.fitting.references import AUTO
from nlobayes.fitting.tables import dataset_of
from nlobayes.study.sources.slha import TARGETS as OF_FILES
from nlobayes.types import Table


@pytest.mark.parametrize("name", ["lo_pb", "LO", "sigma_lo_fb", "xsec_Born"])
def test_names_of_leading_orders(name: str) -> None:
    assert is_leading_order(name)


@pytest.mark.parametrize("name", ["slope", "load", "nlo_pb", "hello_pb", "reborn", "lo_err_pb"])
def test_other_names_are_no_leading_orders(name: str) -> None:
    assert not is_leading_order(name)


@pytest.mark.parametrize(
    ("name", "unit", "found"),
    [
        ("sigma", "fb", True),
        ("sigma_pb", "", True),
        ("sigma_FB", "", True),
        ("sigma_pb", "GeV", False),
        ("mass", "GeV", False),
        ("sigma", "", False),
        ("rhubarb", "", False),
        ("weight_lb", "", False),
    ],
)
def test_a_cross_section_is_recognised_by_unit_or_name(name: str, unit: str, found: bool) -> None:
    assert is_cross_section(name, unit) is found


def test_results_beside_a_cross_section_are_no_inputs() -> None:
    """All that `ingest` writes beside the target, but for the squark mass and the leading order."""
    names = ["mass", *OF_FILES]
    left_out = results_beside("sigma_pb", names, {})
    assert set(left_out) == {*OF_FILES} - {"sigma_pb", "lo_pb", "msq"}
    errors = ["lo_relnumerr", "nlo_relnumerr", "lo_uncertainty_fb", "lo_fb"]
    assert [*results_beside("sigma", errors, {"sigma": "fb"})] == errors[:3]
    assert results_beside("time", ["time", *names], {"time": "s"}) == {}


def test_a_table_of_the_engine_is_learned_from_masses_and_mixings() -> None:
    engine = simulate(3, 60, Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0))
    columns = dict(engine.columns)
    inputs = [name for name in columns if name not in TARGETS]
    columns["sigma_pb"] = columns["sigma_pb"] * np.exp(0.01 * np.sin(columns["m1"] / 50))
    given = Table(columns, engine.units, {})
    read = dataset_of(given, "t.csv", "sigma_pb", relative_to=AUTO)
    assert read.dataset["target"]["relative_to"] == {"calculation": "nlo", "pair": [1, 1]}
    assert read.dataset["features"]["columns"] == inputs
    assert set(read.left_out) == {"scale_up", "scale_down", "lo_pb"}
    assert "calculation" in read.left_out["lo_pb"]
    of_another = dataset_of(given, "t.csv", "sigma_pb", relative_to="scale_up")
    assert of_another.dataset["features"]["columns"] == [*inputs, "lo_pb"]
    assert set(of_another.left_out) == {"scale_down"}
    named = dataset_of(given, "t.csv", "sigma_pb", columns=["m1", "scale_up"])
    assert named.dataset["features"]["columns"] == ["m1", "scale_up"]
    assert not named.left_out
