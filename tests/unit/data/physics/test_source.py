"""The simulated table: columns, units, metadata, seeds and refusals."""

import numpy as np
import pytest

from nlobayes.data.physics.mssm import ScanRanges
from nlobayes.data.physics.source import Settings, simulate
from nlobayes.errors import InputError
from nlobayes.types import Table

SETTINGS = Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0)
COLUMNS = ["m1", "n11", "n12", "n13", "n14", "sigma_pb", "lo_pb", "scale_up", "scale_down"]


@pytest.fixture(scope="module")
def table() -> Table:
    return simulate(11, 500, SETTINGS)


def _bytes(table: Table) -> bytes:
    return b"".join(values.tobytes() for values in table.columns.values())


def test_columns_have_names_units_and_the_length_asked_for(table: Table) -> None:
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


def test_equal_seeds_give_equal_bytes_and_other_seeds_other_points(table: Table) -> None:
    assert _bytes(simulate(11, 500, SETTINGS)) == _bytes(table)
    assert _bytes(simulate(12, 500, SETTINGS)) != _bytes(table)


def test_heavier_squarks_change_cross_sections_but_not_points(table: Table) -> None:
    other = simulate(11, 500, SETTINGS._replace(squark_mass_gev=2500.0)).columns
    np.testing.assert_array_equal(other["m1"], table.columns["m1"])
    assert np.all(other["sigma_pb"] != table.columns["sigma_pb"])


def test_metadata_name_what_the_numbers_depend_on(table: Table) -> None:
    assert all(isinstance(value, str) for value in table.metadata.values())
    expected = {"seed": "11", "sqrt_s_tev": "13.0", "squark_mass_gev": "3000.0"}
    assert expected.items() <= table.metadata.items()
    assert "MSTW2008 NLO" in table.metadata["parton_distributions"]
    assert "tan_beta 2 to 60" in table.metadata["scan"]


@pytest.mark.parametrize(
    ("seed", "points", "settings", "message"),
    [
        (-1, 10, SETTINGS, "seed"),
        (1, 0, SETTINGS, "points"),
        (1, 10, SETTINGS._replace(squark_mass_gev=1500.0), "squark_mass_gev"),
        (1, 10, SETTINGS._replace(squark_mass_gev=np.nan), "squark_mass_gev"),
        (1, 10, SETTINGS._replace(squark_mass_gev=np.inf), "squark_mass_gev must be finite"),
        (1, 10, SETTINGS._replace(sqrt_s_tev=5.0), "7 to 14 TeV"),
        (1, 10, SETTINGS._replace(sqrt_s_tev=13_000.0), "7 to 14 TeV"),
        (1, 10, SETTINGS._replace(ranges=ScanRanges(wino_gev=(50.0, 3000.0))), "wino_gev"),
    ],
)
def test_settings_outside_the_domain_are_refused(
    seed: int, points: int, settings: Settings, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        simulate(seed, points, settings)
