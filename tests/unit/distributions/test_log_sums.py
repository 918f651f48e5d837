"""Logs of sums of exponentials have the bits of SciPy's."""

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from nlobayes.distributions.log_sums import log_sum_exp


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("axis", [None, 0, -2, (0, 1)])
@pytest.mark.parametrize("spread", [1.0, 100.0, 1e4])
def test_bits_are_those_of_scipy(dtype: Any, axis: Any, spread: float) -> None:
    drawn = np.random.default_rng(1).standard_normal((4, 200, 7))
    logs: np.ndarray = (spread * drawn).astype(dtype)
    found, expected = log_sum_exp(logs, axis), logsumexp(logs, axis=axis)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    "logs", [[-np.inf, 2.0], [-np.inf, -np.inf], [np.inf, 1.0], [np.nan, 1.0], [3.0], [0.0, 0.0]]
)
def test_infinite_missing_and_equal_terms(logs: list[float]) -> None:
    given = np.array(logs)
    np.testing.assert_array_equal(log_sum_exp(given), logsumexp(given))
    np.testing.assert_array_equal(given, logs)
