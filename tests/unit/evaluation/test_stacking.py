"""Weights of chains: those of a search over the simplex, of equal chains, of one bad mode."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from nlobayes.evaluation.tasks.stacking import (
    TOLERANCE,
    chain_log_density,
    log_scores,
    resample_chains,
    stacking_weights,
)


def densities(chains: int, rows: int = 60, seed: int = 1) -> np.ndarray:
    """Log densities of standard normal rows under normals of other means and sds, one a chain."""
    rng = np.random.default_rng(seed)
    observed = rng.normal(size=rows)
    means, sds = rng.normal(0, 1.2, chains), rng.uniform(0.4, 1.5, chains)
    return norm.logpdf(observed, means[:, np.newaxis], sds[:, np.newaxis])


def mean_score(log_density: np.ndarray, weights: np.ndarray) -> float:
    """The score that the weights maximise, written out."""
    return float(np.mean(np.log(weights @ np.exp(log_density))))


@pytest.mark.parametrize("chains", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_point_of_a_fine_grid_of_the_simplex_is_better(chains: int, seed: int) -> None:
    """Steps of 1/200: the best of them may be below the maximum, never above by the tolerance."""
    log_density, steps = densities(chains, seed=seed), 200
    grid = [
        np.array([*counts, steps - sum(counts)]) / steps
        for counts in product(range(steps + 1), repeat=chains - 1)
        if sum(counts) <= steps
    ]
    scores = [mean_score(log_density, weights) for weights in grid]
    found = stacking_weights(log_density)
    assert found.gap <= TOLERANCE
    assert mean_score(log_density, found.weights) >= max(scores) - TOLERANCE
    assert np.abs(found.weights - grid[int(np.argmax(scores))]).max() < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_another_optimiser_finds_the_same_score(seed: int) -> None:
    """Sequential least squares over six chains; its own tolerance is 1e-6."""
    log_density = densities(6, 200, seed)
    best = minimize(
        lambda weights: -mean_score(log_density, np.clip(weights, 0, 1)),
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        method="SLSQP",
        tol=1e-10,
    )
    found = stacking_weights(log_density)
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)
    assert mean_score(log_density, found.weights) == pytest.approx(-best.fun, abs=1e-5)


def test_equal_chains_keep_equal_weights() -> None:
    found = stacking_weights(np.tile(densities(1), (5, 1)))
    np.testing.assert_allclose(found.weights, 0.2, rtol=1e-12)
    assert found.gap == pytest.approx(0, abs=1e-12)


def test_a_bad_mode_has_no_weight_and_two_equal_good_ones_share_it() -> None:
    good = densities(1)
    found = stacking_weights(np.stack([good[0], good[0] - 5, good[0]]))
    np.testing.assert_allclose(found.weights, [0.5, 0, 0.5], atol=1e-5)


def test_densities_far_below_any_number_count_for_nothing() -> None:
    """A log density of -1e5 is no number as a density."""
    good = densities(1)[0] - 1e5
    found = stacking_weights(np.stack([good, good - 2e3]))
    np.testing.assert_allclose(found.weights, [1, 0], atol=1e-12)


def test_chains_that_are_each_right_for_a_part_of_the_rows_have_its_share() -> None:
    """Where a row has density under one chain alone, the weights are the shares of the rows."""
    rows = np.arange(100) < 30
    log_density = np.stack([np.where(rows, 0.0, -50.0), np.where(rows, -50.0, 0.0)])
    np.testing.assert_allclose(stacking_weights(log_density).weights, [0.3, 0.7], atol=1e-6)


def test_the_density_of_a_chain_is_the_mean_over_its_draws() -> None:
    log_likelihood = np.random.default_rng(3).normal(size=(3, 7, 5))
    expected = np.log(np.exp(log_likelihood).mean(axis=1))
    np.testing.assert_allclose(chain_log_density(log_likelihood), expected)


def test_scores_are_those_of_the_mixture_also_with_a_weight_of_zero() -> None:
    log_density, weights = densities(3), np.array([0.25, 0.0, 0.75])
    expected = np.log(weights @ np.exp(log_density))
    np.testing.assert_allclose(log_scores(log_density, weights), expected)


def test_draws_are_chosen_by_the_weight_of_their_chain() -> None:
    """Systematic: the count of a chain is its share of all draws, up to one; none of weight 0."""
    weights, draws = np.array([0.5, 0.0, 0.3, 0.2]), 50
    chosen = resample_chains(weights, draws, np.random.default_rng(4))
    counts = np.bincount(chosen // draws, minlength=4)
    assert len(chosen) == 200
    assert np.abs(counts - 200 * weights).max() <= 1
    again = resample_chains(weights, draws, np.random.default_rng(4))
    np.testing.assert_array_equal(chosen, again)
    times = np.bincount(chosen, minlength=200)
    assert {*times[:50]} == {2}
    assert {*times[50:100]} == {0}
