"""Crank-Nicolson moves and slices: what each moves, and that the prior alone rejects nothing."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pydantic import ValidationError

from nlobayes.inference.kernel import Kernel, Posterior, Tuned
from nlobayes.methods.mcmc import MCMC
from tests.members import build_kernel

STANDARD = np.array([0, 2, 3])
START = jnp.array([0.5, 3.0, -1.0, 0.2])
TUNED = Tuned(jnp.asarray(3.0), jnp.ones(4))


def prior(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
    """Three standard normals, and one exponential of rate 1 in entry 1."""
    del inverse_temperature
    return -0.5 * jnp.sum(q[STANDARD] ** 2) + jnp.where(q[1] > 0, -q[1], -jnp.inf)


def build(moves: int, slices: int) -> Kernel:
    return build_kernel(
        "crank_nicolson", Posterior(prior, standard=STANDARD), moves=moves, slices=slices
    )


def run(kernel: Kernel, steps: int, tuned: Tuned = TUNED) -> tuple[np.ndarray, Any]:
    def one(state: Any, key: jax.Array) -> tuple[Any, Any]:
        state, info = kernel.step(key, state, tuned)
        return state, (state.position, info)

    keys = jax.random.split(jax.random.key(1), steps)
    positions, info = jax.jit(lambda: jax.lax.scan(one, kernel.init(START), keys)[1])()
    return np.asarray(positions), info


def test_proposals_from_the_prior_are_accepted_and_slices_draw_the_rest() -> None:
    """The step mixes well: 4000 draws have moments within 5 standard errors of 400 draws."""
    draws, info = run(build(moves=2, slices=2), 4000)
    np.testing.assert_allclose(info.acceptance_rate, 1, rtol=1e-12)
    np.testing.assert_allclose(draws[:, STANDARD].mean(axis=0), 0, atol=5 / np.sqrt(400))
    np.testing.assert_allclose(draws[:, STANDARD].std(axis=0), 1, atol=5 / np.sqrt(800))
    assert draws[:, 1].min() > 0
    np.testing.assert_allclose(np.quantile(draws[:, 1], [0.5, 0.9]), np.log([2, 10]), atol=0.35)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_step_size_keeps_the_prior(dtype: str) -> None:
    """Warm-up raises the step size without bound where draws from the prior are accepted."""
    kernel, start = build(moves=1, slices=1), jnp.asarray(START, dtype)
    sizes = jnp.asarray(np.minimum(np.logspace(-3, 60, 200), np.finfo(dtype).max), dtype)

    def step(size: jax.Array) -> tuple[jax.Array, Any]:
        state, info = kernel.step(
            jax.random.key(1), kernel.init(start), Tuned(size, jnp.ones(4, dtype))
        )
        return state.position, info

    positions, info = jax.jit(jax.vmap(step))(sizes)
    rtol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(info.acceptance_rate, 1, rtol=rtol)
    np.testing.assert_allclose(positions[-1], positions[-50], atol=1e-6)
    assert np.all(positions[:, STANDARD] != start[STANDARD])


def test_each_move_leaves_the_entries_of_the_other() -> None:
    kernel = build(moves=3, slices=1)
    only_standard = build_kernel(
        "crank_nicolson", Posterior(prior, standard=np.arange(4)), moves=3, slices=1
    )
    assert len(np.unique(run(kernel, 5)[0][:, 1])) == 5
    _, info = run(only_standard, 5)
    np.testing.assert_array_equal(info.num_integration_steps, 3)


@pytest.mark.parametrize("form", ["dense", "low_rank", "gauss_newton"])
def test_refuses_a_mass_matrix_that_is_not_diagonal(form: str) -> None:
    with pytest.raises(ValidationError, match="use diagonal"):
        MCMC.model_validate(
            {
                "kernel": {"kind": "crank_nicolson"},
                "warmup": {"mass_matrix": form},
                "draws_per_segment": 8,
            }
        )
