"""One forward pass against NumPy written by hand, from PyTensor and from JAX, in both layouts."""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytensor.tensor as pt
import pytest

from nlobayes.model.activations import has_slopes
from nlobayes.model.networks import (
    Layer,
    Network,
    activations_of,
    forward,
    network_of,
    parameters_in_use,
)
from tests.unit.model.activations_by_hand import BY_HAND

SIZES = {"no hidden layer": (3, 1), "one": (3, 5, 1), "two": (3, 5, 4, 1), "two outputs": (3, 5, 2)}
MIXED = Network((3, 5, 4, 2, 1), ("tanh", "square_prelu", "exp"))


def random_layers(network: Network, seed: int) -> list[Layer]:
    """Weights, biases and, for activations that have them, slopes of both signs."""
    rng = np.random.default_rng(seed)
    return [
        Layer(
            rng.normal(size=(into, out)),
            rng.normal(size=out),
            rng.normal(size=out) if has_slopes(name) else None,
        )
        for (into, out), name in zip(
            pairwise(network.sizes), (*activations_of(network), ""), strict=True
        )
    ]


def by_hand(network: Network, layers: list[Layer], features: np.ndarray) -> np.ndarray:
    """Evaluate point by point and unit by unit."""
    outputs = []
    for point in features:
        hidden = point
        for (weights, biases, slopes), name in zip(
            layers, (*activations_of(network), None), strict=True
        ):
            hidden = np.array([hidden @ unit for unit in weights.T]) + biases
            if isinstance(name, str):
                given = np.full(len(hidden), np.nan) if slopes is None else slopes
                units = zip(hidden, given, strict=True)
                hidden = np.array([BY_HAND[name](x, slope) for x, slope in units])
        outputs.append(hidden)
    return np.array(outputs)[:, 0] if network.sizes[-1] == 1 else np.array(outputs)


def assert_agreement(network: Network, layout: str) -> None:
    layers = random_layers(network, seed=1)
    features = np.random.default_rng(2).normal(size=(7, 3))
    placed = features.T if layout == "columns" else features
    expected = by_hand(network, layers, features)
    from_jax = forward(
        network, jax.tree.map(jnp.asarray, layers), jnp.asarray(placed), xp=jnp, layout=layout
    )
    from_pytensor: Any = forward(network, layers, pt.as_tensor(placed), xp=pt, layout=layout)
    from_numpy = forward(network, layers, placed, xp=np, layout=layout)
    for found in (from_jax, from_pytensor.eval(), from_numpy):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("activation", BY_HAND)
def test_pytensor_jax_and_numpy_agree(activation: str, layout: str) -> None:
    for sizes in SIZES.values():
        assert_agreement(Network(sizes, activation), layout)


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_each_layer_has_its_own_activation(layout: str) -> None:
    assert_agreement(MIXED, layout)


def test_numpy_takes_draws_with_a_leading_axis() -> None:
    draws = [random_layers(MIXED._replace(activation="tanh"), seed) for seed in (3, 4)]
    features = np.random.default_rng(5).normal(size=(7, 3))
    network = MIXED._replace(activation="tanh")
    stacked = [
        Layer(np.stack([a.weights, b.weights]), np.stack([a.biases, b.biases])[:, None])
        for a, b in zip(*draws, strict=True)
    ]
    found = forward(network, stacked, features, xp=np)
    for one, layers in zip(found, draws, strict=True):
        np.testing.assert_allclose(one, by_hand(network, layers, features), rtol=1e-12)


def test_the_network_is_read_off_its_weights() -> None:
    variables: dict[str, Any] = {
        f"weights_{i}": np.zeros((9, *pair)) for i, pair in enumerate(pairwise((3, 5, 2)), 1)
    }
    variables |= {"biases_1": np.zeros((9, 5)), "scale_weights_1": np.zeros(9)}
    assert network_of(variables, "tanh") == Network((3, 5, 2), "tanh")
    assert network_of(variables, ["relu"]) == Network((3, 5, 2), ("relu",))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({}, (3 + 1) * 5 + (5 + 1) * 4 + (4 + 1) * 2),
        ({"width_1": 2, "width_2": 1}, (3 + 1) * 2 + (2 + 1) * 1 + (1 + 1) * 2),
        ({"depth": 1}, (3 + 1) * 5 + (5 + 1) * 2),
        ({"width_1": 3, "width_2": 2, "depth": 1}, (3 + 1) * 3 + (3 + 1) * 2),
    ],
)
def test_parameters_in_use_are_those_of_the_smaller_network(
    numbers: dict[str, int], expected: int
) -> None:
    arrays = {name: np.array([number]) for name, number in numbers.items()}
    assert parameters_in_use((3, 5, 4, 2), numbers) == expected
    assert np.all(parameters_in_use((3, 5, 4, 2), arrays) == expected)
