"""Predictions of many draws against NumPy, one draw and one layer at a time, and of few draws."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from nlobayes.model.networks import Network
from nlobayes.surrogate.prediction import CompiledNetwork, predict
from nlobayes.surrogate.reduction import herded, spread_evenly

BY_HAND: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "tanh": lambda x, a: np.tanh(x),
    "sigmoid": lambda x, a: 1 / (1 + np.exp(-x)),
    "exp": lambda x, a: np.exp(x),
    "relu": lambda x, a: np.where(x > 0, x, 0),
    "leaky_relu": lambda x, a: np.where(x > 0, x, 0.01 * x),
    "leaky_relu(0.3)": lambda x, a: np.where(x > 0, x, 0.3 * x),
    "elu": lambda x, a: np.where(x > 0, x, np.exp(x) - 1),
    "gelu": lambda x, a: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "swish": lambda x, a: x / (1 + np.exp(-x)),
    "prelu": lambda x, a: np.where(x > 0, x, a * x),
    "square_prelu": lambda x, a: np.where(x > 0, x, a**2 * x),
}
SIZES = (3, 5, 4, 1)


def random_draws(sizes: tuple[int, ...], leading: tuple[int, ...]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes: dict[str, tuple[int, ...]] = {}
    for i, (into, out) in enumerate(pairwise(sizes), start=1):
        shapes |= {f"biases_{i}": (out,), f"weights_{i}": (into, out), f"slopes_{i}": (out,)}
    draws = {name: rng.normal(0, 0.7, (*leading, *shape)) for name, shape in shapes.items()}
    return draws | {"noise": rng.uniform(size=leading)}


def one_draw(draws: dict[str, np.ndarray], index: int, x: np.ndarray, name: str) -> np.ndarray:
    hidden = x
    for i in range(1, len(SIZES)):
        hidden = hidden @ draws[f"weights_{i}"][index] + draws[f"biases_{i}"][index]
        slopes = draws[f"slopes_{i}"][index]
        hidden = BY_HAND[name](hidden, slopes) if i < len(SIZES) - 1 else hidden
    return hidden[:, 0]


@pytest.mark.parametrize(
    ("activation", "count"), [("tanh", 1), ("tanh", 16), *((name, 35) for name in BY_HAND)]
)
def test_every_draw_is_evaluated_at_every_point(
    monkeypatch: pytest.MonkeyPatch, activation: str, count: int
) -> None:
    """Sixteen draws are evaluated together."""
    monkeypatch.setattr("nlobayes.surrogate.prediction.ACTIVATIONS_AT_ONCE", 16 * 8 * max(SIZES))
    draws, x = random_draws(SIZES, (count,)), np.random.default_rng(2).normal(size=(7, 3))
    outputs = predict(Network(SIZES, activation), draws, x)
    expected = [one_draw(draws, index, x, activation) for index in range(count)]
    assert outputs.shape == (count, 7)
    assert outputs.dtype == np.float64
    np.testing.assert_allclose(outputs, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("points", [1, 7])
def test_mean_and_error_are_those_of_all_draws(points: int) -> None:
    """The points that pad the number to a power of two are not in the result."""
    draws, x = random_draws(SIZES, (35,)), np.random.default_rng(4).normal(size=(points, 3))
    mean, sd = CompiledNetwork(Network(SIZES, "tanh"), draws).mean_and_sd(x)
    outputs = [one_draw(draws, index, x, "tanh") for index in range(35)]
    np.testing.assert_allclose(mean, np.mean(outputs, axis=0), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(sd, np.std(outputs, axis=0), rtol=1e-11, atol=1e-12)


def test_chosen_draws_have_the_moments_of_all_at_other_points() -> None:
    """2000 draws of smooth functions with 20 coefficients at 600 points; 250 points choose.

    An even choice of 100 independent draws has a Monte-Carlo error of 0.1 sd, that of 1600.
    """
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 600)
    basis = np.cos(np.outer(np.arange(20), np.arccos(x)))
    functions = rng.normal(size=(2000, 20)) @ basis
    others = np.setdiff1d(np.arange(600), spread_evenly(600, 250))

    def errors(kept: np.ndarray) -> tuple[float, float]:
        few, every = functions[kept][:, others], functions[:, others]
        moved = (few.mean(axis=0) - every.mean(axis=0)) / every.std(axis=0)
        widened = few.std(axis=0) / every.std(axis=0) - 1
        return float(np.sqrt(np.mean(moved**2))), float(np.sqrt(np.mean(widened**2)))

    moved, widened = errors(herded([functions], 100))
    assert moved < 0.025
    assert widened < 0.05
    assert errors(spread_evenly(2000, 100))[0] > 0.05


def test_every_draw_is_chosen_once() -> None:
    functions = np.random.default_rng(4).normal(size=(30, 5))
    assert sorted(herded([functions, functions[:, :2]], 30)) == list(range(30))
