"""Simulation-based calibration of infinite width: scales, exponent and noise, and f between rows.

As `test_sbc`, with rows that are one draw of the process at scales from their prior. One chain
samples these anew by `emulated_hmc`; f at new points is drawn from the process given the rows.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.methods.mcmc import MCMC
from nlobayes.model.density import build_density
from nlobayes.model.infinite import (
    BIASES,
    COSINES,
    EXPONENTS,
    INPUTS,
    OUTPUT,
    covariance,
    scaled_inputs,
    scales_of,
    warp_of,
)
from nlobayes.model.infinite_posterior import build_infinite_posterior, build_process
from nlobayes.priors.scales import ScalesPrior
from tests.members import likelihood
from tests.statistical.test_sbc import RANKS, posterior_draws, surprising

pytestmark = [pytest.mark.statistical, pytest.mark.slow]

REPLICATES, THIN, WARMUP, SEED = 240, 6, 100, 1
X = np.linspace(0.1, 3.1, 12)
NEW = np.array([0.5, 3.5])
LOG_NORMAL = {"kind": "log_normal", "median": 1.0, "log_sd": 0.7}
PRIOR = {"kind": "scales", "inputs": LOG_NORMAL, "biases": LOG_NORMAL, "output": LOG_NORMAL}
PRIORS = {"erf": PRIOR, "erf and cosines": {**PRIOR, "cosines": LOG_NORMAL}}
SCALES = (INPUTS, BIASES, OUTPUT, EXPONENTS, COSINES)


@cache
def compute_ranks(name: str, temperature: float = 1.0) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rank each quantity (replicate, quantity) among `RANKS` posterior draws, and name them.

    A temperature other than 1 samples a wrong posterior: the check must see it.
    """
    constants = {"mean": [X.mean()], "scale": [X.std()]}
    rows, new = (jnp.asarray((at - X.mean()) / X.std())[:, None] for at in (X, NEW))
    warp = warp_of(rows, constants)
    stated = build_infinite_posterior(
        "erf",
        ScalesPrior.model_validate(PRIORS[name]),
        likelihood("gaussian", sigma=None, scale=0.3),  # type: ignore[arg-type]
        feature_names=["x"],
        warp=warp,
    )
    density = build_density(stated, chunk=0)
    process, blank = build_process(stated, density, "erf"), density.place(np.asarray(rows), 0 * X)
    preset = MCMC.model_validate(
        {
            "kernel": {"kind": "emulated_hmc"},
            "warmup": {"steps": WARMUP},
            "draws_per_segment": RANKS * THIN,
            "thin": THIN,
        }
    )
    places = jnp.concatenate([rows, new])
    names = [one for one in SCALES if one in density.variables(jnp.zeros(density.size))]

    def replicate(drawn: tuple[jax.Array, jax.Array]) -> jax.Array:
        truth, key = drawn
        of_f, of_noise, of_chain, of_new = jax.random.split(key, 4)
        f = process.draw_prior(of_f, truth, blank, places)
        noise = density.variables(truth)["noise"] * jax.random.normal(of_noise, X.shape)
        data = density.batch(rows, f[: len(X)] + noise)

        def target(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
            return density.log_prior(q) + inverse_temperature * process.log_likelihood(q, data)

        def known(q: jax.Array) -> jax.Array:
            variables = density.variables(q)
            scales = [jnp.ravel(variables[one]) for one in (*names, "noise")]
            return jnp.concatenate([*scales, target(q)[None]])

        def quantities(q: jax.Array) -> jax.Array:
            variables = density.variables(q)
            at = scaled_inputs(variables, places, warp, jnp)
            whole = covariance("erf", at, at, scales_of(variables), jnp)
            noise = variables["noise"] ** 2 * jnp.eye(len(X))
            across = jnp.linalg.solve(whole[: len(X), : len(X)] + noise, whole[: len(X), len(X) :])
            left = whole[len(X) :, len(X) :] - whole[len(X) :, : len(X)] @ across
            sd = jnp.sqrt(jnp.maximum(jnp.diag(left), 0.0))
            return jnp.concatenate([known(q), data.target[0] @ across, sd])

        found = posterior_draws(
            lambda q, b=1.0: target(q, b) / temperature, preset, (), truth, of_chain, quantities
        )
        known_of, mean, sd = jnp.split(found, [-2 * len(new), -len(new)], axis=1)
        drawn_f = mean + sd * jax.random.normal(of_new, mean.shape)
        truths = jnp.concatenate([known(truth), f[len(X) :]])
        return jnp.sum(jnp.concatenate([known_of, drawn_f], axis=1) < truths, axis=0)

    truths = jnp.stack([density.draw_prior(number) for number in range(REPLICATES)])
    keys = jax.random.split(jax.random.key(SEED), REPLICATES)
    ranks = jax.lax.map(replicate, (truths, keys))
    return np.asarray(ranks), (*names, "noise", "log density", "f(0.5)", "f(3.5)")


@pytest.mark.parametrize("name", PRIORS)
def test_ranks_are_uniform(name: str) -> None:
    assert not surprising(*compute_ranks(name))


def test_a_wrong_posterior_is_seen() -> None:
    assert surprising(*compute_ranks("erf", temperature=1.5))
