"""The simulated table: columns, units, metadata, seeds and refusals."""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from nlobayes.data.simulators.simulate import TARGETS, Settings, scan_table
from nlobayes.data.slha import unit_of
from nlobayes.data.statements import PROTONS, state_process
from nlobayes.physics.hadronic import of_process
from nlobayes.physics.processes import make_process, neutralino_pair
from nlobayes.study.sources.simulate import SimulatedSource, SquarkRange
from nlobayes.types import Table
from tests.refusals import refused
from tests.spectra import PROCESSES

SETTINGS = Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0)
PAIRS = [*combinations_with_replacement((1, 2, 3, 4), 2)]
COLUMNS = ["m1", "n11", "n12", "n13", "n14", "sigma_pb", "lo_pb", "scale_up", "scale_down"]


@pytest.fixture(scope="module")
def table() -> Table:
    return scan_table(11, 500, SETTINGS)


def _bytes(table: Table) -> bytes:
    return b"".join(values.tobytes() for values in table.columns.values())


def test_columns_have_names_units_and_the_requested_length(table: Table) -> None:
    assert list(table.columns) == COLUMNS
    assert list(table.units) == COLUMNS
    assert list(table.units.values()) == ["GeV", "1", "1", "1", "1", "pb", "pb", "pb", "pb"]
    for values in table.columns.values():
        assert values.shape == (500,)
        assert values.dtype == np.float64
        assert np.isfinite(values).all()


def test_rows_are_physical(table: Table) -> None:
    c = table.columns
    rows = np.stack([c[f"n1{k}"] for k in (1, 2, 3, 4)])
    np.testing.assert_allclose((rows**2).sum(axis=0), 1, rtol=1e-12)
    assert np.abs(c["m1"]).min() > 46
    assert c["sigma_pb"].min() > 0
    assert np.all(c["sigma_pb"] > 1.1 * c["lo_pb"])
    assert np.ptp(np.log10(c["sigma_pb"])) > 4


def test_heavier_squarks_change_cross_sections_but_not_points(table: Table) -> None:
    other = scan_table(11, 500, SETTINGS._replace(squark_mass_gev=2500.0)).columns
    np.testing.assert_array_equal(other["m1"], table.columns["m1"])
    assert np.all(other["sigma_pb"] != table.columns["sigma_pb"])


def test_metadata_name_what_the_numbers_depend_on(table: Table) -> None:
    assert all(isinstance(value, str) for value in table.metadata.values())
    expected = {"seed": "11", "sqrt_s_tev": "13.0", "squark_mass_gev": "3000.0"}
    assert expected.items() <= table.metadata.items()
    assert "MSTW2008 NLO" in table.metadata["parton_distributions"]
    assert "tan_beta 2 to 60" in table.metadata["scan"]


def test_the_default_table_is_what_it_always_was() -> None:
    """Exact on the machine that computed these numbers; its metadata on any machine."""
    table = scan_table(20240101, 5, SETTINGS)
    rows = np.transpose([*table.columns.values()])
    expected = [
        *(144.26290326695698, 0.010514939896552883, 0.988807224994376, 0.14800528452761422),
        *(0.015625094873094915, 0.00031823089779093054, 0.0002652199298431324),
    ]
    np.testing.assert_allclose(rows[0, :7], expected, rtol=1e-11)
    assert table.metadata == {
        "process": "p p -> chi0_1 chi0_1",
        "incoming": "2212 2212",
        "outgoing": "1000022 1000022",
        "order": "NLO QCD; lo_pb: LO with the same parton distributions",
        "scales": "mu = Q for sigma_pb and lo_pb, Q/2 for scale_up, 2 Q for scale_down",
        "sqrt_s_tev": "13.0",
        "squark_mass_gev": "3000.0",
        "fixed": "msq = 3000 GeV (2970 to 3030)",
        "parton_distributions": "MSTW2008 NLO (arXiv:0901.0002)",
        "alpha_s": "0.12018 at 91.1876 GeV",
        "electroweak_inputs": "alpha = 1/127.9, sin2_theta_w = 0.2312",
        "scan": "bino_gev -1000 to 1000, wino_gev 50 to 1000, higgsino_gev -1000 to 1000, "
        "tan_beta 2 to 60",
        "seed": "20240101",
        "engine": "nlobayes embedded NLO engine, version 1",
    }


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_pair_has_the_columns_of_both_whichever_comes_first(pair: tuple[int, int]) -> None:
    """As ingested SLHA files have them, and as the study announces them."""
    table = scan_table(11, 20, SETTINGS._replace(pair=pair))
    assert _bytes(scan_table(11, 20, SETTINGS._replace(pair=pair[::-1]))) == _bytes(table)
    features = neutralino_pair(pair).columns
    assert [*table.columns] == [*table.units] == [*features, *TARGETS]
    assert all(table.units[name] == unit_of(name) for name in features)
    assert {table.units[name] for name in TARGETS} == {"pb"}
    assert SimulatedSource(kind="simulate", pair=pair).columns == features
    assert table.metadata["process"] == f"p p -> chi0_{pair[0]} chi0_{pair[1]}"
    assert ("not_compared" in table.metadata) == (pair == (3, 3))
    masses = [np.abs(table.columns[f"m{i}"]) for i in sorted({1, *pair}) if f"m{i}" in features]
    assert np.all(np.diff(masses, axis=0) > 0)
    assert min(table.columns[name].min() for name in TARGETS) > 0


def test_squark_masses_are_a_column_that_leaves_the_others_alone(table: Table) -> None:
    settings = SETTINGS._replace(squark_mass_gev=(2000.0, 4000.0))
    varied = scan_table(11, 500, settings)
    assert [*varied.columns] == [*COLUMNS[:5], "msq", *COLUMNS[5:]]
    assert varied.units["msq"] == "GeV"
    source = SimulatedSource(
        kind="simulate", pair=(1, 2), squark_mass_gev=SquarkRange(low=2000, high=4000)
    )
    both = scan_table(11, 20, settings._replace(pair=(1, 2)))
    assert source.columns == (*both.columns,)[: -len(TARGETS)]
    for name in COLUMNS[:5]:
        np.testing.assert_array_equal(varied.columns[name], table.columns[name])
    masses = varied.columns["msq"]
    assert 2000 <= masses.min() < 2010 < 3980 < masses.max() <= 4000
    np.testing.assert_array_equal(scan_table(11, 50, settings).columns["msq"], masses[:50])
    np.testing.assert_array_equal(both.columns["msq"], masses[:20])


def test_a_row_depends_on_its_own_squarks_alone() -> None:
    varied = scan_table(11, 30, SETTINGS._replace(squark_mass_gev=(2000.0, 4000.0))).columns
    for row in (0, 29):
        mass = float(varied["msq"][row])
        alone = scan_table(11, 30, SETTINGS._replace(squark_mass_gev=mass)).columns
        for name in TARGETS:
            assert varied[name][row] == pytest.approx(alone[name][row], rel=1e-13)


def test_the_tail_holds_the_smallest_cross_sections() -> None:
    """Their median is more than a factor of ten below that of the other rows."""
    sigma = scan_table(11, 200, SETTINGS._replace(scan="fine_tuned")).columns["sigma_pb"]
    tail = np.arange(200) % 4 == 3
    assert np.median(sigma[tail]) < np.median(sigma[~tail]) / 10


def test_rows_that_were_compared_with_nothing_are_counted() -> None:
    settings = SETTINGS._replace(sqrt_s_tev=8.0, squark_mass_gev=(2000.0, 4000.0))
    table = scan_table(11, 50, settings)
    light = np.count_nonzero(table.columns["msq"] < 2500)
    assert table.metadata["not_compared"] == (
        f"50 of 50 rows at 8 TeV (13 to 13.6 were); {light} of 50 rows with squarks below 2500 GeV"
    )
    assert table.metadata["squark_mass_gev"] == "2000 to 4000, uniform in the logarithm"


@pytest.mark.parametrize(
    ("changes", "code", "fields"),
    [
        ({"squark_mass_gev": 1500.0}, "physics.squark_mass", {"received": 1500.0}),
        ({"squark_mass_gev": np.nan}, "physics.squark_mass", {}),
        ({"squark_mass_gev": np.inf}, "physics.squark_mass", {}),
        ({"squark_mass_gev": 1e200}, "physics.squark_mass", {"least": 2000, "most": 100_000}),
        ({"squark_mass_gev": (1500.0, 3000.0)}, "physics.squark_mass", {}),
        ({"squark_mass_gev": (4000.0, 3000.0)}, "physics.squark_range", {}),
        ({"squark_mass_gev": (3000.0, 3000.0)}, "physics.squark_range", {}),
        ({"pair": (0, 1)}, "physics.no_neutralino", {"pair": (0, 1)}),
        ({"pair": (5, 5), "scan": "fine_tuned"}, "physics.no_neutralino", {"pair": (5, 5)}),
        ({"pair": (1, 2), "scan": "fine_tuned"}, "physics.fine_tuned_pair", {"pair": (1, 2)}),
        ({"scan": "light"}, "physics.unknown_scan", {"scan": "light"}),
        ({"sqrt_s_tev": 5.0}, "physics.energy", {"received_tev": 5.0}),
        ({"sqrt_s_tev": 13_000.0}, "physics.energy", {"least_tev": 7, "most_tev": 14}),
    ],
)
def test_settings_outside_the_domain_are_refused(
    changes: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    with refused(code, **fields):
        scan_table(1, 10, SETTINGS._replace(**changes))


@pytest.mark.by_day(6)
@pytest.mark.parametrize("particles", PROCESSES, ids=str)
def test_every_process_has_the_columns_of_its_particles(particles: tuple[int, int]) -> None:
    """As ingested SLHA files have them, and as the study announces them."""
    process = make_process(*particles)
    table = scan_table(11, 12, SETTINGS._replace(pair=None, process=particles[::-1]))
    assert [*table.columns] == [*table.units] == [*process.columns, *TARGETS]
    assert all(table.units[name] == unit_of(name) for name in process.columns)
    assert SimulatedSource(kind="simulate", process=particles).columns == process.columns
    assert table.metadata["process"] == state_process(PROTONS, process)["process"]
    assert ("m_w_gev" in table.metadata["electroweak_inputs"]) == (process.charge != 0)
    assert min(table.columns[name].min() for name in TARGETS) > 0


def test_charginos_of_a_table_come_from_one_mass_matrix() -> None:
    """M2 and mu are those of X = U^T diag(m) V, its other entries those of one tan beta."""
    table = scan_table(5, 200, SETTINGS._replace(process=(1000024, -1000037))).columns
    u, v = (np.stack([[table[f"{x}{i}{j}"] for j in (1, 2)] for i in (1, 2)]) for x in ("u", "v"))
    masses = np.stack([table["mc1"], table["mc2"]])
    x = np.einsum("iaz,iz,ibz->abz", u, masses, v)
    w_mass = 91.1876 * np.sqrt(1 - 0.2312)
    np.testing.assert_allclose(x[0, 1] ** 2 + x[1, 0] ** 2, 2 * w_mass**2, rtol=1e-9)
    tan_beta = x[0, 1] / x[1, 0]
    assert np.all((tan_beta > 2) & (tan_beta < 60))
    assert np.all((x[0, 0] > 50) & (x[0, 0] < 1000) & (np.abs(x[1, 1]) < 1000))
    assert np.min(masses[0]) > 46
    assert np.all(masses[0] < masses[1])


def test_a_chargino_and_a_neutralino_share_their_parameters() -> None:
    """N diag(m) N^T has M2 and -mu where U diag(m) V has them; the wino entry joins both."""
    one = scan_table(5, 50, SETTINGS._replace(process=(1000022, 1000024))).columns
    same = scan_table(5, 50, SETTINGS._replace(process=(1000024, -1000024))).columns
    for name in ("mc1", "u11", "v12"):
        np.testing.assert_array_equal(one[name], same[name])
    pure = np.abs(one["n12"]) > 0.99
    assert pure.sum() > 2
    np.testing.assert_allclose(one["mc1"][pure], np.abs(one["m1"][pure]), rtol=0.02)


@pytest.mark.parametrize(
    ("particles", "code"),
    [
        ((1000024, 1000024), "physics.doubly_charged"),
        ((1000024, 1000021), "physics.unknown_particle"),
    ],
)
def test_other_processes_are_refused(particles: tuple[int, int], code: str) -> None:
    with refused(code):
        scan_table(1, 10, SETTINGS._replace(process=particles))


def test_seeds_and_numbers_of_points_are_refused() -> None:
    with refused("physics.negative_seed", seed=-1):
        scan_table(-1, 10, SETTINGS)
    with refused("physics.no_points", points=0):
        scan_table(1, 0, SETTINGS)


@pytest.mark.parametrize("scan", ["flat", "log"])
@pytest.mark.parametrize(
    "particles", [(1000011, -1000011), (1000014, -1000013), (-2000015, 1000015)], ids=str
)
def test_tables_of_sleptons_have_their_masses_and_left_parts(
    particles: tuple[int, int], scan: str
) -> None:
    """Cross sections are those of the columns; squark masses are not stated."""
    process = make_process(*particles)
    settings = SETTINGS._replace(pair=None, process=particles, scan=scan)
    table = scan_table(11, 400, settings)
    assert [*table.columns] == [*table.units] == [*process.columns, *TARGETS]
    assert all(table.units[name] == unit_of(name) for name in process.columns)
    lo, nlo, up, down = of_process(process, table.columns, 13.0)
    for name, values in zip(TARGETS, (nlo, lo, up, down), strict=True):
        np.testing.assert_array_equal(table.columns[name], values)
    masses = [table.columns[name] for name in process.columns if name.startswith("mass")]
    assert min(map(np.min, masses)) > 46
    assert max(map(np.max, masses)) < 1100
    middle = np.sqrt(46 * 1100) if scan == "log" else 573.0
    assert np.median(np.concatenate(masses)) == pytest.approx(middle, rel=0.15)
    if len(process.columns) == 4:
        assert np.all(masses[0] < masses[1])
        parts = table.columns["left_1000015"] + table.columns["left_2000015"]
        np.testing.assert_allclose(parts, 1, rtol=1e-15)
    assert table.metadata["fixed"] == "none"
    assert "squark_mass_gev" not in table.metadata
    assert table.metadata["outgoing"] == " ".join(map(str, process))
    assert ("not_compared" in table.metadata) == (len(process.columns) == 4)
    again = scan_table(11, 30, settings).columns
    np.testing.assert_array_equal(again["sigma_pb"], table.columns["sigma_pb"][:30])


def test_what_sleptons_have_not_is_refused() -> None:
    settings = SETTINGS._replace(process=(1000011, -1000011))
    with refused("physics.squarks_of_sleptons", received=(2500, 3000)):
        scan_table(1, 10, settings._replace(squark_mass_gev=(2500, 3000)))
    with refused("physics.fine_tuned_pair"):
        scan_table(1, 10, settings._replace(scan="fine_tuned"))
    with refused("physics.unknown_scan", known=("flat", "log")):
        scan_table(1, 10, settings._replace(scan="light"))
