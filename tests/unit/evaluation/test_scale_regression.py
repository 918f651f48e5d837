"""The regression of the log scale: its gradient, its knots, and what it finds."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from nlobayes.distributions.scales import scales_at
from nlobayes.evaluation.predictive import scale_regression
from nlobayes.evaluation.predictive.scale_regression import fit_scales, place_knots


def problem(points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Residuals whose scale follows sd and first feature, and these scales."""
    rng = np.random.default_rng(1)
    spread, features = 10 ** rng.uniform(-2, -1, points), rng.uniform(-1, 1, (points, 2))
    scale = 0.02 * (spread / 0.03) ** 0.8 * np.exp(np.sin(9 * features[:, 0]))
    return scale * rng.standard_t(6, points), spread, features, scale


def test_gradient_is_that_of_the_loss() -> None:
    rng = np.random.default_rng(2)
    case = scale_regression._Problem(rng.normal(size=50), 0.7, rng.normal(size=(50, 4)))
    for _ in range(3):
        parameters = 0.5 * rng.normal(size=6)
        error = check_grad(
            lambda p: scale_regression._loss(p, case)[0],
            lambda p: scale_regression._loss(p, case)[1],
            parameters,
        )
        assert error < 1e-6


@pytest.mark.statistical
def test_many_rows_resolve_fast_changes() -> None:
    """A sine of four turns: 24 knots follow it, six do not."""
    residual, spread, features, scale = problem(9600)
    knots = place_knots(features)
    assert [len(each) for each in knots] == [24, 24]
    few = tuple(tuple(each[::5]) for each in knots)

    def error(knots: scale_regression.Knots) -> float:
        found = scales_at(fit_scales(residual, spread, features, knots), spread, features)
        return float(np.sqrt(np.mean(np.log(found / scale) ** 2)))

    assert error(knots) < 0.1
    assert error(few) > 0.3


def test_scales_stay_where_nothing_varies() -> None:
    residual = np.random.default_rng(4).normal(size=300)
    fitted = fit_scales(residual, np.zeros(300), None, ())
    assert (fitted.exponent, fitted.reference_sd, fitted.knots) == (0.0, 1.0, ())
    np.testing.assert_allclose(scales_at(fitted, np.zeros(3)), fitted.scale)
