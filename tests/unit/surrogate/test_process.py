"""Predictions of an infinitely wide network against a dense Gaussian process of scikit-learn."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.model.infinite import (
    BIASES,
    EXPONENTS,
    INPUTS,
    OUTPUT,
    Scales,
    covariance,
    scaled_inputs,
    variance,
    warp_of,
)
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate import process
from nlobayes.surrogate.prediction import process_function
from nlobayes.types import SurrogateContent

gaussian_process = pytest.importorskip("sklearn.gaussian_process")
ROWS, POINTS = 150, 40


def _draws(count: int = 2) -> dict[str, np.ndarray]:
    """Scales and exponents of two draws, different from each other."""
    rng = np.random.default_rng(5)
    return {
        INPUTS: np.exp(rng.normal(-0.5, 0.3, size=(count, 2))),
        EXPONENTS: rng.normal(1.0, 0.3, size=(count, 2)),
        BIASES: np.exp(rng.normal(0, 0.2, size=count)),
        OUTPUT: np.exp(rng.normal(0.5, 0.2, size=count)),
        NOISE: np.full(count, 0.1),
    }


def _rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    rng = np.random.default_rng(2)
    x = rng.gamma(2.0, size=(ROWS + POINTS, 2))
    mean, sd = x[:ROWS].mean(axis=0), x[:ROWS].std(axis=0)
    z = (x - mean) / sd
    target = np.sin(z[:ROWS, 0]) + 0.1 * rng.normal(size=ROWS)
    return z[:ROWS], target, z[ROWS:], warp_of(z[:ROWS], {"mean": mean, "scale": sd})


class _Kernel(gaussian_process.kernels.Kernel):  # type: ignore[name-defined]
    """The covariance of one draw as a kernel of scikit-learn without hyperparameters."""

    def __init__(self, activation: str, scales: Scales) -> None:
        self.activation, self.scales = activation, scales

    def __call__(self, left: Any, right: Any = None, eval_gradient: bool = False) -> Any:
        return covariance(self.activation, left, left if right is None else right, self.scales, np)

    def diag(self, inputs: np.ndarray) -> np.ndarray:
        return np.asarray(variance(self.activation, inputs, self.scales, np))

    def is_stationary(self) -> bool:
        return False


@pytest.mark.parametrize("activation", ["erf", "relu"])
def test_mean_and_sd_are_those_of_a_gaussian_process(activation: str) -> None:
    """The mean to 1e-8; the sd to the stated loss of one per cent of the total sd."""
    features, target, points, warp = _rows()
    drawn = _draws()
    given = process.condition(activation, drawn, {"features": features, "target": target}, warp)
    functions = process.evaluate(activation, given, warp, points).reshape(2, process.NODES, -1)
    for number in range(2):
        one = {name: values[number] for name, values in drawn.items()}
        kernel = _Kernel(activation, Scales(one[BIASES], one[OUTPUT]))
        regressor = gaussian_process.GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None)
        regressor.fit(scaled_inputs(one, features, warp, np), target)
        mean, sd = regressor.predict(scaled_inputs(one, points, warp, np), return_std=True)
        np.testing.assert_allclose(functions[number].mean(axis=0), mean, atol=1e-8)
        total, expected = np.hypot(functions[number].std(axis=0), 0.1), np.hypot(sd, 0.1)
        np.testing.assert_allclose(total, expected, rtol=process.MOST_LOSS)


def test_nodes_have_the_moments_of_a_standard_normal() -> None:
    nodes = process.nodes()
    assert nodes.mean() == pytest.approx(0, abs=1e-12)
    assert nodes.std() == pytest.approx(1)


def test_a_point_alone_is_predicted_as_in_a_batch() -> None:
    features, target, points, warp = _rows()
    given = process.condition("erf", _draws(), {"features": features, "target": target}, warp)
    batch = process.evaluate("erf", given, warp, points)
    alone = process.evaluate("erf", given, warp, points[:1])
    np.testing.assert_allclose(alone[:, 0], batch[:, 0], rtol=1e-8)


def _content() -> SurrogateContent:
    features, target, _, warp = _rows()
    few = np.zeros((1, 2))
    facts = {
        "activation": "erf",
        "warp": {name: values.tolist() for name, values in warp._asdict().items()},
    }
    rows = {"features": features, "target": target}
    return SurrogateContent(_draws(), few, few[0], few, few[0], (), facts, rows=rows)


def test_jax_predicts_as_numpy_does() -> None:
    points, content = _rows()[2], _content()
    expected = process.evaluator(content)(points)
    found = process_function(content)(jnp.asarray(points))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_arrays_that_do_not_fit_each_other_are_told() -> None:
    content = _content()
    assert process.is_whole(content)
    shorter = {**content.rows, "target": content.rows["target"][1:]}
    assert not process.is_whole(content._replace(rows=shorter))
    assert not process.is_whole(content._replace(rows={"features": content.rows["features"]}))
    assert not process.is_whole(content._replace(facts={**content.facts, "activation": "tanh"}))
    without = {name: v for name, v in content.variables.items() if name != NOISE}
    assert not process.is_whole(content._replace(variables=without))
