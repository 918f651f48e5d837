"""Points inside the domain are near train rows, by local spacing, and within their range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.transforms import apply_features, fit_features
from nlobayes.surrogate import domain as domains
from nlobayes.surrogate.domain import fit_domain
from nlobayes.surrogate.train_ranges import bounds_of, fit_limits, gaps, mixing_rows

NAMES = ("m1", "n11", "n12", "n13", "n14")
UNITS = {"m1": "GeV", **dict.fromkeys(NAMES[1:], "1")}
RNG = np.random.default_rng(0)


def scan(count: int) -> np.ndarray:
    """Rows as the embedded source scans them."""
    columns = scan_table(20240101, count, Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0)).columns
    return np.column_stack([columns[name] for name in NAMES])


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return scan(4000)


def test_distance_is_the_smallest_in_spacings_of_the_rows() -> None:
    train, points = RNG.normal(size=(300, 4)), RNG.normal(size=(50, 4))
    spacing = cKDTree(train).query(train, k=domains.NEIGHBOURS + 1)[0][:, -1]
    expected = (cdist(points, train) / spacing).min(axis=1)
    fitted = fit_domain(train, points)
    np.testing.assert_allclose(fitted.spacing, spacing, rtol=1e-9)
    np.testing.assert_allclose(domains.distance(fitted, points), expected, rtol=1e-6)
    assert fitted.inside == pytest.approx(expected.max())


def test_distance_does_not_jump_between_a_dense_and_a_sparse_region(rows: np.ndarray) -> None:
    """A step changes it by no more than its length in the smallest spacing along the line.

    A mass scan at mixings of a train row had a single point outside between points inside.
    """
    transform = fit_features("invariants", rows, np.arange(4000) < 1000, standardise=True)
    train, held = (apply_features(transform, part) for part in (rows[:1000], rows[1000:1500]))
    fitted = fit_domain(train, held)
    line = np.tile(rows[7], (801, 1))
    line[:, 0] = np.linspace(50, 800, 801)
    features = apply_features(transform, line)
    steps = np.linalg.norm(np.diff(features, axis=0), axis=1)
    change = np.abs(np.diff(domains.distance(fitted, features)))
    assert (change <= 1.001 * steps / fitted.spacing.min()).all()


def test_spacing_is_local() -> None:
    """Two clouds, one a hundred times as wide, both end half a width beyond their rows."""
    narrow, wide = RNG.uniform(0, 1, (400, 2)), 1000 + 100 * RNG.uniform(0, 1, (400, 2))
    train, held = np.concatenate([narrow[:300], wide[:300]]), [narrow[300:], wide[300:]]
    fitted = fit_domain(train, np.concatenate(held))
    beside = np.array([[1.5, 0.5], [1150.0, 1050.0]])
    flags = domains.flag(fitted, domains.distance(fitted, beside), np.ones(2, bool))
    assert flags.tolist() == ["outside", "outside"]
    for cloud in held:
        assert (domains.distance(fitted, cloud) <= fitted.inside).all()


def test_rows_that_are_learned_later_extend_the_domain() -> None:
    """A hole of the train rows closes, and the range ends at the last learned row."""
    grid = np.linspace(0, 10, 101)[:, np.newaxis]
    train, held = grid[(grid[:, 0] < 4) | (grid[:, 0] > 6)], grid[::7]
    fitted = fit_domain(train, held[(held[:, 0] < 4) | (held[:, 0] > 6)])
    beside = np.array([[5.02], [11.0]])
    whole = domains.extended(fitted, grid)
    assert (whole.inside, whole.edge) == (fitted.inside, fitted.edge)
    flags = [
        domains.flag(one, domains.distance(one, beside), np.ones(2, bool)).tolist()
        for one in (fitted, whole)
    ]
    assert flags == [["outside", "outside"], ["inside", "outside"]]


@given(st.integers(0, 2), st.sampled_from([0.0, 1.0, -3e4]), st.floats(1e-3, 1e3))
def test_another_value_of_a_feature_that_all_rows_share_is_far(
    column: int, value: float, factor: float
) -> None:
    """Such a held-out row, as of a rare category, does not widen the domain of the others."""
    train, held = np.random.default_rng(2).normal(size=(2, 50, 3))
    train[:, column] = held[:, column] = value
    alone = fit_domain(train.astype(np.float32), held)
    other = held[:1].copy()
    other[0, column] += factor * max(abs(value), 1)
    beside = fit_domain(train.astype(np.float32), np.concatenate([held, other]))
    assert (beside.inside, beside.edge) == (alone.inside, alone.edge)
    assert domains.distance(beside, other) == np.inf
    assert (domains.distance(beside, held) <= beside.inside).all()


def test_held_out_rows_are_inside(rows: np.ndarray) -> None:
    """At least 98 % of 2500 rows that were used neither to fit nor to calibrate are inside."""
    train, held, fresh = rows[:1000], rows[1000:1500], rows[1500:]
    transform = fit_features("invariants", rows, np.arange(4000) < 1000, standardise=True)
    fitted = fit_domain(*(apply_features(transform, part) for part in (train, held)))
    limits = fit_limits(train, NAMES, UNITS)
    distances = domains.distance(fitted, apply_features(transform, fresh))
    allowed = bounds_of(limits, NAMES, UNITS).allow(fresh)
    flags = domains.flag(fitted, distances, allowed)
    assert np.mean(flags == "inside") >= 0.98
    beyond = ((fresh < train.min(axis=0)) | (fresh > train.max(axis=0))).any(axis=1)
    assert beyond.any()
    assert set(flags[beyond]) == {"outside"}


@given(column=st.integers(0, 4), up=st.booleans(), factor=st.floats(1e-9, 1e9))
def test_beyond_an_input_is_never_within(column: int, up: bool, factor: float) -> None:
    train = np.random.default_rng(1).normal(size=(60, 5))
    point = train[7:8].copy()
    end = train[:, column].max() if up else train[:, column].min()
    point[0, column] = np.nextafter(end + factor * (1 if up else -1), np.inf if up else -np.inf)
    assert not bounds_of(fit_limits(train, NAMES, UNITS), NAMES, UNITS).allow(point)[0]


@pytest.mark.parametrize("mass", [31.0, -31.0, 20.0, 45.9, 0.0, 5000.0, -5000.0])
def test_masses_that_no_row_has_are_beyond(rows: np.ndarray, mass: float) -> None:
    limits = fit_limits(rows, NAMES, UNITS)
    assert limits["|m1|"][0] > 46
    [allowed, other] = bounds_of(limits, NAMES, UNITS).allow(
        np.array([[mass, *rows[0, 1:]], rows[0]])
    )
    assert (allowed, other) == (False, True)


def test_mixings_keep_the_length_that_train_rows_have(rows: np.ndarray) -> None:
    limits = fit_limits(rows, NAMES, UNITS)
    middle = rows[np.argmin(np.abs(rows[:, 1:]).max(axis=1))]
    lengths = np.array([0.5, 0.98, 0.995, 1.0, 1.005, 1.02])
    points = np.column_stack([np.full(6, middle[0]), lengths[:, np.newaxis] * middle[1:]])
    expected = [False, False, True, True, True, False]
    assert bounds_of(limits, NAMES, UNITS).allow(points).tolist() == expected


@pytest.mark.parametrize(
    ("masses", "found"),
    [
        ([-300, -50, 46, 800], {"m": (-46, 46)}),
        ([-300, -46, 800], {"m": (-46, 46)}),
        ([50, 800], {}),
        ([-800, -50], {}),
        ([-800, -5, 7, 800], {}),
        ([-800, 0, 800], {}),
    ],
)
def test_a_mass_of_both_signs_has_a_gap_where_none_is_small(
    masses: list[float], found: dict[str, tuple[float, float]]
) -> None:
    """Mixings, which have no unit, have no gap."""
    rows = np.column_stack([masses, masses])
    assert gaps(fit_limits(rows, ("m", "x"), {"m": "GeV", "x": "1"}), ("m", "x")) == found


@pytest.mark.parametrize(
    ("inputs", "units", "found"),
    [
        (NAMES, {"m1": "GeV", "n11": "1"}, [["n11", "n12", "n13", "n14"]]),
        (NAMES[:-1], {}, []),
        (("m1", "m2", "m3", "m4"), dict.fromkeys(("m1", "m2", "m3", "m4"), "GeV"), []),
        (("a", "b"), {}, []),
        (
            ("n21", "n12", "n22", "n11", "n13", "n23", "n24", "n14"),
            {},
            [["n21", "n22", "n23", "n24"], ["n11", "n12", "n13", "n14"]],
        ),
    ],
)
def test_rows_of_a_mixing_matrix_are_found(
    inputs: tuple[str, ...], units: dict[str, str], found: list[list[str]]
) -> None:
    assert mixing_rows(inputs, units) == found


CHARGINO = ("mc1", "u11", "u12", "v11", "v12")
OF_CHARGINO = {"mc1": "GeV", **dict.fromkeys(CHARGINO[1:], "1")}


def test_rows_of_u_and_v_keep_their_length() -> None:
    """Two inputs without unit are such a row if all train rows have the length 1 there."""
    angles = np.linspace(0.1, 1.4, 50)
    unit = np.column_stack([np.cos(angles), np.sin(angles)])
    train = np.column_stack([np.linspace(100, 900, 50), unit, unit[::-1]])
    limits = fit_limits(train, CHARGINO, OF_CHARGINO)
    assert mixing_rows(CHARGINO, OF_CHARGINO, limits) == [["u11", "u12"], ["v11", "v12"]]
    points = np.array([[500, *(factor * unit[25]), *unit[25]] for factor in (0.9, 0.995, 1.02)])
    assert bounds_of(limits, CHARGINO, OF_CHARGINO).allow(points).tolist() == [False, True, False]
    earlier = {what: ends for what, ends in limits.items() if not what.startswith("length")}
    assert bounds_of(earlier, CHARGINO, OF_CHARGINO).allow(points[:1]).all()
    train[7, 1] = 0.5
    assert mixing_rows(CHARGINO, OF_CHARGINO, fit_limits(train, CHARGINO, OF_CHARGINO)) == [
        ["v11", "v12"]
    ]
