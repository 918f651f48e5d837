"""The scales of an infinitely wide network, sampled, against their posterior by quadrature."""

from __future__ import annotations

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from nlobayes.adaptations.emulator import EmulatorWarmup
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.warmup import adapt
from nlobayes.kernels.emulated_hmc import EmulatedHMCKernel, EmulatedState
from nlobayes.model.density import build_density
from nlobayes.model.infinite import warp_of
from nlobayes.model.infinite_posterior import build_infinite_posterior, build_process
from nlobayes.priors.scales import ScalesPrior
from tests.members import likelihood

pytestmark = pytest.mark.statistical
ROWS, STEPS, DRAWS, NODES, REACH = 12, 40, 6000, 41, 8


def test_means_and_sds_of_the_scales_are_those_of_quadrature() -> None:
    """Three scales of one input: within 5 standard errors of 6000 draws at an ESS of a fifth.

    The grid reaches 8 sds of the curvature: 1.3 % of the weight lies at the edge of one of 4.5.
    """
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(4)
    features = rng.normal(size=(ROWS, 1))
    target = np.sin(2 * features[:, 0]) + 0.2 * rng.normal(size=ROWS)
    stated = build_infinite_posterior(
        "erf",
        ScalesPrior(kind="scales", warp_sd=None),
        likelihood("gaussian", sigma=0.2),  # type: ignore[arg-type]
        feature_names=["x"],
        warp=warp_of(features, {"mean": [0.0], "scale": [1.0]}),
    )
    density = build_density(stated, chunk=0)
    process, data = build_process(stated, density, "erf"), density.place(features, target)

    def logdensity_fn(position: jax.Array, tempered: float | jax.Array = 1.0, /) -> jax.Array:
        likelihood = process.log_likelihood(position, data)
        return density.log_prior(position) + tempered * likelihood

    kernel = EmulatedHMCKernel(kind="emulated_hmc").build(Posterior(logdensity_fn))
    warmup = EmulatorWarmup(steps=STEPS, adaptation_share=0.8).build(Untuned(kernel))
    key = jax.random.key(1)
    falling = jax.jit(jax.value_and_grad(lambda q: -logdensity_fn(q)))
    mode = jnp.asarray(minimize(falling, np.zeros(density.size), jac=True).x)
    carry = jax.jit(warmup.start)(mode[None])
    carry, _, _ = jax.jit(lambda c: adapt(key[None], warmup, c, first=0, steps=STEPS))(carry)
    state, fitted = jax.tree.map(lambda leaf: leaf[0], warmup.finish(carry))

    def draw(state: EmulatedState, key: jax.Array) -> tuple[EmulatedState, jax.Array]:
        state, _ = kernel.step(key, state, fitted)
        return state, state.position

    _, drawn = jax.lax.scan(draw, state, jax.random.split(key, DRAWS))
    at = np.linspace(-REACH, REACH, NODES)
    grid = jnp.array([*product(at, repeat=density.size)]) @ fitted.axes.T + fitted.mode
    weights = np.exp(
        np.asarray(jax.lax.map(logdensity_fn, grid, batch_size=500)) - logdensity_fn(fitted.mode)
    )
    weights /= weights.sum()
    mean = weights @ grid
    sd = np.sqrt(weights @ np.square(grid - mean))
    error = sd / np.sqrt(DRAWS / 5)
    np.testing.assert_array_less(np.abs(drawn.mean(axis=0) - mean), 5 * error)
    np.testing.assert_array_less(np.abs(drawn.std(axis=0) - sd), 5 * error)
