"""The mass matrix, and its diagonalisation with the sign convention."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlobayes.physics.mssm import (
    MAXIMUM_MASS_GEV,
    Z_MASS_GEV,
    Parameters,
    Spectrum,
    mass_matrix,
    neutralinos,
)
from nlobayes.physics.scans import RANGES, sample_parameters


def soft_masses(low: float) -> st.SearchStrategy[float]:
    return st.floats(low, 1000)


@pytest.fixture(scope="module")
def scan() -> Parameters:
    return sample_parameters(3, 3000)


@pytest.fixture(scope="module")
def scanned(scan: Parameters) -> Spectrum:
    return neutralinos(scan)


def test_mixings_diagonalise_the_mass_matrix(scan: Parameters, scanned: Spectrum) -> None:
    diagonal = scanned.mixings @ mass_matrix(scan) @ np.swapaxes(scanned.mixings, 1, 2)
    expected = scanned.masses_gev[:, :, None] * np.eye(4)
    np.testing.assert_allclose(diagonal, expected, atol=1e-9)


def test_mixings_are_orthogonal_and_ordered_by_mass(scanned: Spectrum) -> None:
    products = scanned.mixings @ np.swapaxes(scanned.mixings, 1, 2)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(4), products.shape), atol=1e-12)
    assert np.all(np.diff(np.abs(scanned.masses_gev), axis=1) >= 0)


def test_the_largest_component_of_each_row_is_positive(scanned: Spectrum) -> None:
    np.testing.assert_array_equal(scanned.mixings.max(axis=2), np.abs(scanned.mixings).max(axis=2))


def test_trace_and_determinant_in_closed_form(scan: Parameters, scanned: Spectrum) -> None:
    """det = mu [mZ^2 sin 2 beta (M1 cos^2 + M2 sin^2) - M1 M2 mu], the textbook expression."""
    m1, m2, mu, tan_beta = scan
    sin_2_beta = 2 * tan_beta / (1 + tan_beta**2)
    mixed = 91.1876**2 * sin_2_beta * (m1 * (1 - 0.2312) + m2 * 0.2312)
    scale = 1000.0
    np.testing.assert_allclose(scanned.masses_gev.sum(axis=1), m1 + m2, atol=1e-9)
    np.testing.assert_allclose(
        scanned.masses_gev.prod(axis=1) / scale**4,
        mu * (mixed - m1 * m2 * mu) / scale**4,
        atol=1e-12,
    )


def test_a_light_bino_is_the_first_component() -> None:
    one = np.ones(1)
    light = neutralinos(Parameters(60 * one, 1000 * one, 1000 * one, 60 * one))
    assert light.mixings[0, 0, 0] > 0.99
    assert light.masses_gev[0, 0] == pytest.approx(60, abs=3)


@given(
    bino=soft_masses(-1000),
    wino=soft_masses(50),
    higgsino=soft_masses(-1000),
    tan_beta=st.floats(1, 100),
)
def test_no_neutralino_is_heavier_than_the_largest_soft_mass_and_the_z(
    bino: float, wino: float, higgsino: float, tan_beta: float
) -> None:
    """Weyl's inequality: gauginos mix with higgsinos by a matrix of norm m_Z; 1091 < 1100 GeV."""
    values = np.array([[bino], [wino], [higgsino], [tan_beta]])
    heaviest = np.abs(neutralinos(Parameters(*values)).masses_gev).max()
    assert heaviest <= np.abs(values[:3]).max() + Z_MASS_GEV + 1e-9
    assert max(high for _, high in RANGES.values()) + Z_MASS_GEV < MAXIMUM_MASS_GEV
