"""One forward pass against NumPy written by hand, from PyTensor and from JAX, in both layouts."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytensor.tensor as pt
import pytest
from scipy.special import expit

from nlobayes.model.networks import (
    ACTIVATIONS,
    Layer,
    Network,
    forward,
    layers_of,
    weight_names,
)

BY_HAND = {
    "tanh": lambda x: 2 * expit(2 * x) - 1,
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "sigmoid": expit,
    "swish": lambda x: x * expit(x),
}
SIZES = {"no hidden layer": (3, 1), "one": (3, 5, 1), "two": (3, 5, 4, 1)}


def random_layers(sizes: tuple[int, ...], seed: int) -> list[Layer]:
    rng = np.random.default_rng(seed)
    return [
        Layer(rng.normal(size=(into, out)), rng.normal(size=out)) for into, out in pairwise(sizes)
    ]


def by_hand(layers: list[Layer], features: np.ndarray, activation: str) -> np.ndarray:
    """Evaluate point by point and unit by unit."""
    outputs = []
    for point in features:
        hidden = point
        for index, (weights, biases) in enumerate(layers):
            hidden = np.array([hidden @ unit for unit in weights.T]) + biases
            hidden = BY_HAND[activation](hidden) if index < len(layers) - 1 else hidden
        outputs.append(hidden.item())
    return np.array(outputs)


def test_every_activation_is_known_by_hand() -> None:
    assert BY_HAND.keys() == ACTIVATIONS.keys()


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("depth", SIZES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_pytensor_jax_and_numpy_agree(activation: str, depth: str, layout: str) -> None:
    layers = random_layers(SIZES[depth], seed=1)
    features = np.random.default_rng(2).normal(size=(7, 3))
    placed = features.T if layout == "columns" else features
    expected = by_hand(layers, features, activation)
    from_jax = forward(
        jax.tree.map(jnp.asarray, layers), jnp.asarray(placed), activation, xp=jnp, layout=layout
    )
    from_pytensor = forward(layers, pt.as_tensor(placed), activation, xp=pt, layout=layout).eval()
    assert from_jax.shape == from_pytensor.shape == (7,)
    np.testing.assert_allclose(from_jax, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(from_pytensor, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_stay_finite_far_out(activation: str) -> None:
    """Values and slopes at inputs where exp overflows."""
    activate = ACTIVATIONS[activation]
    for x in (-1000.0, 1000.0):
        value, slope = jax.value_and_grad(lambda x: activate(jnp, x))(x)
        np.testing.assert_allclose(value, BY_HAND[activation](x), atol=1e-12)
        assert np.isfinite(slope)


def test_layers_are_named_from_the_first_to_the_last() -> None:
    network = Network((2, 4, 3, 1), "tanh")
    names = weight_names(network)
    assert names == [
        ("weights_1", "biases_1"),
        ("weights_2", "biases_2"),
        ("weights_3", "biases_3"),
    ]
    variables = {name: name for pair in reversed(names) for name in pair}
    assert layers_of(network, variables) == [Layer(*pair) for pair in names]
