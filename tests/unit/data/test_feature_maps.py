"""Maps depend on what cross sections depend on, and no more: signs change neither."""

from itertools import chain, compress, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.features import feature_names, map_features
from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import Luminosities, luminosities
from nlobayes.physics.partonic import Pair, identical_pair
from nlobayes.physics.pdf import MSTW2008_NLO
from tests.refusals import refused

ONE = ("invariants", "threshold_invariants", "resolved_invariants")
SIGNS = st.sampled_from([-1.0, 1.0])
COLUMNS = ("m1", "n11", "n12", "n13", "n14", "m2", "n21", "n22", "n23", "n24")


@st.composite
def neutralinos(draw: st.DrawFn) -> np.ndarray:
    """Draw a mass of either sign above the threshold and a row of mixings of length 1."""
    mass = draw(st.floats(46, 1100)) * draw(SIGNS)
    row = np.array(
        draw(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda r: np.linalg.norm(r) > 0.1))
    )
    return np.array([mass, *(row / np.linalg.norm(row))])


def couplings(row: np.ndarray) -> tuple[float, float, float, float]:
    (a1, a2, a3, a4), (b1, b2, b3, b4) = row[1:5], row[6:]
    return a3 * b3 - a4 * b4, a2 * b2, a1 * b1, a1 * b2 + a2 * b1


def pairs() -> st.SearchStrategy[np.ndarray]:
    """Draw two neutralinos that couple to quarks: not all products of their mixings vanish."""
    both = st.tuples(neutralinos(), neutralinos()).map(np.concatenate)
    return both.filter(lambda row: max(map(abs, couplings(row))) > 1e-9)


def points(rows: int, neutralino_count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    made = []
    for _ in range(neutralino_count):
        mixing = rng.normal(size=(rows, 4))
        mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
        made += [rng.uniform(46, 1000, (rows, 1)) * rng.choice([-1, 1], (rows, 1)), mixing]
    return np.hstack(made)


@pytest.fixture(scope="module")
def beams() -> Luminosities:
    return luminosities(MSTW2008_NLO, 13_000.0)


def pair_of(row: np.ndarray) -> Pair:
    return Pair(row[:1], row[None, 1:5], row[5:6], row[None, 6:10], 1.0)


def test_ratios_are_to_the_first_column() -> None:
    inputs = np.array([[200.0, 3000.0, 50.0], [-4.0, 2.0, 0.0]])
    expected = [[200.0, 15.0, 0.25], [-4.0, -0.5, 0.0]]
    np.testing.assert_array_equal(map_features("ratios", inputs), expected)


def test_invariants_by_hand() -> None:
    inputs = np.array([[-100.0, 0.1, 0.2, 0.3, 0.4]])
    expected = [4.605170185988092, 0.01, 0.04, -0.07, 0.02]
    np.testing.assert_allclose(map_features("invariants", inputs)[0], expected, rtol=1e-14)
    expected[0] = 3.9982007016691985  # ln(54.5)
    np.testing.assert_allclose(
        map_features("threshold_invariants", inputs)[0], expected, rtol=1e-14
    )
    np.testing.assert_array_equal(map_features("raw", inputs), inputs)


def test_resolved_invariants_stretch_around_zero() -> None:
    """Linear below their scale, logarithmic above; the first three as `threshold_invariants`."""
    inputs = np.array([[145.5, 0.8, 0.5, 0.3, 0.2], [-145.5, 1.0, 1e-4, 1e-3, 0.0]])
    plain, resolved = (
        map_features(name, inputs) for name in ("threshold_invariants", "resolved_invariants")
    )
    np.testing.assert_array_equal(resolved[:, :3], plain[:, :3])
    np.testing.assert_allclose(np.sinh(resolved[:, 3]) * 0.005, plain[:, 3], rtol=1e-12)
    np.testing.assert_allclose(np.sinh(resolved[:, 4]) * 0.02, plain[:, 4], rtol=1e-12)


def test_pair_invariants_by_hand() -> None:
    """Z = 0.03 - 0.08, W = 0.1, B = 0.02, X = 0.05 + 0.04; the sum of squares is 0.021."""
    inputs = np.array([[-100.0, 0.1, 0.2, 0.3, 0.4, 300.0, 0.2, 0.5, 0.1, 0.2]])
    ours = map_features("pair_invariants", inputs)[0]
    np.testing.assert_allclose(ours[:2], [5.733341276897746, -0.75], rtol=1e-14)  # ln(309)
    squares = np.sinh(ours[2:6]) * [0.005**2, 0.02**2, 0.02**2, 0.02**2]
    np.testing.assert_allclose(squares, [0.0025, 0.01, 0.0004, 0.0081], rtol=1e-12)
    np.testing.assert_allclose(ours[6:], np.array([-0.005, -0.001, -0.0045]) / 0.021, rtol=1e-12)


@given(neutralinos(), SIGNS, SIGNS)
def test_signs_change_neither_features_nor_cross_section_of_equals(
    beams: Luminosities, one: np.ndarray, of_mass: float, of_row: float
) -> None:
    flipped = one * [of_mass, *[of_row] * 4]
    for name in ONE:
        np.testing.assert_array_equal(
            map_features(name, flipped[None]), map_features(name, one[None])
        )
    ours, expected = (
        cross_sections(identical_pair(row[:1], row[None, 1:]), 2500.0, beams)
        for row in (flipped, one)
    )
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


@given(pairs(), SIGNS, SIGNS, SIGNS, st.booleans())
def test_signs_and_order_change_neither_features_nor_cross_section_of_a_pair(
    beams: Luminosities,
    row: np.ndarray,
    of_masses: float,
    of_one: float,
    of_other: float,
    exchanged: bool,
) -> None:
    """Each row changes sign independently, the masses together: their relative sign is physical."""
    flipped = row * [of_masses, *[of_one] * 4, of_masses, *[of_other] * 4]
    flipped = np.roll(flipped, 5) if exchanged else flipped
    ours, expected = (map_features("pair_invariants", r[None]) for r in (flipped, row))
    np.testing.assert_array_equal(ours, expected)
    sigma = [cross_sections(pair_of(r), 2500.0, beams) for r in (flipped, row)]
    np.testing.assert_allclose(sigma[0], sigma[1], rtol=1e-10)


@given(pairs())
def test_a_relative_sign_of_the_masses_is_seen(row: np.ndarray) -> None:
    flipped = row * [-1, *[1] * 9]
    before, after = (map_features("pair_invariants", r[None])[0] for r in (row, flipped))
    assert after[1] == -before[1] != 0
    np.testing.assert_array_equal(np.delete(after, 1), np.delete(before, 1))


def test_a_relative_sign_of_components_is_seen() -> None:
    one, pair = points(50, 1), points(50, 2)
    assert np.all(
        map_features("invariants", one)[:, 4]
        != map_features("invariants", one * (1, -1, 1, 1, 1))[:, 4]
    )
    flipped = pair * (1, -1, 1, 1, 1, 1, 1, 1, 1, 1)
    assert np.all(
        (map_features("pair_invariants", pair) != map_features("pair_invariants", flipped)).any(1)
    )


@pytest.mark.parametrize("name", [*ONE, "pair_invariants"])
def test_a_squark_mass_is_one_more_feature(name: str) -> None:
    inputs = points(20, 2 if name == "pair_invariants" else 1)
    squarks = np.linspace(1500, 4000, 20)
    plain = map_features(name, inputs)
    more = map_features(name, np.column_stack([inputs, squarks]))
    np.testing.assert_array_equal(more[:, :-1], plain)
    np.testing.assert_array_equal(more[:, -1], np.log(squarks))
    columns = COLUMNS[: inputs.shape[1]]
    assert feature_names(name, (*columns, "msq")) == (*feature_names(name, columns), "ln msq")


@pytest.mark.parametrize("name", [*ONE, "pair_invariants"])
@pytest.mark.parametrize("squark", [2.5, -3000.0, np.nan, np.inf])
def test_a_squark_mass_that_is_none_is_refused(name: str, squark: float) -> None:
    """A mass in TeV, or another column by mistake; it must exceed the masses of the neutralinos."""
    inputs = points(4, 2 if name == "pair_invariants" else 1)
    squarks = np.array([3000.0, squark, 3000.0, 3000.0])
    with refused("data.features_not_finite", count=1, total=4, rows=[2]) as caught:
        map_features(name, np.column_stack([inputs, squarks]))
    assert "mass of the squarks" in caught.value.fields["allowed"]


def inputs_of(name: str) -> np.ndarray:
    """Draw eight points for a map."""
    width = len(FEATURE_MAPS[name].COLUMNS or COLUMNS[:5])
    return points(8, width // 5)


@pytest.mark.parametrize("name", [name for name in FEATURE_MAPS if name != "raw"])
def test_a_map_declares_the_signs_that_it_does_not_see(name: str) -> None:
    """The declared signs are complete: any other flip of masses and rows changes a feature."""
    inputs, declared = inputs_of(name), FEATURE_MAPS[name].SIGNS
    columns, width = FEATURE_MAPS[name].COLUMNS or (), inputs.shape[1]
    blocks: dict[str, list[int]] = {}
    for place, column in enumerate(columns):
        blocks.setdefault(column if column[0] == "m" else column[:-1], []).append(place)
    free = {frozenset[int]()}
    for group in declared:
        free |= {frozenset(one ^ {*group}) for one in free}
    for chosen in product([False, True], repeat=len(blocks)):
        change = frozenset(chain.from_iterable(compress(blocks.values(), chosen)))
        signs = np.where(np.isin(np.arange(width), [*change]), -1, 1)
        same = np.allclose(map_features(name, inputs * signs), map_features(name, inputs), 1e-9)
        assert same == (change in free)
    assert FEATURE_MAPS["raw"].SIGNS == ()


def test_pairs_below_the_z_or_without_couplings_are_refused() -> None:
    rows = points(3, 2)
    rows[1, [0, 5]] = 45.0, -45.0
    with refused("data.features_not_finite", count=1, total=3, rows=[2]) as caught:
        map_features("pair_invariants", rows)
    assert "|mj| above 91 GeV, mixings that couple to quarks" in caught.value.fields["allowed"]
    rows[1] = [100, 1, 0, 0, 0, 200, 0, 0, 1, 0]
    with refused("data.features_not_finite", rows=[2]):
        map_features("pair_invariants", rows)


@pytest.mark.parametrize("shape", [(3, 4), (3, 7), (5,)])
def test_invariants_take_five_columns_and_a_squark_mass(shape: tuple[int, ...]) -> None:
    taken = ("m", "N11", "N12", "N13", "N14")
    with refused("data.inputs_of_other_columns", shape=shape, taken=taken):
        map_features("invariants", np.ones(shape))


def test_rows_of_any_columns_are_still_rows() -> None:
    with refused("data.inputs_without_rows", map="raw", shape=(5,)):
        map_features("raw", np.ones(5))
