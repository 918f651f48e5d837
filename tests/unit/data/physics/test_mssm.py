"""The mass matrix, its diagonalisation with the sign convention, and the scan."""

import numpy as np
import pytest

from nlobayes.data.physics.mssm import (
    Parameters,
    ScanRanges,
    Spectrum,
    mass_matrix,
    sample_parameters,
    spectrum,
)
from nlobayes.errors import InputError


@pytest.fixture(scope="module")
def scan() -> Parameters:
    return sample_parameters(np.random.default_rng(3), 3000, ScanRanges())


@pytest.fixture(scope="module")
def scanned(scan: Parameters) -> Spectrum:
    return spectrum(scan)


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
    light = spectrum(Parameters(60 * one, 1000 * one, 1000 * one, 60 * one))
    assert light.mixings[0, 0, 0] > 0.99
    assert light.masses_gev[0, 0] == pytest.approx(60, abs=3)


def test_the_scan_stays_in_its_ranges_and_above_the_mass_cut(
    scan: Parameters, scanned: Spectrum
) -> None:
    for values, (low, high) in zip(scan, ScanRanges(), strict=True):
        assert values.shape == (3000,)
        assert low <= values.min() < values.max() <= high
    assert np.abs(scanned.masses_gev[:, 0]).min() > 46


@pytest.mark.statistical
def test_four_in_five_lightest_neutralinos_have_positive_mass(scanned: Spectrum) -> None:
    """81 % in the reference scan; three standard errors of 3000 points are 2.1 %."""
    assert np.mean(scanned.masses_gev[:, 0] > 0) == pytest.approx(0.81, abs=0.021)


def test_smaller_samples_are_the_beginning_of_larger_ones(scan: Parameters) -> None:
    few = sample_parameters(np.random.default_rng(3), 17, ScanRanges())
    for small, large in zip(few, scan, strict=True):
        np.testing.assert_array_equal(small, large[:17])


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (ScanRanges(bino_gev=(-2000.0, 1000.0)), "bino_gev"),
        (ScanRanges(wino_gev=(500.0, 50.0)), "wino_gev"),
        (ScanRanges(higgsino_gev=(np.nan, 100.0)), "higgsino_gev"),
        (ScanRanges(tan_beta=(0.5, 60.0)), "tan_beta"),
        (ScanRanges(bino_gev=(-20.0, 20.0)), "larger soft masses"),
    ],
)
def test_impossible_scans_are_refused(ranges: ScanRanges, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sample_parameters(np.random.default_rng(1), 10, ranges)
