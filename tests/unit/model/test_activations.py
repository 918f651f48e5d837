"""Every activation: value and derivative by its definition, far out too, and trained slopes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.model.activations import ACTIVATIONS, activate
from tests.unit.model.activations_by_hand import BY_HAND, SLOPE_FAR_OUT

SLOPE = -0.3
WITH_SLOPES = {"prelu", "square_prelu"}
of_ours = pytest.mark.parametrize("name", BY_HAND)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_is_the_same_to_numpy_and_jax_and_can_be_differentiated(
    name: str,
) -> None:
    """A new one is taken up; its values by hand may follow."""
    x, slopes = np.array([-3.0, -0.7, 0.4, 2.5]), np.full(4, SLOPE)
    np.testing.assert_allclose(
        activate(name, np, x, slopes), activate(name, jnp, x, slopes), rtol=1e-12
    )
    derivative = jax.vmap(jax.grad(partial(activate, name, jnp)))(x, slopes)
    assert np.isfinite(derivative).all()
    assert np.any(derivative != 0)


@of_ours
def test_derivatives_are_those_by_hand(name: str) -> None:
    """By central differences."""
    for x in (-3.0, -0.7, -1e-3, 1e-3, 0.4, 2.5):
        value, derivative = jax.value_and_grad(partial(activate, name, jnp))(x, SLOPE)
        np.testing.assert_allclose(value, BY_HAND[name](x, SLOPE), rtol=1e-12)
        by_hand = (BY_HAND[name](x + 1e-5, SLOPE) - BY_HAND[name](x - 1e-5, SLOPE)) / 2e-5
        np.testing.assert_allclose(derivative, by_hand, rtol=1e-6, atol=1e-9)


@of_ours
def test_activations_far_out(name: str) -> None:
    """Finite values and derivatives where exp overflows, but of `exp` itself, which is infinite."""
    for x, slope in zip((-1000.0, 1000.0), SLOPE_FAR_OUT[name], strict=True):
        value, derivative = jax.value_and_grad(partial(activate, name, jnp))(x, SLOPE)
        np.testing.assert_allclose(value, BY_HAND[name](x, SLOPE), atol=1e-12)
        np.testing.assert_allclose(derivative, slope, atol=1e-12)


@pytest.mark.parametrize("name", sorted(WITH_SLOPES))
def test_slopes_are_trained_one_for_each_unit(name: str) -> None:
    """Their derivative: x for `prelu`, 2 slope x for `square_prelu`, nothing above zero."""
    x = jnp.array([[-2.0, -2.0, 1.5], [-0.5, 3.0, -1.0]])
    slopes = jnp.array([0.2, -0.6, 0.9])
    found = jax.grad(lambda s: jnp.sum(activate(name, jnp, x, s)))(slopes)
    each = np.ones(3) if name == "prelu" else 2 * np.asarray(slopes)
    np.testing.assert_allclose(found, each * np.array([-2.5, -2.0, -1.0]), rtol=1e-12)
