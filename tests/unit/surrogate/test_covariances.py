"""Covariances of f between points against dense algebra, against draws, and their shrinkage."""

from __future__ import annotations

import numpy as np
import pytest

from nlobayes.errors import InputError
from nlobayes.model.infinite import INPUTS
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate import pathwise
from nlobayes.surrogate.covariances import (
    covariances_of_draws,
    covariances_of_process,
    noise_of_process,
    some_of,
)
from nlobayes.surrogate.surrogate import Surrogate
from tests.unit.surrogate.conftest import make_exported, points
from tests.unit.surrogate.test_pathwise import MANY, NOISE_SD, content, dense

POINTS = np.random.default_rng(3).normal(size=(9, 2))


@pytest.mark.parametrize("activation", ["erf", "relu"])
@pytest.mark.parametrize("error", [0.0, 0.3])
def test_covariances_of_the_process_are_those_of_dense_algebra(
    activation: str, error: float
) -> None:
    exported = content()
    errors = np.linspace(0, error, len(exported.rows["target"]))
    exported = exported._replace(
        facts={**exported.facts, "activation": activation},
        rows={**exported.rows, "error": errors},
    )
    found = covariances_of_process(exported, POINTS, prior=False)
    _, expected = dense(exported, POINTS, activation)
    assert found.shape == (8, 9, 9)
    np.testing.assert_allclose(found[3], expected, rtol=0, atol=1e-12)
    variance = np.median(NOISE_SD**2 + np.square(errors))
    np.testing.assert_allclose(noise_of_process(exported), variance)


def test_draws_of_functions_have_these_covariances() -> None:
    """An entry of a sample covariance scatters by at most sqrt(2 / count) of its variances."""
    exported = content(draws=MANY)
    found = covariances_of_process(some_of(exported, 1), POINTS, prior=False)[0]
    functions = pathwise.evaluator(exported)(POINTS)
    sds = np.sqrt(np.diag(found))
    apart = (np.cov(functions, rowvar=False) - found) / np.outer(sds, sds)
    np.testing.assert_allclose(apart, 0, atol=5 * (2 / len(functions)) ** 0.5)


def test_the_prior_is_that_of_no_rows() -> None:
    exported = content()
    few = {name: values[:0] for name, values in exported.rows.items()}
    expected = covariances_of_process(exported._replace(rows=few), POINTS, prior=False)
    np.testing.assert_allclose(covariances_of_process(exported, POINTS, prior=True), expected)


def test_draws_are_spread_evenly_over_those_stored() -> None:
    exported = content(draws=50)
    exported.variables[NOISE] = np.arange(50.0)
    assert some_of(exported, 3).variables[NOISE].tolist() == [0, 24, 49]
    assert len(some_of(exported, 99).variables[INPUTS]) == 50


def test_covariances_of_draws_are_shrunk_where_there_are_none() -> None:
    rng = np.random.default_rng(0)
    independent = covariances_of_draws(rng.normal(size=(400, 50)))[0]
    raw = np.cov(rng.normal(size=(400, 50)), rowvar=False)
    off = ~np.eye(50, dtype=bool)
    assert np.square(independent[off]).sum() < 0.1 * np.square(raw[off]).sum()
    smooth = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 50))
    expected = np.cov(smooth, rowvar=False)
    np.testing.assert_allclose(covariances_of_draws(smooth)[0], expected, rtol=0.01)
    np.testing.assert_allclose(np.diag(covariances_of_draws(smooth)[0]), np.diag(expected))


def test_points_that_no_draw_tells_apart_have_no_covariance() -> None:
    np.testing.assert_array_equal(covariances_of_draws(np.ones((5, 3)))[0], np.zeros((3, 3)))
    assert covariances_of_draws(np.random.default_rng(0).normal(size=(5, 1))).shape == (1, 1, 1)


def test_a_surrogate_has_covariances_of_its_points_in_units_of_its_target() -> None:
    surrogate = Surrogate(make_exported())
    x = points(30)
    x[4] = np.nan
    found, noise = surrogate.covariances(x), surrogate.noise_variances(x)
    assert (found.shape, noise.shape) == ((1, 30, 30), (1, 30))
    assert np.isnan(found[0, [4]]).all()
    assert np.isnan(found[0, :, [4]]).all()
    kept = np.delete(np.arange(30), 4)
    predicted, unit = (
        surrogate.predict(x, on="model"),
        surrogate.facts["transforms"]["target"]["sd"],
    )
    variance = np.square(predicted.posterior_sd[kept] / unit)
    count = surrogate.draws  # the sd of a prediction divides by all draws
    diagonal = np.diag(found[0])[kept] * (count - 1) / count
    np.testing.assert_allclose(diagonal, variance, rtol=1e-5)
    total = np.square(predicted.total_sd[kept] / unit)
    np.testing.assert_allclose(noise[0, kept] + variance, total, rtol=1e-6)
    with pytest.raises(InputError, match="infinitely wide network alone"):
        surrogate.covariances(x, prior=True)


def test_a_surrogate_of_an_infinitely_wide_network_has_its_own() -> None:
    exported = content(inputs=5)
    surrogate = Surrogate(exported)
    x = points(6)
    expected = covariances_of_process(exported, surrogate.seen(x).features, prior=False)[[0, 7]]
    np.testing.assert_array_equal(surrogate.covariances(x, draws=2), expected)
    assert surrogate.noise_variances(x, draws=2).shape == (2, 6)
    np.testing.assert_allclose(surrogate.noise_variances(x), NOISE_SD**2)
