"""The number of random points that predict as well, against dense algebra."""

from __future__ import annotations

import numpy as np

from nlobayes.choosing.at_random import equivalent_random, variance_after
from nlobayes.choosing.batch import choose
from tests.unit.choosing.test_batch import (
    CANDIDATES,
    REFERENCE,
    covariances,
    variance_given,
)


def test_the_variance_after_each_number_of_rows_is_that_of_dense_algebra() -> None:
    found, noise = covariances()
    order = np.random.default_rng(0).permutation(CANDIDATES)
    curve = variance_after(found, noise, order, REFERENCE)
    expected = [variance_given(found, noise, order[:count].tolist()) for count in range(1, 41)]
    np.testing.assert_allclose(curve[1:], expected, rtol=1e-9)
    np.testing.assert_allclose(curve[0], found[:, REFERENCE, REFERENCE].mean())


def test_random_points_are_more_than_the_chosen_ones() -> None:
    found, noise = covariances()
    left = variance_given(found, noise, choose(found, noise, CANDIDATES, REFERENCE, 5).tolist())
    needed = [
        equivalent_random(found, noise, np.random.default_rng(s).permutation(40), REFERENCE, left)
        for s in range(20)
    ]
    assert all(5 <= one.points <= 40 and not one.is_bound for one in needed)
    assert np.mean([one.points for one in needed]) > 7
    assert equivalent_random(found, noise, CANDIDATES, REFERENCE, 0.0) == (40, True)
    assert equivalent_random(found, noise, CANDIDATES, REFERENCE, 10.0) == (0, False)
