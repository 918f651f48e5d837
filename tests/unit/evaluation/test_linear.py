"""Least squares: agrees with SciPy's regression, and with the closed form of its errors."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.scores.least_squares import fit, predict


def test_one_feature_agrees_with_scipys_regression() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=40)
    y = 0.5 - 2 * x + 0.3 * rng.normal(size=40)
    ours, theirs = fit(x[:, None], y), stats.linregress(x, y)
    assert ours.coefficients == pytest.approx([theirs.intercept, theirs.slope], rel=1e-10)
    errors = [theirs.intercept_stderr, theirs.stderr]
    assert ours.standard_errors == pytest.approx(errors, rel=1e-10)


@pytest.mark.statistical
def test_standard_errors_are_the_spread_over_repeated_data() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
    truth = x @ [1.0, -1.0, 0.5] + 2.0
    fits = [fit(x, truth + 0.7 * rng.normal(size=60)) for _ in range(2000)]
    spread = np.std([one.coefficients for one in fits], axis=0)
    np.testing.assert_allclose(spread, fits[0].standard_errors, rtol=0.25)
    mean_error = np.mean([one.standard_errors for one in fits], axis=0)
    np.testing.assert_allclose(spread, mean_error, rtol=0.05)


def test_exact_linear_data_are_reproduced_and_collinear_features_do_no_harm() -> None:
    x = np.random.default_rng(3).normal(size=(30, 2))
    doubled = np.column_stack([x, x[:, 0]])
    y = 1 + x @ [2.0, -3.0]
    fitted = fit(doubled, y)
    np.testing.assert_allclose(predict(fitted, doubled), y, atol=1e-12)
    np.testing.assert_allclose(fitted.coefficients, [1, 1, -3, 1], atol=1e-12)


def test_no_more_rows_than_coefficients_has_no_error() -> None:
    fitted = fit(np.array([[1.0], [2.0]]), np.array([1.0, 3.0]))
    assert fitted.coefficients == pytest.approx([-1, 2])
    assert np.isnan(fitted.standard_errors).all()
    assert np.isnan(fitted.residual_sd)
