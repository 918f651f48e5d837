"""References: the engine at points, the channels of Born, and targets relative to them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.references import completed, is_reference, make_reference
from nlobayes.data.request_checks import check_request
from nlobayes.data.selection import Request, Selection, select
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.splits import Split
from nlobayes.data.transforms import TargetTransform, apply_target, map_features, unstandardise
from nlobayes.physics import hadronic
from nlobayes.physics.hadronic import (
    beams_at,
    by_exchange,
    channels_at,
    cross_sections_at,
    integrate,
    of_process,
)
from nlobayes.physics.partonic import identical_pair
from nlobayes.physics.processes import make_process
from nlobayes.types import Dataset, Table
from tests.refusals import refused

COLUMNS = ("m1", "n11", "n12", "n13", "n14")
BORN: dict[str, Any] = {
    "calculation": "born",
    "pair": [1, 1],
    "sqrt_s_tev": 13.0,
    "squark_mass_gev": 3000.0,
    "mu_over_q": 1.0,
}
CHOICES = Choices(
    feature_map="channels",
    standardise_features=True,
    target_scale="log10",
    standardise_target=True,
    split=Split(40, 10, 10, shuffle=True, seed=0),
    reference_points=5,
)


@pytest.fixture(scope="module")
def table() -> Table:
    return scan_table(3, 60, Settings(13.0, 3000.0))


def inputs_of(table: Table, columns: tuple[str, ...] = COLUMNS) -> np.ndarray:
    return np.column_stack([table.columns[name] for name in columns])


def made(table: Table, relative_to: dict[str, Any] | None, **changes: Any) -> Dataset:
    column = relative_to.get("column") if relative_to else None
    units = {"m1": "GeV", "sigma_pb": "pb"}
    selection = select(table, Request(COLUMNS, ["sigma_pb"], units, reference=column), "t")
    choices = CHOICES._replace(relative_to=relative_to, **changes)
    return make_dataset(selection, COLUMNS, ("sigma_pb",), choices)


@pytest.mark.parametrize(
    ("calculation", "mu", "column"),
    [
        ("born", 1.0, "lo_pb"),
        ("nlo", 1.0, "sigma_pb"),
        ("nlo", 0.5, "scale_up"),
        ("nlo", 2.0, "scale_down"),
    ],
)
def test_a_calculation_is_that_of_the_simulated_table(
    table: Table, calculation: str, mu: float, column: str
) -> None:
    settings = completed(BORN | {"calculation": calculation, "mu_over_q": mu}, "fb")
    found = make_reference(settings).values(inputs_of(table), COLUMNS, "log10")
    np.testing.assert_allclose(found, 1000 * table.columns[column], rtol=1e-12)


def test_a_calculation_finds_its_columns_by_name() -> None:
    """Of an unlike pair, whose squarks have a column, at another energy."""
    table = scan_table(4, 20, Settings(8.0, (2500.0, 4000.0), pair=(1, 2)))
    columns = ("n21", "n22", "n23", "n24", "msq", "m2", *COLUMNS)
    settings = completed(BORN | {"pair": [1, 2], "sqrt_s_tev": 8.0, "squark_mass_gev": "msq"}, "pb")
    found = make_reference(settings).values(inputs_of(table, columns), columns, "log10")
    np.testing.assert_allclose(found, table.columns["lo_pb"], rtol=1e-12)


@pytest.mark.parametrize(
    "process",
    [(1000022, 1000024), (1000023, -1000037), (1000024, -1000024), (1000024, -1000037)],
    ids=str,
)
def test_a_calculation_of_charginos_is_that_of_the_simulated_table(
    process: tuple[int, int],
) -> None:
    settings = Settings(13.0, 3000.0, pair=None, process=process)
    table = scan_table(4, 12, settings)
    columns = settings.reaction.columns
    changes: dict[str, Any] = {"process": [*settings.reaction]}
    whole = completed({name: v for name, v in BORN.items() if name != "pair"} | changes, "fb")
    assert is_reference(whole)
    found = make_reference(whole).values(inputs_of(table, columns), columns, "log10")
    np.testing.assert_allclose(found, 1000 * table.columns["lo_pb"], rtol=1e-12)


@pytest.mark.parametrize(
    "process",
    [
        [1000022, 1000023],
        [1000024, 1000022],
        [1000024, 1000024],
        [1000024],
        [1000024, 7],
        "1000022 1000024",
        [[], []],
    ],
    ids=str,
)
def test_other_processes_are_no_settings(process: Any) -> None:
    given = {name: value for name, value in completed(BORN, "pb").items() if name != "pair"}
    assert is_reference(given | {"process": [1000022, 1000024]})
    assert not is_reference(given | {"process": process})
    assert not is_reference(given | {"process": [1000022, 1000024], "pair": [1, 1]})


SLEPTONS: dict[str, Any] = {
    "calculation": "born",
    "process": [1000011, -1000012],
    "sqrt_s_tev": 13.6,
    "mu_over_q": 1.0,
    "columns": {"mass_1000012": "mass_1000011"},
}


def test_a_table_of_one_mass_has_the_calculation_of_its_sleptons() -> None:
    """The surrogate-to-be states it, and evaluates it with NumPy and JAX; without a squark mass."""
    masses = np.array([50.0, 45.0, -100.0, 700.0])
    settings = completed(SLEPTONS, "fb")
    assert is_reference(settings)
    reference = make_reference(settings)
    assert reference.columns == ("mass_1000011",)
    with refused("references.mass_unit", column="mass_1000011"):
        reference.check_units({"mass_1000011": "TeV"})
    assert "squark" not in reference.meaning
    found = reference.values(masses[:, None], ["mass_1000011"], "log10")
    named = {"mass_1000011": masses[[0, 3]], "mass_1000012": masses[[0, 3]]}
    expected = 1000 * of_process(make_process(1000011, -1000012), named, 13.6).lo_pb
    np.testing.assert_allclose(found[[0, 3]], expected, rtol=1e-12)
    assert np.isnan(found[1:3]).all()
    with jax.enable_x64(True):
        in_jax = reference.at({"mass_1000011": jnp.asarray(masses)})
        slope = jax.jit(jax.grad(lambda m: reference.at({"mass_1000011": m}).sum()))(
            jnp.asarray(masses[:1])
        )
    np.testing.assert_allclose(in_jax, found, rtol=1e-9)
    step = reference.values(np.array([[50.01], [49.99]]), ["mass_1000011"], "log10")
    assert slope[0] == pytest.approx((step[0] - step[1]) / 0.02, rel=1e-5)


def test_numbers_and_negatives_stand_for_columns_of_pure_higgsinos() -> None:
    """Two higgsinos of one mass have opposite signs of it."""
    half = 0.5**0.5
    given = {"m1": "m", "n11": 0, "n12": 0, "n13": half, "n14": half}
    given |= {"m2": "-m", "n21": 0, "n22": 0, "n23": half, "n24": -half}
    settings = BORN | {"pair": [1, 2], "columns": given}
    assert is_reference(completed(settings, "pb"))
    masses = np.array([100.0, 500.0])
    found = make_reference(completed(settings, "pb")).values(masses[:, None], ["m"], "log10")
    columns = [column for column in given if column != "m"]
    points = np.array([[m, 0, 0, half, half, -m, 0, 0, half, -half] for m in masses])
    plain = make_reference(completed(BORN | {"pair": [1, 2]}, "pb"))
    np.testing.assert_allclose(found, plain.values(points, columns, "log10"), rtol=1e-14)


@pytest.mark.parametrize(
    "changes",
    [
        {"squark_mass_gev": 3000.0},
        {"process": 7},
        {"process": [1000011, -1000011]},
        {"process": [1000011, -1000013]},
        {"columns": ["mass_1000011"]},
        {"columns": {"mass_1000012": 100, "mass_1000011": 100}},
        {"columns": {"mass_1000012": "-"}},
        {"columns": {"mass_1000012": [1]}},
        {"columns": {"mass_1000012": 1e200}},
        {"columns": {"mass_1000012": "a\nb"}},
    ],
    ids=str,
)
def test_other_settings_of_sleptons_are_none(changes: dict[str, Any]) -> None:
    assert not is_reference(completed(SLEPTONS | changes, "pb"))


@pytest.mark.parametrize(
    "row",
    [
        (45.5, 0.6, 0.5, 0.5, 0.37),
        (-2000.1, 0.6, 0.5, 0.5, 0.37),
        (100.0, 0.0, 0.0, 0.5**0.5, 0.5**0.5),
        (100.0, 0.0, 0.0, 0.0, 0.0),
        (np.nan, 0.6, 0.5, 0.5, 0.37),
        (100.0, np.inf, 0.5, 0.5, 0.37),
    ],
    ids=["below m_Z/2", "too heavy", "no coupling", "no mixing", "no mass", "infinite"],
)
def test_where_born_vanishes_there_is_no_reference(table: Table, row: tuple[float, ...]) -> None:
    points = np.vstack([inputs_of(table)[:2], row])
    found = make_reference(completed(BORN, "pb")).values(points, COLUMNS, "log10")
    assert np.isnan(found).tolist() == [False, False, True]


def test_channels_are_the_powers_of_the_coupling_to_the_z(table: Table) -> None:
    """With higgsino components times t, sigma is Z t^4 + interference t^2 + squarks."""
    points = inputs_of(table)
    squarks = np.full(len(points), 3000.0)
    of_z, mixed = channels_at(identical_pair(points[:, 0], points[:, 1:]), squarks, 13.0)
    weaker = points[:, 1:] * [1.0, 1.0, 0.8, 0.8]
    ratio = (
        cross_sections_at(identical_pair(points[:, 0], weaker), squarks, 13.0).lo_pb
        / cross_sections_at(identical_pair(points[:, 0], points[:, 1:]), squarks, 13.0).lo_pb
    )
    expected = of_z * 0.8**4 + mixed * 0.8**2 + (1 - of_z - mixed)
    np.testing.assert_allclose(ratio, expected, rtol=1e-10)


def test_channels_are_those_of_decoupled_squarks_and_of_no_higgsinos(table: Table) -> None:
    pair = identical_pair(table.columns["m1"], inputs_of(table)[:, 1:])
    squarks = np.full(len(pair.first_mass_gev), 2000.0)
    (of_z, _, of_squarks), *_ = exchanges = by_exchange(
        pair, squarks, beams_at(13.0), ("lo_pb", "nlo_pb")
    )
    alone = cross_sections_at(pair, np.full_like(squarks, np.inf), 13.0).lo_pb
    np.testing.assert_allclose(of_z, alone, rtol=1e-12)
    gauginos = pair.first_mixing * [1, 1, 0, 0]
    bare = cross_sections_at(identical_pair(pair.first_mass_gev, gauginos), squarks, 13.0).lo_pb
    np.testing.assert_allclose(of_squarks, bare, rtol=1e-12)
    whole = cross_sections_at(pair, squarks, 13.0)
    np.testing.assert_allclose(exchanges.sum(axis=1), whole[:2], rtol=1e-14)


def test_channels_and_references_compute_born_once_and_no_other_order(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def integrated(*given: Any) -> np.ndarray:
        asked.append(given[-1])
        return integrate(*given)

    monkeypatch.setattr(hadronic, "integrate", integrated)
    map_features("channels", inputs_of(table))
    make_reference(completed(BORN, "pb")).values(inputs_of(table), COLUMNS, "log10")
    assert asked == [("lo_pb",)] * 2


@pytest.mark.parametrize("scale", ["log10", "identity"])
def test_network_units_and_back(scale: str) -> None:
    rng = np.random.default_rng(0)
    target, reference = rng.uniform(0.1, 9, 20), rng.uniform(0.1, 9, 20)
    transform = TargetTransform(scale, 0.3, 1.7, (), {"column": "c", "unit": ""})
    learned = apply_target(transform, target, reference)
    left = np.log10(target / reference) if scale == "log10" else target - reference
    np.testing.assert_allclose(learned, (left - 0.3) / 1.7, atol=1e-14)
    on_scale = np.log10(target) if scale == "log10" else target
    np.testing.assert_allclose(unstandardise(transform, learned, reference), on_scale, atol=1e-14)
    with pytest.raises(ValueError, match="exactly where"):
        unstandardise(transform, learned)


@pytest.mark.parametrize("relative_to", [BORN, {"column": "lo_pb"}], ids=["born", "column"])
def test_a_target_times_the_reference_gives_the_same_posterior(
    table: Table, relative_to: dict[str, Any]
) -> None:
    """All that a posterior is conditioned on, features and targets of the network, is equal."""
    k_factor = table.columns["sigma_pb"] / table.columns["lo_pb"]
    alone = made(table._replace(columns=table.columns | {"sigma_pb": k_factor}), None)
    together = made(table, relative_to)
    np.testing.assert_array_equal(together.features, alone.features)
    np.testing.assert_allclose(together.target, alone.target, atol=1e-10)
    np.testing.assert_allclose(np.asarray(together.relative_to), table.columns["lo_pb"], rtol=1e-12)
    assert together.transforms["target"]["sd"] == pytest.approx(alone.transforms["target"]["sd"])


def test_rows_that_the_engine_cannot_compute_are_refused(table: Table) -> None:
    masses = table.columns["m1"].copy()
    masses[5] = 20.0
    changed = table._replace(columns=table.columns | {"m1": masses})
    with refused("references.no_reference", count=1, rows=[6], what="born"):
        made(changed, BORN, feature_map="invariants")


def test_the_engine_takes_gev_and_gives_cross_sections(table: Table) -> None:
    selection = Selection(
        inputs_of(table), table.columns["sigma_pb"], {"m1": "TeV", "sigma_pb": "pb"}
    )
    choices = CHOICES._replace(relative_to=BORN)
    with refused("references.mass_unit", column="m1", received="TeV"):
        make_dataset(selection, COLUMNS, ("sigma_pb",), choices)
    unknown = selection._replace(units={"m1": "GeV", "sigma_pb": ""})
    with refused("references.target_unit", received=""):
        make_dataset(unknown, COLUMNS, ("sigma_pb",), choices)


def test_a_column_that_no_target_can_be_relative_to_is_refused(table: Table) -> None:
    request = Request(COLUMNS, ["sigma_pb"], {}, reference="lo_pb", target_scale="log10")
    with refused("references.not_positive", places=[""]):
        none = table.columns["lo_pb"] * (np.arange(60) > 0)
        check_request(table._replace(columns=table.columns | {"lo_pb": none}), request, "t")
    with refused("references.other_unit", places=[""]):
        check_request(table._replace(units={"lo_pb": "pb"}), request, "t")


def test_another_version_of_the_engine_is_refused() -> None:
    settings = completed(BORN, "pb")
    make_reference(settings).check_version()
    make_reference({"column": "lo_pb", "unit": "pb"}).check_version()
    with refused("references.other_engine", received="0"):
        make_reference(settings | {"engine": "0"}).check_version()


@pytest.mark.parametrize(
    "change",
    [
        {"calculation": "nnlo"},
        {"pair": [2, 1]},
        {"pair": "11"},
        {"sqrt_s_tev": 1e300},
        {"sqrt_s_tev": True},
        {"squark_mass_gev": 10},
        {"squark_mass_gev": [3000]},
        {"mu_over_q": 0.5},
        {"mu_over_q": float("nan")},
        {"unit": "GeV"},
        {"unit": []},
        {"engine": 1},
        {"more": 1},
        {"column": "lo_pb"},
    ],
)
def test_settings_of_anybody(change: dict[str, Any]) -> None:
    settings = completed(BORN, "pb")
    assert is_reference(settings)
    assert not is_reference(settings | change)


def test_nothing_is_left_beside_the_reference_itself(table: Table) -> None:
    twice = table.columns | {"lo_pb": 2 * table.columns["sigma_pb"]}
    with refused("references.nothing_left", what="lo_pb"):
        made(table._replace(columns=twice), {"column": "lo_pb"})
    with refused("references.nothing_left", what="nlo"):
        made(table, BORN | {"calculation": "nlo"})
