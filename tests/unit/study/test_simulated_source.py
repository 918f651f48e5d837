"""Allowed simulations, and that datasets read all that is simulated."""

from pathlib import Path
from typing import Any

import pytest

from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job, simulate_job
from nlobayes.study.jobs import SimulateJob
from nlobayes.study.read_jobs import read_job
from nlobayes.study.references.calculation import CalculatedReference
from nlobayes.study.sources.simulate import SimulatedSource
from nlobayes.study.study import read_presets
from tests.refusals import invalid, refused
from tests.unit.study.small import make_study

PRESETS = Path(__file__).parents[3] / "config" / "presets"


PRESET_NAMES = (
    *("embedded_chi1_chi2", "embedded_squark", "embedded_fine_tuned"),
    *("embedded_chi2_charged", "embedded_charginos"),
)
FIRST, SECOND = [[f"m{i}", *(f"n{i}{component}" for component in range(1, 5))] for i in (1, 2)]


def made(**changes: Any) -> DatasetPreset:
    return make_study({"datasets": {"made": changes}}).datasets["made"]


def source(**changes: Any) -> SimulatedSource:
    found = made(source=changes, features={"columns": [*FIRST, *SECOND]}).source
    assert isinstance(found, SimulatedSource)
    return found


def test_the_order_of_a_pair_does_not_matter() -> None:
    one, other = (source(pair=pair) for pair in ([1, 2], [2, 1]))
    assert one == other
    assert one.pair == (1, 2)


@pytest.mark.parametrize(
    ("changes", "fault", "key"),
    [
        ({"pair": [1, 5]}, "less_than_equal", "pair.1"),
        ({"pair": [1]}, "missing", "pair.1"),
        ({"scan": "light"}, "literal_error", "scan"),
        ({"scan": "fine_tuned", "pair": [1, 2]}, "study.fine_tuned_pair", ""),
        ({"squark_mass_gev": 1e6}, "less_than_equal", "squark_mass_gev.number"),
        ({"squark_mass_gev": {"low": 3000}}, "missing", "squark_mass_gev.range.high"),
        (
            {"squark_mass_gev": {"low": 1500, "high": 3000}},
            "greater_than_equal",
            "squark_mass_gev.range.low",
        ),
        (
            {"squark_mass_gev": {"low": 3000, "high": 3000}},
            "study.squark_range",
            "squark_mass_gev.range",
        ),
    ],
    ids=str,
)
def test_nonsense_is_refused_in_one_line(changes: dict[str, Any], fault: str, key: str) -> None:
    place = f"datasets.made.source.simulate.{key}".removesuffix(".")
    with refused(fault, places=[place]) as caught:
        source(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("pair", "columns", "fault"),
    [
        ([1, 2], FIRST, "study.particle_not_read"),
        ([2, 2], FIRST, "study.no_column"),
        ([1, 1], [*FIRST, "msq"], "study.no_column"),
    ],
    ids=str,
)
def test_what_is_simulated_is_read(pair: list[int], columns: list[str], fault: str) -> None:
    with refused(fault, places=["datasets.made.features.columns"]):
        made(source={"pair": pair}, features={"columns": columns})


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_presets_read_all_that_is_simulated(name: str) -> None:
    dataset = DatasetPreset.model_validate(read_presets(PRESETS)["datasets"][name])
    assert isinstance(dataset.source, SimulatedSource)
    assert dataset.features.columns == dataset.source.columns


def test_spectra_of_a_pair_are_read_with_both_neutralinos() -> None:
    def preset(pair: list[int], columns: list[str]) -> DatasetPreset:
        source = {"kind": "slha", "folder": "scan", "pair": pair}
        split = {"train": 5, "validation": 2, "test": 2}
        given = {"source": source, "split": split, "features": {"columns": columns}}
        return DatasetPreset.model_validate(given)

    with invalid(
        "study.particle_not_read", particle=1000023, process="pair [1, 2]", columns=tuple(SECOND)
    ):
        preset([1, 2], FIRST)
    assert preset([1, 2], [*FIRST, *SECOND])
    assert preset([1, 1], FIRST)


def test_a_process_takes_the_place_of_a_pair() -> None:
    columns = [*SECOND, "mc1", "u11", "u12", "v11", "v12"]
    given = {"process": [-1000024, 1000023]}
    dataset = made(source=given, features={"columns": columns})
    assert isinstance(dataset.source, SimulatedSource)
    assert dataset.source.columns == tuple(columns)
    job = simulate_job(dataset).model_dump_json()
    assert '"process":[1000023,-1000024]' in job
    assert '"pair"' not in job
    again = read_job(SimulateJob, job).source
    assert again == dataset.source
    changes = {"central_scale": "average_mass", "electroweak_scheme": "g_mu", "scale_points": 7}
    changed = simulate_job(made(source=changes))
    assert read_job(SimulateJob, changed.model_dump_json()) == changed
    assert changed.source.model_dump(mode="json", include={*changes}) == changes
    default = simulate_job(made()).model_dump_json()
    for name in ("process", "central_scale", "scale_points", "electroweak_scheme"):
        assert f'"{name}"' not in default


def test_seven_scales_are_read_where_they_are_computed() -> None:
    target = {"scale_variations": ["scale_up", "scale_down", "mu_r_half", "mu_f_twice"]}
    assert made(source={"scale_points": 7}, target=target)
    preset = read_presets(PRESETS)["datasets"]["embedded_theory"]
    source = preset.get("source", {}) | {"kind": "simulate", "scale_points": 7}
    theory = {"theory": {"scale": target["scale_variations"]}}
    whole = DatasetPreset.model_validate(preset | {"source": source, "target": theory})
    assert whole.target.columns == ("sigma_pb", *target["scale_variations"])
    with refused("study.no_column", places=["datasets.made.target.scale_variations"]):
        made(target=target)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"process": [1000024, 1000024]}, "physics.doubly_charged"),
        ({"process": [1000022, 1000021]}, "physics.unknown_particle"),
        ({"process": [1000022, 1000024], "pair": [1, 1]}, "study.pair_and_process"),
        ({"pair": None}, "study.no_pair"),
        ({"process": [1000024, -1000024], "scan": "fine_tuned"}, "study.fine_tuned_pair"),
    ],
    ids=str,
)
def test_processes_that_are_none_are_refused(given: dict[str, Any], fault: str) -> None:
    with refused(fault) as caught:
        made(source=given, features={"columns": ["mc1"]})
    assert "\n" not in str(caught.value)


def test_a_process_of_neutralinos_is_relative_to_their_pair() -> None:
    given = {"source": {"process": [1000023, 1000022]}, "features": {"columns": [*FIRST, *SECOND]}}
    dataset = made(**given, target={"relative_to": {"calculation": "born"}})
    relative = prepare_job(dataset).target.relative_to
    assert isinstance(relative, CalculatedReference)
    assert relative.pair == (1, 2)


@pytest.mark.parametrize("stated", [{}, {"process": [-1000024, 1000024]}], ids=["source", "stated"])
def test_processes_with_charginos_are_relative_to_their_calculation(stated: dict[str, Any]) -> None:
    source = {"process": [1000024, -1000024]}
    features = {"columns": ["mc1", "u11", "u12", "v11", "v12"], "map": "chargino_invariants"}
    given = {"source": source, "features": features}
    assert made(**given, target={"relative_to": {"column": "lo_pb"}})
    dataset = made(**given, target={"relative_to": {"calculation": "born", **stated}})
    relative = prepare_job(dataset).target.relative_to
    assert isinstance(relative, CalculatedReference)
    assert relative.arguments()["process"] == [1000024, -1000024]
    assert "pair" not in relative.arguments()


def test_sleptons_are_simulated_and_relative_to_their_calculation() -> None:
    """Without a squark mass; a stated one is refused."""
    source = {"process": [-1000015, 1000016]}
    columns = ["mass_1000015", "left_1000015", "mass_1000016"]
    given = {"source": source, "features": {"columns": columns, "map": "raw"}}
    dataset = made(**given, target={"relative_to": {"calculation": "born"}})
    assert isinstance(dataset.source, SimulatedSource)
    assert dataset.source.columns == tuple(columns)
    relative = prepare_job(dataset).target.relative_to
    assert isinstance(relative, CalculatedReference)
    assert relative.arguments() == {
        "calculation": "born",
        "process": [-1000015, 1000016],
        "sqrt_s_tev": 13.0,
        "mu_over_q": 1.0,
    }
    stated = {"relative_to": {"calculation": "born", "squark_mass_gev": 3000}}
    with refused("references.squarks_of_sleptons"):
        made(**given, target=stated)
    with refused("study.squarks_of_sleptons"):
        made(**given | {"source": source | {"squark_mass_gev": {"low": 2500, "high": 3000}}})
    with refused("physics.uncoupled"):
        made(**given | {"source": {"process": [1000011, -1000013]}})
