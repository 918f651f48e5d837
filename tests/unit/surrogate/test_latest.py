"""The cache of the last points is used for the same points only."""

from __future__ import annotations

import numpy as np

from nlobayes.surrogate.points import Latest


def test_the_same_points_are_computed_once() -> None:
    latest, computed, points = Latest(), list[int](), np.arange(6.0).reshape(3, 2)

    def double(given: np.ndarray) -> np.ndarray:
        computed.append(len(given))
        return 2 * given

    for _ in range(3):
        np.testing.assert_array_equal(latest.of(points.copy(), double), 2 * points)
    np.testing.assert_array_equal(latest.of(points[:2], double), 2 * points[:2])
    assert computed == [3, 2]


def test_points_or_answers_changed_in_place_are_not_remembered() -> None:
    """This holds even if the computed array is the array of the points itself."""
    latest, points = Latest(), np.ones((3, 2))
    answer = latest.of(points, lambda given: given)
    points[0], answer[1] = 5.0, 7.0
    np.testing.assert_array_equal(latest.of(points, lambda given: given), points)
    np.testing.assert_array_equal(latest.of(np.ones((3, 2)), lambda given: given), np.ones((3, 2)))
