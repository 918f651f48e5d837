"""Bijections of jumps: their inverses undo them, and their Jacobians are those of autodiff."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.jumps.jump import Chosen
from nlobayes.inference.jumps.moves import jumps_of
from nlobayes.inference.varying_part import Architecture, Layers, Units

USED, INTO, OUT = np.arange(3), np.arange(3, 9).reshape(3, 2), np.arange(9, 15).reshape(3, 2)
DEPTH, ENTRIES, READOUT, SIZE = 15, np.arange(16, 22).reshape(2, 3), np.array([22, 23]), 24
IDENTITY = jnp.array([[1.0, 0.0, 0.5], [-1.0, 1.0, 0.0]])
ARCHITECTURE = Architecture(
    (Units(USED, INTO, OUT, 1),),
    Layers(DEPTH, ENTRIES, lambda q: IDENTITY / (1 + q[INTO[0, 0]] ** 2), READOUT, 1),
)
POSITION = jnp.asarray(np.random.default_rng(1).normal(size=SIZE))
POSITION = POSITION.at[USED].set(jnp.array([1.0, 0.0, 1.0])).at[DEPTH].set(2.0)
HELD = [*USED, DEPTH]


def log_density(position: jax.Array, _: float | jax.Array = 1.0, /) -> jax.Array:
    """Not quadratic, with a curvature that depends on all else and on the number of layers."""
    hidden = jnp.tanh(position[INTO]).sum(axis=1) * position[USED]
    deep = jnp.where(position[DEPTH] > 1.5, jnp.cos(position[ENTRIES].sum()), 0.3)
    fitted = hidden @ position[OUT] + deep * position[READOUT]
    return -0.5 * jnp.sum(position**2) - 2 * jnp.sum((fitted - 0.7) ** 2) + jnp.sum(fitted**3) / 9


JUMPS = jumps_of(ARCHITECTURE, ("prior", "conditional", "split", "identity"), log_density)


@pytest.mark.by_day(4)
@pytest.mark.parametrize("name", JUMPS)
@pytest.mark.parametrize("grow", [True, False])
def test_a_jump_back_undoes_a_jump_with_the_jacobian_of_autodiff(name: str, grow: bool) -> None:
    place, depth = (1, 1.0) if grow else (2, 2.0)
    if name.endswith("layer"):
        place = 0
    zero = jnp.zeros(())
    chosen = Chosen(jnp.asarray(grow), jnp.asarray(place), jnp.asarray(0), zero + 0.4, zero, zero)
    begin = POSITION.at[DEPTH].set(depth)
    apply = jax.jit(JUMPS[name].apply)
    new, jacobian = apply(begin, chosen)
    back, undone = apply(new, chosen._replace(grow=~chosen.grow))
    np.testing.assert_allclose(back, begin, atol=1e-10)
    np.testing.assert_allclose(jacobian, -undone, atol=1e-10)
    moving = np.delete(np.arange(SIZE), HELD)

    def moved(part: jax.Array) -> Any:
        return apply(begin.at[moving].set(part), chosen)[0][moving]

    determinant = np.linalg.slogdet(jax.jit(jax.jacfwd(moved))(begin[moving]))[1]
    np.testing.assert_allclose(jacobian, determinant, atol=1e-8)
    assert (new[jnp.asarray(HELD)] != begin[jnp.asarray(HELD)]).sum() == 1
