"""Every rival, by the name of its file: shapes, seeds, and errors that shrink with rows."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from nlobayes.evaluation.scores import least_squares
from nlobayes.extras import needed
from nlobayes.rivals import RIVALS, FittedRival

CHANGES: dict[str, dict[str, Any]] = {
    "network_ensemble": {"steps": 600, "members": 3, "hidden": (16, 16)},
    "boosted_trees": {"most_iterations": 300},
    "ngboost": {"most_depth": 5},
    "quantile_forest": {"trees": 50},
    "xgboost": {"learning_rate": 0.3, "most_iterations": 100},
}
NEW = np.random.default_rng(8).uniform(-2, 2, (200, 3))


def truth(features: np.ndarray) -> np.ndarray:
    return np.sin(2 * features[:, 0]) * features[:, 1] + 0.1 * features[:, 2]


ROWS = {"ngboost": 1000, "quantile_forest": 1000, "xgboost": 1000}
"""Rows that a kind needs for the product of two features, where 300 do not suffice."""


@cache
def fit(kind: str, rows: int = 300, seed: int = 1, again: bool = False) -> FittedRival:
    """Fit a rival, once unless asked to again."""
    del again
    features = np.random.default_rng(4).uniform(-2, 2, (rows, 3))
    settings = RIVALS[kind].model_validate({"kind": kind, "seed": seed, **CHANGES.get(kind, {})})
    if settings.missing:
        pytest.skip(needed(settings.missing, "rivals"))
    return settings.fit(features, truth(features))


@pytest.mark.by_day(4)
@pytest.mark.parametrize("kind", RIVALS)
def test_it_beats_least_squares_on_a_product_of_features(kind: str) -> None:
    """Least squares explain nothing of it; half of that error is beaten by 300 rows or `ROWS`."""
    rows = ROWS.get(kind, 300)
    rival, features = fit(kind, rows), np.random.default_rng(4).uniform(-2, 2, (rows, 3))
    prediction = rival.predict(NEW)
    assert prediction.draws.shape[1:] == (200,)
    assert np.isfinite(prediction.draws).all()
    assert prediction.sd is None or (prediction.sd > 0).all()
    plane = least_squares.predict(least_squares.fit(features, truth(features)), NEW)
    error = np.std(prediction.draws.mean(axis=0) - truth(NEW))
    assert error < 0.5 * np.std(plane - truth(NEW))
    assert rival.facts["rows"] == rows


@pytest.mark.parametrize("kind", RIVALS)
def test_the_same_seed_gives_the_same_bits_and_a_point_alone_the_same(kind: str) -> None:
    """A point alone: up to rounding times the condition of a noise-free fit, 1e-6."""
    first, again = fit(kind, rows=60), fit(kind, rows=60, again=True)
    np.testing.assert_array_equal(first.predict(NEW).draws, again.predict(NEW).draws)
    alone = first.predict(NEW[:1]).draws
    np.testing.assert_allclose(alone, first.predict(NEW).draws[:, :1], atol=1e-6)


def test_members_of_an_ensemble_differ_and_their_mean_is_better_than_each() -> None:
    """The mean squared error of the mean is below the mean of those (Jensen), by its spread."""
    draws = fit("network_ensemble").predict(NEW).draws
    errors = np.mean(np.square(draws - truth(NEW)), axis=1)
    of_mean = np.mean(np.square(draws.mean(axis=0) - truth(NEW)))
    assert of_mean == pytest.approx(errors.mean() - draws.var(axis=0).mean(), rel=1e-6)
    assert of_mean < 0.9 * errors.mean()


def test_a_network_keeps_its_best_check_and_not_its_last() -> None:
    """A learning rate that ruins what was found: the held-out error stays the smallest seen."""
    features = np.random.default_rng(4).uniform(-2, 2, (100, 3))
    given: dict[str, Any] = {"members": 2, "hidden": (8,), "batch": 100, "held_out": 0.2}
    given |= {"kind": "network_ensemble", "seed": 1, "steps": 3000, "learning_rate": 0.05}
    noise = np.random.default_rng(5).normal(size=100)
    rival = RIVALS["network_ensemble"](**given).fit(features, noise)
    assert max(rival.facts["held_out_rmse"]) < 1.3  # of pure noise, fitted to the end: 2 and more


def test_quantiles_of_trees_are_in_order_and_follow_the_noise() -> None:
    """Noise of 0.1 on one side and 1 on the other: bars of 68 and 95 % have nominal coverage."""
    rng = np.random.default_rng(6)
    features, new = rng.uniform(-1, 1, (2, 2000, 1))
    noise = rng.normal(size=(2, 2000)) * np.where(np.stack([features, new]) > 0, 1.0, 0.1)[..., 0]
    settings = RIVALS["boosted_trees"].model_validate(
        {"kind": "boosted_trees", "quantiles": True, "most_iterations": 60}
    )
    prediction = settings.fit(features, noise[0]).predict(new)
    assert prediction.draws.shape == (32, 2000)
    assert (np.diff(prediction.draws, axis=0) >= 0).all()
    assert prediction.sd is not None
    assert np.median(prediction.sd[new[:, 0] > 0]) > 5 * np.median(prediction.sd[new[:, 0] < 0])
    share_below = np.mean(prediction.draws < noise[1])
    assert share_below == pytest.approx(0.5, abs=0.05)
    inner = np.mean((prediction.draws[5] < noise[1]) & (noise[1] < prediction.draws[26]))
    assert inner == pytest.approx(21 / 32, abs=0.06)


@pytest.mark.parametrize("kind", RIVALS)
def test_it_learns_as_few_rows_as_it_says(kind: str) -> None:
    prediction = fit(kind, RIVALS[kind].fewest_rows).predict(NEW)
    assert np.isfinite(prediction.draws).all()
    assert prediction.draws.shape[1:] == (200,)
