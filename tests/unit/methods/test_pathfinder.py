"""Pathfinder on a network without hidden layers, whose posterior is known."""

from typing import Any

import jax
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from nlobayes import builder
from nlobayes.evaluation.reweighting.importance import importance_weights
from nlobayes.evaluation.reweighting.resampling import choose
from nlobayes.inference.method import MethodInput
from nlobayes.methods.pathfinder import Pathfinder
from nlobayes.types import Dataset
from tests.unit.methods.conftest import Exact, covariance_of

SETTINGS: dict[str, Any] = {
    "modes": 2,
    "draws": 2000,
    "candidates": 8000,
    "resample": False,
    "displacement": 1.0,
    "iterations": 100,
    "history": 30,
    "draws_per_step": 200,
}


@pytest.fixture(scope="module")
def begin(model: builder.Model, dataset: Dataset, exact: Exact) -> MethodInput:
    return builder.approach(model, dataset, [exact.mean] * 2)


def test_a_path_to_the_top_of_a_gaussian_finds_its_mean_and_nearly_its_covariance(
    begin: MethodInput, exact: Exact
) -> None:
    """The mean to a twentieth of an sd; variances to 40 %, as steps are not of exact length.

    A mean against the slope would be a whole step off. The density is that of the draws.
    """
    method = Pathfinder(kind="pathfinder", **SETTINGS)
    mean, root = exact.mean, np.linalg.cholesky(exact.precision)
    about, said = method._follow(jax.random.key(3), begin.starts[0], begin)
    np.testing.assert_allclose(root.T @ (about.mean - mean), 0, atol=0.05)
    covariance = covariance_of(about)
    np.testing.assert_allclose(np.linalg.eigvalsh(root.T @ covariance @ root), 1, atol=0.4)
    assert 0 < said["step"] <= SETTINGS["iterations"]
    draws = about.draw(jax.random.key(0), 5)
    stated = multivariate_normal(about.mean, covariance).logpdf(draws)
    np.testing.assert_allclose(about.log_density(draws), stated, rtol=1e-6)


def test_resampled_candidates_are_the_posterior(
    model: builder.Model, begin: MethodInput, dataset: Dataset, exact: Exact
) -> None:
    """Weights whose k is small move 8000 candidates to the posterior: variances to a tenth."""
    drawn = Pathfinder(kind="pathfinder", **{**SETTINGS, "resample": True}).sample(
        jax.random.key(1), begin
    )
    assert drawn.resample == SETTINGS["draws"]
    named = builder.name_draws(model, dataset, drawn)
    assert named.log_approximation is not None
    assert importance_weights((named.log_density - named.log_approximation)[0]).reliable
    chosen, said = choose(named, SETTINGS["draws"], 1)
    assert chosen.log_approximation is None
    assert chosen.log_density.shape == (1, SETTINGS["draws"]) == chosen.function.shape[:2]
    assert (said["ess_weights"] or 0) > 2000
    root = np.linalg.cholesky(exact.precision)
    whitened = np.asarray(drawn.positions)[_rows(named, chosen)] @ root
    np.testing.assert_allclose(whitened.mean(axis=0), exact.mean @ root, atol=0.1)
    np.testing.assert_allclose(np.cov(whitened.T), np.eye(len(root)), atol=0.13)


def _rows(named: Any, chosen: Any) -> np.ndarray:
    order = np.argsort(named.log_density[0])
    return order[np.searchsorted(named.log_density[0], chosen.log_density[0], sorter=order)]
