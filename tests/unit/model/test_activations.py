"""Every activation: value and derivative by its definition, far out too, and trained slopes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.model.activations import ACTIVATIONS, has_slopes
from tests.unit.model.activations_by_hand import BY_HAND, SLOPE_FAR_OUT

SLOPE = -0.3
every_activation = pytest.mark.parametrize("name", ACTIVATIONS)


def test_every_activation_is_known_by_hand_and_to_studies() -> None:
    assert BY_HAND.keys() == SLOPE_FAR_OUT.keys() == ACTIVATIONS.keys()
    assert {name for name in ACTIVATIONS if has_slopes(name)} == {"prelu", "square_prelu"}


@every_activation
def test_derivatives_are_those_by_hand(name: str) -> None:
    """By central differences."""
    for x in (-3.0, -0.7, -1e-3, 1e-3, 0.4, 2.5):
        value, derivative = jax.value_and_grad(partial(ACTIVATIONS[name].activate, jnp))(x, SLOPE)
        np.testing.assert_allclose(value, BY_HAND[name](x, SLOPE), rtol=1e-12)
        by_hand = (BY_HAND[name](x + 1e-5, SLOPE) - BY_HAND[name](x - 1e-5, SLOPE)) / 2e-5
        np.testing.assert_allclose(derivative, by_hand, rtol=1e-6, atol=1e-9)


@every_activation
def test_activations_far_out(name: str) -> None:
    """Finite values and derivatives where exp overflows, but of `exp` itself, which is infinite."""
    for x, slope in zip((-1000.0, 1000.0), SLOPE_FAR_OUT[name], strict=True):
        value, derivative = jax.value_and_grad(partial(ACTIVATIONS[name].activate, jnp))(x, SLOPE)
        np.testing.assert_allclose(value, BY_HAND[name](x, SLOPE), atol=1e-12)
        np.testing.assert_allclose(derivative, slope, atol=1e-12)


@pytest.mark.parametrize("name", [one for one in ACTIVATIONS if has_slopes(one)])
def test_slopes_are_trained_one_for_each_unit(name: str) -> None:
    """Their derivative: x for `prelu`, 2 slope x for `square_prelu`, nothing above zero."""
    x = jnp.array([[-2.0, -2.0, 1.5], [-0.5, 3.0, -1.0]])
    slopes = jnp.array([0.2, -0.6, 0.9])
    found = jax.grad(lambda s: jnp.sum(ACTIVATIONS[name].activate(jnp, x, s)))(slopes)
    each = np.ones(3) if name == "prelu" else 2 * np.asarray(slopes)
    np.testing.assert_allclose(found, each * np.array([-2.5, -2.0, -1.0]), rtol=1e-12)
