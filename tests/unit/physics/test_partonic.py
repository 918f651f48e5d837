"""Symmetries, thresholds and limits of the Born cross section."""

import numpy as np
import pytest

from nlobayes.physics.couplings import SCHEMES
from nlobayes.physics.mssm import Parameters, neutralinos
from nlobayes.physics.partonic import DOWN_TYPE, UP_TYPE, Pair, Quark, identical_pair, select_pair
from tests.born import born_cross_section
from tests.refusals import refused

QUARKS = pytest.mark.parametrize("quark", [UP_TYPE, DOWN_TYPE], ids=["up", "down"])
SQUARKS = pytest.mark.parametrize("squark_mass", [2000.0, np.inf])
MIXINGS = np.array([[0.6, 0.4898979, 0.6, 0.2], [0.1, -0.3, 0.7, -0.64], [0.0, 0.0, 0.8, 0.6]])
MASSES = np.array([150.0, -300.0, 60.0])


@pytest.fixture
def mixed() -> Pair:
    parameters = Parameters(*np.array([[200.0, 300, -250, 10], [-400, 350, 380, 30]]).T)
    return select_pair(neutralinos(parameters), 1, 3)


def _energies(pair: Pair) -> np.ndarray:
    return pair.threshold_gev[:, None] * np.array([1.1, 1.7, 4.0])


@QUARKS
def test_decoupled_squarks_leave_z_exchange_in_closed_form(quark: Quark) -> None:
    """Majorana pairs couple axially: sigma = pi alpha^2 beta^3 (zL^2 + zR^2) |D_Z|^2 / (9 S)."""
    alpha = SCHEMES["alpha_mz"].alpha
    pair = identical_pair(MASSES, MIXINGS)
    energy = _energies(pair)
    s, sin2 = energy**2, 0.2312
    beta = np.sqrt(1 - 4 * MASSES[:, None] ** 2 / s)
    propagator = s**2 / ((s - 91.1876**2) ** 2 + (91.1876 * 2.4952) ** 2)
    z = ((MIXINGS[:, 2] ** 2 - MIXINGS[:, 3] ** 2) / 2 / (sin2 * (1 - sin2)))[:, None]
    left, right = quark.isospin - quark.charge * sin2, -quark.charge * sin2
    expected = np.pi * alpha**2 * beta**3 * propagator * z**2 * (left**2 + right**2) / (9 * s)
    ours = born_cross_section(pair, quark, energy, np.inf)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


@QUARKS
@SQUARKS
def test_majorana_pairs_rise_as_the_cube_of_the_velocity(quark: Quark, squark_mass: float) -> None:
    pair = identical_pair(MASSES, MIXINGS)
    velocity = np.array([1e-4, 3e-4])
    energy = pair.threshold_gev[:, None] / np.sqrt(1 - velocity**2)
    slow, fast = born_cross_section(pair, quark, energy, squark_mass).T
    np.testing.assert_allclose(fast / slow, 27, rtol=1e-6)


def test_unlike_pairs_of_opposite_sign_rise_linearly() -> None:
    row = np.array([[0.0, 0, 1, 1]]) / np.sqrt(2)
    pair = Pair(np.array([100.0]), row, np.array([-100.0]), row * [1, 1, 1, -1], 1.0)
    velocity = np.array([1e-4, 3e-4])
    energy = 200 / np.sqrt(1 - velocity**2)[None]
    slow, fast = born_cross_section(pair, UP_TYPE, energy, np.inf).T
    np.testing.assert_allclose(fast / slow, 3, rtol=1e-6)


@QUARKS
@SQUARKS
def test_exchange_of_the_neutralinos_changes_nothing(
    mixed: Pair, quark: Quark, squark_mass: float
) -> None:
    swapped = Pair(*mixed[2:4], *mixed[0:2], symmetry=mixed.symmetry)
    energy = _energies(mixed)
    np.testing.assert_allclose(
        born_cross_section(swapped, quark, energy, squark_mass),
        born_cross_section(mixed, quark, energy, squark_mass),
        rtol=1e-12,
    )


@QUARKS
@SQUARKS
def test_signs_of_mass_and_row_drop_out_for_equal_particles(
    quark: Quark, squark_mass: float
) -> None:
    pair = identical_pair(MASSES, MIXINGS)
    energy = _energies(pair)
    expected = born_cross_section(pair, quark, energy, squark_mass)
    for flipped in (identical_pair(-MASSES, MIXINGS), identical_pair(MASSES, -MIXINGS)):
        ours = born_cross_section(flipped, quark, energy, squark_mass)
        np.testing.assert_allclose(ours, expected, rtol=1e-13)


@QUARKS
def test_the_sign_of_one_row_drops_out_for_unlike_particles(mixed: Pair, quark: Quark) -> None:
    energy = _energies(mixed)
    flipped = mixed._replace(first_mixing=-mixed.first_mixing)
    ours = born_cross_section(flipped, quark, energy, 2000.0)
    np.testing.assert_allclose(ours, born_cross_section(mixed, quark, energy, 2000.0), rtol=1e-13)


def test_the_relative_sign_of_the_masses_matters_for_unlike_particles(mixed: Pair) -> None:
    energy = _energies(mixed)
    flipped = mixed._replace(first_mass_gev=-mixed.first_mass_gev)
    ratio = born_cross_section(flipped, UP_TYPE, energy, 2000.0) / born_cross_section(
        mixed, UP_TYPE, energy, 2000.0
    )
    assert np.all(np.abs(ratio - 1) > 0.01)


@QUARKS
def test_binos_fade_with_the_fourth_power_of_the_squark_mass(quark: Quark) -> None:
    pair = identical_pair(np.array([200.0]), np.array([[1.0, 0, 0, 0]]))
    energy = np.array([[450.0, 900.0]])
    lighter, heavier = (born_cross_section(pair, quark, energy, m) for m in (1e6, 2e6))
    np.testing.assert_allclose(lighter / heavier, 16, rtol=1e-5)


def test_pairs_are_chosen_by_number() -> None:
    one = neutralinos(Parameters(*np.array([[200.0], [300], [-250], [10]])))
    pair, same = select_pair(one, 2, 4), select_pair(one, 2, 2)
    assert (pair.symmetry, same.symmetry) == (1.0, 0.5)
    assert pair.first_mass_gev == one.masses_gev[:, 1]
    np.testing.assert_array_equal(pair.second_mixing, one.mixings[:, 3])
    with refused("physics.no_neutralino", pair=(0, 1)):
        select_pair(one, 0, 1)
