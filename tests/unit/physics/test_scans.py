"""Scans: ranges, the mass cut, the tail, and streams that do not disturb each other."""

import numpy as np
import pytest

from nlobayes.physics.mssm import Parameters, Spectrum, neutralinos
from nlobayes.physics.scans import (
    LARGEST_ASYMMETRY,
    LARGEST_GAUGINO_SHARE,
    RANGES,
    SCANS,
    TAIL_EVERY,
    in_words,
    sample_parameters,
)
from tests.refusals import refused

POINTS = {"flat": 3000, "log": 3000, "fine_tuned": 200}


@pytest.fixture(scope="module")
def scans() -> dict[str, Parameters]:
    return {scan: sample_parameters(3, POINTS[scan], scan) for scan in SCANS}


def lightest(parameters: Parameters) -> np.ndarray:
    return np.abs(neutralinos(parameters).masses_gev[:, 0])


def in_tail(found: Spectrum, neutralino: int) -> np.ndarray:
    squares = found.mixings[:, neutralino - 1] ** 2
    asymmetry = np.abs(squares[:, 2] - squares[:, 3])
    return (asymmetry < LARGEST_ASYMMETRY) & (squares[:, :2].sum(axis=1) < LARGEST_GAUGINO_SHARE)


@pytest.mark.parametrize("scan", SCANS)
def test_points_stay_in_their_ranges_and_above_the_mass_cut(
    scans: dict[str, Parameters], scan: str
) -> None:
    for values, (low, high) in zip(scans[scan], RANGES.values(), strict=True):
        assert values.shape == (POINTS[scan],)
        assert low <= values.min() < values.max() <= high
    assert lightest(scans[scan]).min() > 46


@pytest.mark.parametrize("scan", SCANS)
def test_smaller_samples_are_the_beginning_of_larger_ones(
    scans: dict[str, Parameters], scan: str
) -> None:
    for small, large in zip(sample_parameters(3, 17, scan), scans[scan], strict=True):
        np.testing.assert_array_equal(small, large[:17])


def test_the_flat_scan_is_what_it_always_was() -> None:
    """Its numbers are in published tables: 4096 candidates a batch, from PCG64 of the seed."""
    random = np.random.Generator(np.random.PCG64(3)).random((4096, 4))
    low, high = np.array([*RANGES.values()]).T
    kept = low + (high - low) * random
    kept = kept[lightest(Parameters(*kept.T)) > 46]
    np.testing.assert_array_equal(np.transpose(sample_parameters(3, 100)), kept[:100])


@pytest.mark.statistical
def test_four_in_five_lightest_neutralinos_have_positive_mass(
    scans: dict[str, Parameters],
) -> None:
    """81 % in the reference scan; three standard errors of 3000 points are 2.1 %."""
    positive = neutralinos(scans["flat"]).masses_gev[:, 0] > 0
    assert np.mean(positive) == pytest.approx(0.81, abs=0.021)


@pytest.mark.statistical
def test_the_logarithmic_scan_is_even_in_logarithms_and_signs() -> None:
    """Above 300 GeV, since the mass cut removes light points; three standard errors."""
    mu = sample_parameters(3, 20_000, "log").higgsino_gev
    heavy = np.abs(mu[np.abs(mu) > 300])
    share = np.mean(heavy > np.sqrt(300 * 1000))
    assert share == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(len(heavy)))
    assert np.mean(mu > 0) == pytest.approx(0.5, abs=0.03)


def test_the_logarithmic_scan_holds_lighter_neutralinos(scans: dict[str, Parameters]) -> None:
    """Median |m1| is 93 GeV, and 238 GeV in the flat scan."""
    medians = {scan: np.median(lightest(scans[scan])) for scan in ("flat", "log")}
    assert medians["flat"] == pytest.approx(238, rel=0.1)
    assert medians["log"] == pytest.approx(93, rel=0.1)


def test_every_fourth_point_is_fine_tuned_and_the_others_are_flat(
    scans: dict[str, Parameters],
) -> None:
    tuned, flat = (np.transpose(scans[scan])[:200] for scan in ("fine_tuned", "flat"))
    last = np.arange(200) % TAIL_EVERY == TAIL_EVERY - 1
    np.testing.assert_array_equal(tuned[~last], flat[~last])
    inside = in_tail(neutralinos(Parameters(*tuned.T)), 1)
    assert inside[last].all()
    assert inside[~last].mean() < 0.02


def test_another_neutralino_can_be_tuned() -> None:
    found = neutralinos(sample_parameters(3, 40, "fine_tuned", neutralino=3))
    assert in_tail(found, 3)[TAIL_EVERY - 1 :: TAIL_EVERY].all()
    assert not in_tail(found, 1).any()


def test_scans_are_described_in_words() -> None:
    flat = (
        "bino_gev -1000 to 1000, wino_gev 50 to 1000, higgsino_gev -1000 to 1000, tan_beta 2 to 60"
    )
    assert in_words("flat") == flat
    assert in_words("log") == f"log; {flat}"
    assert in_words("fine_tuned") == f"fine_tuned in every 4th row; {flat}"


def test_unknown_scans_are_refused() -> None:
    with refused("physics.unknown_scan", scan="light", known=("flat", "log", "fine_tuned")):
        sample_parameters(1, 10, "light")
