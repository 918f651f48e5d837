"""Maps of charginos depend on what cross sections depend on, and on no convention of signs."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nlobayes.data.features import feature_names, map_features
from nlobayes.physics.partonic import Kind, Pair
from tests.born import born_cross_section
from tests.refusals import refused

SIGNS = st.sampled_from([-1.0, 1.0])
MIXED, ONE, TWO = (
    "chargino_neutralino_invariants",
    "chargino_invariants",
    "chargino_pair_invariants",
)


@st.composite
def rows(draw: st.DrawFn, length: int) -> list[float]:
    """Draw a row of mixings of length 1."""
    row = np.array(
        draw(st.tuples(*[st.floats(-1, 1)] * length).filter(lambda r: np.linalg.norm(r) > 0.1))
    )
    return (row / np.linalg.norm(row)).tolist()


@st.composite
def charginos(draw: st.DrawFn) -> list[float]:
    return [draw(st.floats(50, 1000)) * draw(SIGNS), *draw(rows(2)), *draw(rows(2))]


@st.composite
def mixed(draw: st.DrawFn) -> np.ndarray:
    """Draw a pair that couples to quarks: not a higgsino chargino with a gaugino."""
    neutralino = [draw(st.floats(50, 1000)) * draw(SIGNS), *draw(rows(4))]
    point = np.array([*neutralino, *draw(charginos())])
    assume(np.abs(point[[3, 4, 6, 8]]).max() > 1e-3)
    return point


@st.composite
def unlike(draw: st.DrawFn) -> np.ndarray:
    """Draw two charginos whose rows of U, and of V, are orthogonal."""
    angles = draw(st.tuples(*[st.floats(0.05, 3.1).filter(lambda a: abs(a - 1.57) > 0.05)] * 2))
    both = [[np.cos(a), np.sin(a), -np.sin(a), np.cos(a)] for a in angles]
    first, second = (
        [draw(st.floats(50, 1000)), *(row[k] for row in both for k in (i, i + 1))] for i in (0, 2)
    )
    return np.array([*first, *second])


def rate(point: np.ndarray, kind: Kind) -> np.ndarray:
    """Compute partonic cross sections at twice the threshold, of every quark."""
    first, second = point[:5], point[-5:]
    pair = Pair(first[:1], first[None, 1:], second[:1], second[None, 1:], 1.0, kind)
    energy = 2 * pair.threshold_gev[:, None]
    return np.array([born_cross_section(pair, q, energy, 2500.0)[0, 0] for q in pair.quarks])


def features(name: str, point: np.ndarray) -> np.ndarray:
    return map_features(name, point[None])[0]


@given(mixed(), SIGNS, SIGNS, SIGNS, SIGNS)
def test_signs_change_neither_features_nor_rate_of_a_mixed_pair(
    point: np.ndarray, of_n: float, of_u: float, of_v: float, of_phase: float
) -> None:
    """Rows of N flip freely, of U and V with the mass; both masses for a phase i in both fields."""
    flips = [of_phase, *[of_n] * 4, of_phase * of_u * of_v, *[of_u] * 2, *[of_v] * 2]
    flipped = point * flips
    np.testing.assert_allclose(features(MIXED, flipped), features(MIXED, point), rtol=1e-14)
    np.testing.assert_allclose(rate(flipped, "plus"), rate(point, "plus"), rtol=1e-11)


@given(unlike(), SIGNS, SIGNS, SIGNS, SIGNS, st.booleans())
def test_signs_and_order_change_neither_features_nor_rate_of_two_charginos(
    point: np.ndarray, u_i: float, v_i: float, u_j: float, v_j: float, exchanged: bool
) -> None:
    flips = [u_i * v_i, u_i, u_i, v_i, v_i, u_j * v_j, u_j, u_j, v_j, v_j]
    flipped = np.roll(point * flips, 5 if exchanged else 0)
    np.testing.assert_allclose(features(TWO, flipped), features(TWO, point), rtol=1e-13)
    kind: Kind = "unlike_charginos"
    np.testing.assert_allclose(rate(flipped, kind), rate(point, kind), rtol=1e-10)


@given(charginos(), SIGNS, SIGNS, SIGNS)
def test_signs_change_neither_features_nor_rate_of_a_chargino_pair(
    point: list[float], of_mass: float, of_u: float, of_v: float
) -> None:
    flipped = np.array(point) * [of_mass, of_u, of_u, of_v, of_v]
    np.testing.assert_array_equal(features(ONE, flipped), features(ONE, np.array(point)))
    np.testing.assert_allclose(
        rate(flipped, "charginos"), rate(np.array(point), "charginos"), rtol=1e-12
    )


def test_a_relative_sign_is_seen() -> None:
    """The sign of a mass alone, of a row of U alone and of a component: all change the rate."""
    point = np.array([150, 0.5, 0.5, 0.5, -0.5, 180.0, 0.6, 0.8, 0.28, 0.96])
    alone: list[list[int]] = [[0], [5], [6, 7], [8, 9], [4], [2], [9]]
    for places in alone:
        flipped = point.copy()
        flipped[places] *= -1
        assert np.abs(features(MIXED, flipped) - features(MIXED, point)).max() > 1e-3
        assert abs(rate(flipped, "plus")[0] / rate(point, "plus")[0] - 1) > 1e-3


@pytest.mark.statistical
def test_features_determine_the_rate_of_the_born_process() -> None:
    """Points of equal features and masses have one rate: rows are turned where nothing couples.

    N3 and N4 enter only by the couplings to the W. Each point therefore has a twin with the same
    couplings: another row of N that is not of length 1.
    """
    rng = np.random.default_rng(4)
    for _ in range(20):
        point = np.array([150.0, *rng.normal(size=4), -180.0, *rng.normal(size=4)])
        twin, factor = point.copy(), rng.uniform(0.5, 2)
        twin[1:5] *= factor
        twin[6:] /= factor
        np.testing.assert_allclose(features(MIXED, twin), features(MIXED, point), rtol=1e-12)
        np.testing.assert_allclose(rate(twin, "minus"), rate(point, "minus"), rtol=1e-12)


def test_features_by_hand() -> None:
    point = np.array([-100.0, 0.1, 0.2, 0.3, 0.4, 300.0, 0.6, 0.8, 0.28, 0.96])
    found = features(MIXED, point)
    np.testing.assert_allclose(found[:2], [5.733341276897746, 0.75], rtol=1e-14)  # ln(309)
    tangent = np.sqrt(0.2312 / 0.7688)
    left, right = 0.2 * 0.28 - 0.4 * 0.96 / np.sqrt(2), 0.2 * 0.6 + 0.3 * 0.8 / np.sqrt(2)
    up, down = (0.1 + tangent * 0.1 / 6) * 0.28, (-0.1 + tangent * 0.1 / 6) * 0.6
    squares = np.sinh(found[2:6]) * 0.02**2
    np.testing.assert_allclose(squares, np.square([left, up, right, down]), rtol=1e-12)
    products = [left * up, -left * right, -left * down, -up * right, -up * down, right * down]
    np.testing.assert_allclose(found[6:], np.array(products) / squares.sum(), rtol=1e-12)
    ours = features(ONE, np.array([-145.5, 0.6, 0.8, 0.28, 0.96]))
    np.testing.assert_allclose(ours, [np.log(100), 0.36, 0.0784], rtol=1e-14)
    ours = features(TWO, np.array([-100, 0.6, 0.8, 0.28, 0.96, 300.0, -0.8, 0.6, 0.96, -0.28]))
    np.testing.assert_allclose(np.sinh(ours[2:4]) * 0.02**2, [0.2304, 0.0722534], rtol=1e-5)
    np.testing.assert_allclose(ours[4], 0.48 * 0.2688 / (0.2304 + 0.07225344), rtol=1e-12)


@pytest.mark.parametrize(("name", "width"), [(MIXED, 10), (ONE, 5), (TWO, 10)])
def test_a_squark_mass_is_one_more_feature(name: str, width: int) -> None:
    point = np.array([[120.0, 0.5, 0.5, 0.5, -0.5, 180.0, 0.6, 0.8, 0.28, 0.96]])[:, :width]
    squarks = np.column_stack([point, [2500.0]])
    plain = map_features(name, point)
    np.testing.assert_array_equal(
        map_features(name, squarks), np.column_stack([plain, np.log([2500.0])])
    )
    columns = [f"c{k}" for k in range(width)]
    assert feature_names(name, [*columns, "msq"])[-1] == "ln msq"
    with refused("data.features_not_finite", rows=[1]):
        map_features(name, np.column_stack([point, [50.0]]))


def test_pairs_below_the_threshold_or_without_couplings_are_refused() -> None:
    with refused("data.features_not_finite", count=1) as caught:
        features(MIXED, np.array([40.0, 0, 1, 0, 0, 45.0, 1, 0, 1, 0]))
    assert "|m| + |mc| above 91 GeV, mixings that couple" in caught.value.fields["allowed"]
    with refused("data.features_not_finite"):
        features(TWO, np.array([100.0, 1, 0, 1, 0, 200.0, 0, 1, 0, 1]))
    with refused("data.features_not_finite"):
        features(ONE, np.array([45.0, 1, 0, 1, 0]))
