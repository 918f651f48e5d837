"""Failures that lie together are told from those that are spread at random."""

import numpy as np
import pytest

from nlobayes.programs.failures import among_failures


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    """A thousand points in two columns of very different units."""
    return np.random.default_rng(3).random((1000, 2)) * [1.0, 5000.0]


def test_a_failing_corner_is_found(points: np.ndarray) -> None:
    corner = (points[:, 0] > 0.7) & (points[:, 1] < 1500)
    within = among_failures(points, corner)
    assert within.sum() > 0.9 * corner.sum()
    assert not within[~corner].any()


def test_failures_at_random_are_not_among_failures(points: np.ndarray) -> None:
    """Of 5 % at random, more than three of six neighbours fail with probability 9e-5."""
    for seed in range(20):
        failed = np.random.default_rng(seed).random(len(points)) < 0.05
        assert among_failures(points, failed).sum() <= 1


def test_few_points_and_no_failures(points: np.ndarray) -> None:
    assert not among_failures(points, np.zeros(len(points), bool)).any()
    assert not among_failures(points[:1], np.array([True])).any()
    assert among_failures(points[:3], np.array([True, True, True])).all()
    assert not among_failures(points[:3], np.array([True, False, False])).any()
    same = np.zeros((20, 2))
    assert among_failures(same, np.ones(20, bool)).all()
