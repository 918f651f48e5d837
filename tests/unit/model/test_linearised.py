"""The tangent of a network: against the network where it is linear, and finite differences."""

import jax
import numpy as np
import pytest

from nlobayes.model import linearised
from nlobayes.model.networks import Network
from nlobayes.surrogate.in_numpy import evaluate

DRAWS, POINTS, STEP = 3, 5, 1e-5
Arrays = dict[str, np.ndarray]


def arrays(network: Network, seed: int, *, slopes: bool = False) -> Arrays:
    """Draw weights, biases and, of the first layer, slopes."""
    rng, found = np.random.default_rng(seed), {}
    for layer, (fan_in, fan_out) in enumerate(
        zip(network.sizes[:-1], network.sizes[1:], strict=True), start=1
    ):
        found[f"weights_{layer}"] = rng.normal(size=(DRAWS, fan_in, fan_out))
        found[f"biases_{layer}"] = rng.normal(size=(DRAWS, fan_out))
    if slopes:
        found["slopes_1"] = rng.uniform(0.1, 0.9, size=(DRAWS, network.sizes[1]))
    return found


def features(network: Network) -> np.ndarray:
    return np.random.default_rng(9).normal(size=(POINTS, network.sizes[0]))


def by_differences(network: Network, draws: Arrays, centres: Arrays) -> np.ndarray:
    """f at the centres, and the product of each column of the Jacobian with what moved."""
    x = features(network)
    found = evaluate(network, centres, x)
    for name, centre in centres.items():
        for entry in np.ndindex(centre.shape[1:]):
            ends = []
            for side in (STEP, -STEP):
                moved = {**centres, name: centre.copy()}
                moved[name][(slice(None), *entry)] += side
                ends.append(evaluate(network, moved, x))
            slope = (ends[0] - ends[1]) / (2 * STEP)
            by = (draws[name] - centre)[(slice(None), *entry)]
            found += slope * by.reshape(-1, *(1,) * (slope.ndim - 1))
    return found


def test_a_network_that_is_linear_is_its_own_tangent() -> None:
    network = Network((3, 2), "tanh")
    draws, centres, x = arrays(network, 1), arrays(network, 2), features(network)
    with jax.enable_x64(True):
        found = linearised.predict(network, draws, centres, x)
    np.testing.assert_allclose(found, evaluate(network, draws, x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("network", "slopes"),
    [(Network((3, 4, 1), "tanh"), False), (Network((3, 4, 3, 2), ("prelu", "gelu")), True)],
    ids=["one output", "slopes and two outputs"],
)
def test_the_tangent_is_that_of_finite_differences(network: Network, slopes: bool) -> None:
    """Differences err by the square of their step, 1e-10, and by rounding over it, 1e-11."""
    draws, centres = (arrays(network, seed, slopes=slopes) for seed in (1, 2))
    with jax.enable_x64(True):
        found = linearised.predict(network, draws, centres, features(network))
    np.testing.assert_allclose(found, by_differences(network, draws, centres), rtol=1e-7, atol=1e-7)
    assert not np.allclose(found, evaluate(network, draws, features(network)), atol=0.1)


def test_a_draw_at_its_centre_is_the_network() -> None:
    network = Network((3, 4, 1), "relu")
    centres, x = arrays(network, 2), features(network)
    with jax.enable_x64(True):
        found = linearised.predict(network, centres, centres, x)
    np.testing.assert_allclose(found, evaluate(network, centres, x), rtol=1e-12, atol=1e-12)
