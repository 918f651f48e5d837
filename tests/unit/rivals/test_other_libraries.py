"""NGBoost, POPS and conformal trees: what each states of its own errors."""

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
