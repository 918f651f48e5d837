"""Smooth targets without noise, which cosine units learn as well as a smooth process."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nlobayes import BayesianNetworkRegressor

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]
ROWS, POINTS = 200, 1000
Function = Callable[[np.ndarray], np.ndarray]


def waves(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(3 * x[0]) * np.exp(-x[1]) + x[0] * x[1])


def steps(x: np.ndarray) -> np.ndarray:
    curved = 0.3 * np.exp(0.7 * x[2] - 0.5 * x[3]) + 0.2 * x[4] * x[0]
    return np.asarray(np.tanh(x[0] + 0.5 * x[1]) + curved)


@pytest.mark.parametrize(
    ("function", "inputs", "recipe", "most"),
    [(waves, 2, "auto", 3e-5), (steps, 5, "cosines", 3e-3)],
    ids=["waves", "steps"],
)
def test_chains_agree_and_the_error_is_that_of_a_smooth_process(
    function: Function, inputs: int, recipe: str, most: float
) -> None:
    """RMSE in units of the sd; a process with the better of `rbf` and Matern has 1.5e-5, 2.9e-3."""
    x = np.random.default_rng([0, ROWS, inputs]).uniform(-1, 1, (ROWS + POINTS, inputs))
    y = function(x.T)
    model = BayesianNetworkRegressor(recipe=recipe, verbose=False).fit(x[:ROWS], y[:ROWS])
    assert model.diagnostics_["converged"], model.diagnostics_
    assert model.recipe_ == "cosines"
    mean, quantiles = model.predict(x[ROWS:], quantiles=[0.025, 0.975])
    error = mean - y[ROWS:]
    assert np.sqrt(np.mean(error**2)) < most * y[ROWS:].std()
    covered = (quantiles[0] < y[ROWS:]) & (y[ROWS:] < quantiles[1])
    assert covered.mean() > 0.9
