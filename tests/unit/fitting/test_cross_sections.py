"""Cross sections among the columns of a table, by unit or name."""

from collections.abc import Iterable

import numpy as np
import pytest

from nlobayes.data.simulators.simulate import TARGETS, Settings, scan_table
from nlobayes.fitting.cross_sections import is_cross_section, results_beside
from nlobayes.fitting.reference_choice import AUTO
from nlobayes.fitting.table_settings import dataset_of
from nlobayes.study.sources.slha import TARGETS as OF_FILES
from nlobayes.types import Table


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


def beside(target: str, names: Iterable[str], unit: str = "") -> set[str]:
    """Return the results and errors beside a target that spans three decades."""
    columns = {name: 10 ** np.linspace(-1, 2, 20) for name in (target, *names)}
    columns |= {name: np.linspace(1.1, 1.4, 20) for name in names if name[:1] in "kK"}
    return {*results_beside(target, names, Table(columns, {target: unit}, {}))}


def test_results_beside_a_cross_section_are_no_inputs() -> None:
    """All that `ingest` writes beside the target, but for the squark mass and the leading order."""
    assert beside("sigma_pb", OF_FILES) == {*OF_FILES} - {"sigma_pb", "lo_pb", "msq"}
    errors = ["lo_relnumerr", "nlo_relnumerr", "lo_uncertainty_fb", "unc. (up)", "xsecErr", "stat"]
    errors += ["Sca_Lo", "Total_pos", "Pdf_minus_TH", "Gauss", "PDF+alpha_s", "uncertainty [fb]"]
    errors += ["scale+ [%]", "unc-"]
    results = ["NLO", "NLO_ms", "NNLL", "xs", "x-section", "cross section", "σ (pb)", "K", "k_NLO"]
    results += ["NLO+NLL", "aNNLO", "δσ", "cross"]
    assert beside("sigma", [*errors, "lo_fb", *results], "fb") == {*errors, *results}


def test_beside_a_k_factor_cross_sections_are_results_but_for_the_leading_order() -> None:
    columns = {"m": np.arange(20.0), "LO": 2.0 ** np.arange(20), "NLO": 3.0 ** np.arange(20)}
    table = Table({**columns, "K": 1.2 + np.arange(20) / 100}, {}, {})
    assert results_beside("K", columns, table) == {"NLO": "results like the target"}


INPUTS = ["mass", "lo_pb", "msq", "scale", "mu", "tan_beta", "pdf_set", "kappa", "Luncheon", "time"]
INPUTS += ["cross_angle", "scale-factor", "hilo", "total_events"]


@pytest.mark.parametrize("target", ["y", "strength", "time_s"])
def test_beside_another_target_only_its_own_errors_are_no_inputs(target: str) -> None:
    names = ["sigma", "error_rate", "k", "K", "scale_up", "xs", "uncertain", "stat", "my"]
    own = [
        f"{target}_err",
        f"unc_{target}",
        f"{target} (sd)",
        f"delta_{target}",
        f"d{target}",
        f"e_{target}",
    ]
    assert beside(target, [*names, *own, f"{target}_2", "lo"]) == {*own}


def test_a_table_of_the_engine_is_learned_from_masses_and_mixings() -> None:
    engine = scan_table(3, 60, Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0))
    columns = dict(engine.columns)
    inputs = [name for name in columns if name not in TARGETS]
    columns["sigma_pb"] = columns["sigma_pb"] * np.exp(0.01 * np.sin(columns["m1"] / 50))
    given = Table(columns, engine.units, {})
    read = dataset_of(given, "t.csv", "sigma_pb", relative_to=AUTO)
    assert read.dataset["target"]["relative_to"] == {"calculation": "nlo", "pair": [1, 1]}
    assert read.dataset["features"]["columns"] == inputs
    assert set(read.left_out) == {"scale_up", "scale_down", "lo_pb"}
    assert "reference" in read.left_out["lo_pb"]
    of_another = dataset_of(given, "t.csv", "sigma_pb", relative_to="scale_up")
    assert of_another.dataset["features"]["columns"] == inputs
    assert set(of_another.left_out) == {"scale_down", "lo_pb"}
    named = dataset_of(given, "t.csv", "sigma_pb", columns=["m1", "scale_up"])
    assert named.dataset["features"]["columns"] == ["m1", "scale_up"]
    assert not named.left_out
