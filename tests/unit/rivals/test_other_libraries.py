"""Rivals of other libraries: what each states of its own errors."""

from typing import Any

import numpy as np
import pytest

from nlobayes.extras import needed
from nlobayes.rivals import RIVALS, FittedRival


def fitted(kind: str, features: np.ndarray, target: np.ndarray, **changes: Any) -> FittedRival:
    settings = RIVALS[kind].model_validate({"kind": kind, **changes})
    if settings.missing:
        pytest.skip(needed(settings.missing, "rivals"))
    return settings.fit(features, target)


def own_pulls(rival: FittedRival, features: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Distances of observations to the mean prediction in units of the rival's own sd."""
    prediction = rival.predict(features)
    assert prediction.sd is not None
    return (target - prediction.draws.mean(axis=0)) / prediction.sd


def test_conformal_intervals_cover_new_rows_of_any_noise() -> None:
    """68 % of 4000 rows, though the noise is far from Gaussian and its scale changes.

    The residuals of 600 held-out rows set the width: four standard errors are 8 points.
    """
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (6400, 1))
    y = np.sin(3 * x[:, 0]) + (1.2 + x[:, 0]) * rng.standard_t(3, 6400)
    pulls = own_pulls(fitted("conformal_trees", x[:2400], y[:2400]), x[2400:], y[2400:])
    assert np.mean(np.abs(pulls) <= 0.9945) == pytest.approx(0.68, abs=0.08)


def test_the_sd_of_conformal_trees_is_that_of_a_gaussian_with_their_interval() -> None:
    """Where features say nothing, the interval is between the 16 and 84 % quantiles: 10 %."""
    x, y = np.random.default_rng(2).normal(size=(2, 2000))
    sd = fitted("conformal_trees", x[:, np.newaxis], y).predict(np.zeros((1, 1))).sd
    assert sd == pytest.approx(1, rel=0.1)


def test_the_sd_of_ngboost_follows_the_noise() -> None:
    """Noise of 0.1 on one side and 1 on the other, within a quarter; its draws have this sd."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (2000, 1))
    y = rng.normal(size=2000) * np.where(x[:, 0] > 0, 1.0, 0.1)
    rival = fitted("ngboost", x, y)
    prediction = rival.predict(np.array([[-0.5], [0.5]]))
    assert prediction.sd is not None
    np.testing.assert_allclose(prediction.sd, [0.1, 1.0], rtol=0.25)
    np.testing.assert_allclose(prediction.draws.std(axis=0), prediction.sd, rtol=1e-9)


def test_ngboost_stops_at_the_best_score_of_held_out_rows() -> None:
    """Of pure noise: trees to the end state an sd far too small, as some new rows show."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    stopped = fitted("ngboost", x[:200], y[:200], learning_rate=0.1)
    patient = fitted("ngboost", x[:200], y[:200], learning_rate=0.1, patience=300)
    assert stopped.facts["iterations"] == patient.facts["iterations"] < 30
    assert np.square(own_pulls(patient, x[200:], y[200:])).mean() < 2


@pytest.mark.parametrize(("rows", "degree"), [(11, 1), (40, 2), (224, 5), (2000, 6)])
def test_the_degree_of_pops_leaves_four_rows_for_each_term(rows: int, degree: int) -> None:
    """Of three features: 10, 56 and 84 terms for degrees 2, 5 and 6, the largest one."""
    x = np.random.default_rng(5).normal(size=(rows, 3))
    assert fitted("pops", x, x[:, 0]).facts == {"rows": rows, "degree": degree}


def test_pops_learns_a_polynomial_and_states_what_one_of_lower_degree_misses() -> None:
    """A cubic without noise: 1e-4 of its sd by a cubic. A parabola misses it in most rows.

    The sd of POPS is of the size of the errors: a quarter of their root mean square to twice it.
    That of least squares is a thirteenth, the root of 3 terms over 500 rows.
    """
    x, new = np.random.default_rng(6).uniform(-1, 1, (2, 500, 1))
    y, truth = (4 * values[:, 0] ** 3 - values[:, 0] for values in (x, new))
    exact = fitted("pops", x, y, most_degree=3).predict(new)
    assert np.abs(exact.draws.mean(axis=0) - truth).max() < 1e-4
    parabola = fitted("pops", x, y, most_degree=2).predict(new)
    assert parabola.sd is not None
    errors = np.sqrt(np.mean(np.square(parabola.draws.mean(axis=0) - truth)))
    assert 0.25 < np.sqrt(np.mean(np.square(parabola.sd))) / errors < 2


QUANTILES: dict[str, dict[str, Any]] = {
    "crepes": {},
    "quantile_forest": {"least_rows": 20},
    "xgboost": {"learning_rate": 0.3, "most_iterations": 100, "most_depth": 2},
}


@pytest.mark.parametrize("kind", QUANTILES)
def test_quantiles_follow_the_noise_and_cover_new_rows(kind: str) -> None:
    """Noise of 0.1 on one side and 1 on the other; 21 of 32 quantiles hold two thirds of rows."""
    rng = np.random.default_rng(7)
    x, new = rng.uniform(-1, 1, (2, 1500, 1))
    y, observed = rng.normal(size=(2, 1500)) * np.where(np.stack([x, new]) > 0, 1.0, 0.1)[..., 0]
    draws = fitted(kind, x, y, **QUANTILES[kind]).predict(new).draws
    assert draws.shape == (32, 1500)
    assert (np.diff(draws, axis=0) >= 0).all()
    spread = draws.std(axis=0)
    assert np.median(spread[new[:, 0] > 0]) > 2.5 * np.median(spread[new[:, 0] < 0])
    inside = np.mean((draws[5] <= observed) & (observed <= draws[26]))
    assert inside == pytest.approx(21 / 32, abs=0.08)


def test_interpolation_passes_through_the_rows_and_through_repeated_ones() -> None:
    """A feature that repeats another makes the plane singular: `linear` is taken instead."""
    x = np.random.default_rng(8).uniform(-1, 1, (80, 2))
    y = np.sin(3 * x[:, 0]) + x[:, 1]
    through = fitted("interpolation", np.vstack([x, x[:5]]), np.append(y, y[:5]))
    np.testing.assert_allclose(through.predict(x).draws[0], y, atol=1e-5)
    twice = fitted("interpolation", np.column_stack([x, x[:, 0]]), y)
    assert twice.facts == {"rows": 80, "kernel": "linear"}
    np.testing.assert_allclose(twice.predict(np.column_stack([x, x[:, 0]])).draws[0], y, atol=1e-5)


def test_interpolation_takes_no_more_rows_than_stated() -> None:
    x = np.random.default_rng(9).uniform(-1, 1, (50, 1))
    assert fitted("interpolation", x, x[:, 0], most_rows=20).facts["rows"] == 20
