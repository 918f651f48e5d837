"""Sign conventions of SLHA files change neither the domain nor the prediction."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.slha import spectrum_of
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.train_ranges import bounds_of, fit_limits
from tests.unit.surrogate.conftest import make_exported, points

POINT = Path(__file__).parents[3] / "docs/point.slha"
Scan = tuple[np.ndarray, list[str], dict[str, str]]


def scan(process: tuple[int, int], rows: int = 400) -> Scan:
    """Rows of the embedded engine: the largest mixing of a row is positive."""
    settings = Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0, process=process)
    table, names = scan_table(7, rows, settings), [*settings.reaction.columns]
    units = {name: table.units[name] for name in names}
    return np.column_stack([table.columns[name] for name in names]), names, units


def conventions(rows: np.ndarray, signs: tuple[tuple[int, ...], ...]) -> Iterator[np.ndarray]:
    """Write rows (row, input) in each other convention."""
    for count in range(1, len(signs) + 1):
        for groups in combinations(signs, count):
            other = rows.copy()
            for group in groups:
                other[:, group] *= -1
            yield other


@pytest.mark.parametrize(
    ("process", "chosen", "ways"),
    [
        ((1000022, 1000022), "invariants", 3),
        ((1000022, 1000023), "pair_invariants", 7),
        ((1000023, 1000024), "chargino_neutralino_invariants", 15),
        ((1000024, -1000024), "chargino_invariants", 7),
        ((1000024, -1000037), "chargino_pair_invariants", 31),
    ],
)
def test_rows_of_a_scan_are_within_in_every_convention(
    process: tuple[int, int], chosen: str, ways: int
) -> None:
    """A row whose mixings have another length is outside."""
    rows, names, units = scan(process)
    limits, signs = fit_limits(rows[:200], names, units), FEATURE_MAPS[chosen].SIGNS
    expected = bounds_of(limits, names, units, signs).allow(rows)
    assert expected.mean() > 0.95
    others = [*conventions(rows, signs)]
    assert len(others) == ways
    for other in others:
        assert np.array_equal(bounds_of(limits, names, units, signs).allow(other), expected)
        short = np.where([name[0] in "nuv" for name in names], 0.9 * other, other)
        assert not bounds_of(limits, names, units, signs).allow(short).any()


def test_the_third_neutralino_of_the_page_is_within() -> None:
    """Its largest mixings are negative; in the map `raw`, where signs count, it is outside."""
    rows, names, units = scan((1000022, 1000025), 3000)
    point = spectrum_of(POINT.read_text(), "docs/point.slha", names)
    values = np.array([[point[name] for name in names]])
    limits = fit_limits(rows, names, units)
    signs = [FEATURE_MAPS[name].SIGNS for name in ("pair_invariants", "raw")]
    assert [bounds_of(limits, names, units, one).allow(values)[0] for one in signs] == [True, False]


def test_predictions_and_flags_are_those_of_the_row() -> None:
    surrogate, rows = Surrogate(make_exported()), points(300, seed=5)
    rows[:, 1:] *= np.sign(rows[np.arange(300), 1 + np.abs(rows[:, 1:]).argmax(axis=1)])[:, None]
    flags, found = surrogate.domain(rows), surrogate.predict(rows)
    assert {*flags} >= {"inside", "outside"}
    for other in conventions(rows, FEATURE_MAPS["invariants"].SIGNS):
        assert np.array_equal(surrogate.domain(other), flags)
        np.testing.assert_allclose(surrogate.predict(other).median, found.median, rtol=1e-12)
