"""Fit the network of a run by NumPyro's NUTS, as its users do: from random starts, noise learned.

    python3.11 -m venv env_numpyro && env_numpyro/bin/pip install numpyro==0.22.0 jax==0.10.2
    env_numpyro/bin/python -m benchmarks.baselines.numpyro_regression problem.npz settings.json \
        draws.npz

Problem and results are those of `bde_ensemble.py`. The settings are `hidden`, `warmup`, `draws`,
`chains` and `seed`; all else is a default of NumPyro. The prior is the fan-in prior of the runs,
that of the noise half-normal in units of the target's standard deviation.
"""

import argparse
import json
import resource
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

from benchmarks.baselines.numpyro_nuts import Shapes, model, network, parameter_shapes


def main() -> None:
    """Sample, predict, and write what was predicted with its cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("problem", "settings", "draws"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    settings = json.loads(given.settings.read_text())
    with np.load(given.problem) as arrays:
        found = fit(arrays["features"], arrays["target"], arrays["points"], settings)
    np.savez(given.draws, **found, version=f"numpyro {numpyro.__version__}")


def learned(features: jax.Array, target: jax.Array, *, shapes: Shapes) -> None:
    """State the network with a noise that is learned."""
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    model(features, target, shapes=shapes, sigma=sigma)


def fit(
    features: np.ndarray, target: np.ndarray, points: np.ndarray, settings: dict[str, Any]
) -> dict[str, Any]:
    """Sample chain after chain and predict; the seconds of both, and the peak of memory."""
    x, y, at = (jnp.asarray(array, jnp.float32) for array in (features, target, points))
    shapes = parameter_shapes([x.shape[1], *settings["hidden"], 1])
    sampler = MCMC(
        NUTS(partial(learned, shapes=shapes)),
        num_warmup=settings["warmup"],
        num_samples=settings["draws"],
        num_chains=settings["chains"],
        chain_method="sequential",
        progress_bar=False,
    )
    begun = time.process_time(), time.perf_counter()
    sampler.run(jax.random.key(settings["seed"]), x, y, extra_fields=("num_steps", "diverging"))
    drawn = jax.block_until_ready(sampler.get_samples(group_by_chain=True))
    fitted = time.process_time(), time.perf_counter()
    sigma = drawn.pop("sigma")
    each = jax.vmap(jax.vmap(lambda parameters: network(parameters, at)))
    centres = np.asarray(each(drawn), np.float64)
    return {
        "centres": centres,
        "sd": np.asarray(sigma, np.float64)[..., np.newaxis],
        "cpu_seconds": fitted[0] - begun[0],
        "seconds": fitted[1] - begun[1],
        "predict_seconds": time.perf_counter() - fitted[1],
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main()
