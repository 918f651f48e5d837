"""Draws that were moved by weights against draws of the new posterior, both sampled here."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes import builder
from nlobayes.builder.stored import log_ratios
from nlobayes.diagnostics.estimators import ess_mean
from nlobayes.evaluation.reweighting.importance import Weights, check, importance_weights
from nlobayes.evaluation.reweighting.importance import weighted_mean as mean_of
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, NamedArrays
from tests.jobs import model_job
from tests.rows import dataset_of
from tests.statistical.test_exactness import FEWEST_EFFECTIVE, SIGNIFICANCE, sample_built

pytestmark = pytest.mark.statistical

OLD, NEW, DRAWS = 0.35, 0.31, 3000


class Drawn(NamedTuple):
    """Named draws of a posterior, and f and f^2 of each at every row (chain, draw, quantity)."""

    stored: NamedArrays
    quantities: np.ndarray


def job(sigma: float) -> ModelJob:
    return model_job(2, prior={"kind": "fan_in", "scale": 0.7}, sigma=sigma)


@cache
def rows() -> Dataset:
    """Give 40 rows that bend a little, of which 30 are learned."""
    rng = np.random.default_rng(8)
    features = rng.normal(size=(40, 1))
    target = np.tanh(features[:, 0]) + 0.3 * rng.normal(size=40)
    split, units = np.repeat([0, 1], [30, 10]), {"x1": "1", "y": "1"}
    return dataset_of(features, target, split=split, reference=np.arange(40), units=units)


def draw(sigma: float) -> Drawn:
    """Sample a posterior with four chains of HMC."""
    data = rows()
    model = builder.build_model(job(sigma), data)
    positions = sample_built("hmc", model, lambda position: position, DRAWS)[..., :-1]
    flat = jnp.asarray(positions.reshape(-1, positions.shape[2]))
    f = jax.vmap(builder.predict_with(model), (0, None))(flat, jnp.asarray(data.features))
    named = jax.vmap(model.density.variables)(flat)
    leading = positions.shape[:2]
    values = {name: np.asarray(v).reshape(*leading, *v.shape[1:]) for name, v in named.items()}
    stored = NamedArrays(values, model.density.dims, model.density.coords)
    outputs = np.asarray(f).reshape(*leading, -1)
    return Drawn(stored, np.concatenate([outputs, outputs**2], axis=2))


def errors(drawn: Drawn, weights: Weights | None = None) -> np.ndarray:
    """Give the standard error of each mean, fewer draws counting where they have weights."""
    quantities = drawn.quantities
    sizes = np.array([ess_mean(one) for one in np.moveaxis(quantities, 2, 0)])
    assert sizes.min() > FEWEST_EFFECTIVE
    total = quantities.shape[0] * quantities.shape[1]
    worth = sizes if weights is None else sizes * weights.ess_weights / total
    return quantities.std(axis=(0, 1)) / np.sqrt(worth)


@pytest.mark.slow
def test_a_slightly_smaller_sigma_is_reached_by_weights() -> None:
    """Means of f and of f^2 at 40 rows, at a joint significance of 0.001."""
    old, new = draw(OLD), draw(NEW)
    weights = importance_weights(log_ratios(job(OLD), job(NEW), rows(), old.stored))
    check(weights)
    count = old.quantities.shape[2]
    moved = mean_of(weights, old.quantities.reshape(-1, count))
    direct = new.quantities.mean(axis=(0, 1))
    allowed = norm.ppf(1 - SIGNIFICANCE / 2 / count)
    apart = (moved - direct) / np.hypot(errors(old, weights), errors(new))
    assert np.abs(apart).max() < allowed
    unmoved = (old.quantities.mean(axis=(0, 1)) - direct) / np.hypot(errors(old), errors(new))
    assert np.abs(unmoved).max() > allowed
