"""Langevin chains of a linear network, whose stationary distribution is known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.inference.langevin import langevin
from nlobayes.inference.method import MethodInput
from nlobayes.methods.sgld import StochasticGradientLangevin
from nlobayes.types import Dataset
from tests.refusals import refused

SETTINGS: dict[str, Any] = {
    "kind": "sgld",
    "modes": 2,
    "draws": 9,
    "batch": 8,
    "step_size": 1e-4,
    "epochs_between": 2,
    "discarded": 3,
}
MOST_SDS = 5.0
DRAWS = 20_000


@pytest.fixture(scope="module")
def begin(model: builder.Model, dataset: Dataset) -> MethodInput:
    """From zero, twice."""
    return builder.approach(model, dataset, [np.zeros(model.density.size)] * 2)


def test_with_all_rows_in_a_batch_the_draws_are_those_of_a_known_gaussian(
    begin: MethodInput,
) -> None:
    """In each direction of the precision c the chain is autoregressive with 1 - c step_size."""
    assert begin.train is not None
    zero = begin.starts[0]
    precision = -np.asarray(jax.hessian(begin.logdensity_fn)(zero))
    mean = np.linalg.solve(precision, np.asarray(jax.grad(begin.logdensity_fn)(zero)))
    curvature, directions = np.linalg.eigh(precision)
    step_size = 0.5 / curvature.max()
    path = langevin(
        begin.problem,
        begin.train,
        batch=len(begin.train.target),
        step_size=step_size,
        draws=DRAWS,
        epochs_between=1,
    )
    drawn = np.asarray(path(jax.random.key(0), jnp.asarray(mean))) @ directions
    carried = 1 - curvature * step_size
    variance = 1 / (curvature * (1 - curvature * step_size / 2))
    error = np.sqrt(variance * (1 + carried) / (1 - carried) / DRAWS)
    assert np.abs((drawn.mean(axis=0) - mean @ directions) / error).max() < MOST_SDS
    squared = np.sqrt(2 * (1 + carried**2) / (1 - carried**2) / DRAWS)
    assert squared.max() < 0.1
    ratio = ((drawn - mean @ directions) ** 2).mean(axis=0) / variance
    assert np.abs((ratio - 1) / squared).max() < MOST_SDS


def test_minibatches_widen_the_draws(begin: MethodInput) -> None:
    assert begin.train is not None
    rows = len(begin.train.target)
    given: dict[str, Any] = {"step_size": 2e-4, "draws": 4000, "epochs_between": 1}
    few, all_rows = (
        langevin(begin.problem, begin.train, batch=batch, **given)(
            jax.random.key(1), begin.starts[0]
        )
        for batch in (2, rows)
    )
    assert float(few[1000:].var(axis=0).sum()) > float(all_rows[1000:].var(axis=0).sum())


def test_draws_are_dealt_over_the_modes(begin: MethodInput) -> None:
    drawn = StochasticGradientLangevin(**SETTINGS).sample(jax.random.key(0), begin)
    assert drawn.positions.shape == (9, begin.starts.shape[1])
    assert len(np.unique(np.asarray(drawn.positions)[:, 0])) == 9
    assert drawn.log_density is None
    density = [float(begin.logdensity_fn(one)) for one in drawn.positions]
    means = np.mean(density[:5]), np.mean(density[5:])
    np.testing.assert_allclose(drawn.of_starts["mean_log_density"], means, rtol=1e-6)


def test_what_cannot_be_drawn_is_refused(begin: MethodInput) -> None:
    assert begin.train is not None
    key, rows = jax.random.key(0), len(begin.train.target)
    method = StochasticGradientLangevin(**SETTINGS)
    with refused("inference.maps_for_modes", maps=2, modes=1):
        method.model_copy(update={"modes": 1}).sample(key, begin)
    with refused("inference.no_sum_over_rows"):
        method.sample(key, begin._replace(train=None))
    with refused("inference.batch_of_rows", batch=rows + 1, rows=rows):
        method.model_copy(update={"batch": rows + 1}).sample(key, begin)
    with refused("inference.langevin_diverged", mode=0, step_size=10.0):
        method.model_copy(update={"step_size": 10.0}).sample(key, begin)
