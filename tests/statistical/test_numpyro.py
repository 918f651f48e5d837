"""Our NUTS and NumPyro's, two independent implementations, agree on one network posterior."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.infer import MCMC, NUTS
from scipy.stats import norm

from nlobayes import builder
from nlobayes.diagnostics.autocorrelation import integrated_time
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import LogDensity, Posterior
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.methods.mcmc import MCMC as Chains
from tests.jobs import model_job
from tests.rows import dataset_of

pytestmark = pytest.mark.statistical

CHAINS, WARMUP, DRAWS, SEED = 4, 500, 4000, 1
SIGMA, SIGNIFICANCE = 0.2, 0.001
X = np.linspace(-1.5, 1.5, 12)


def make_model() -> builder.Model:
    """1-4-1 on twelve rows of a wave with noise."""
    y = np.sin(2 * X) + SIGMA * np.random.default_rng(6).normal(size=len(X))
    job = model_job(4, prior={"kind": "fan_in", "scale": 1.5}, sigma=SIGMA)
    dataset = dataset_of(X[:, None], y, reference=np.arange(2), transforms={"target": {}})
    return builder.build_model(job, dataset)


def draw_ours(log_density: LogDensity, starts: jax.Array) -> jax.Array:
    preset = Chains.model_validate(
        {
            "kernel": {"kind": "nuts", "max_depth": 7},
            "warmup": {"steps": WARMUP, "target_acceptance": 0.8, "initial_step_size": 0.05},
            "draws_per_segment": DRAWS,
        }
    )
    kernel = preset.kernel.build(Posterior(log_density))
    adaptation = preset.warmup.build(Untuned(kernel, preset.kernel))

    @jax.jit
    def run(starts: jax.Array) -> jax.Array:
        keys = [builder.chain_keys(SEED, stage, range(CHAINS)) for stage in ("warmup", "draw")]
        carry, _, _ = adapt(keys[0], adaptation, adaptation.start(starts), first=0, steps=WARMUP)
        lengths: dict[str, Any] = {"first": 0, "kept": DRAWS, "thin": 1}
        learned = adaptation.finish(carry)
        return draw(keys[1], kernel, *learned, observe=lambda q: q[0], **lengths)[1].kept

    return run(starts)


def draw_numpyro(log_density: LogDensity, starts: jax.Array) -> jax.Array:
    sampler = MCMC(
        NUTS(potential_fn=lambda q: -log_density(q), max_tree_depth=7),
        num_warmup=WARMUP,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )
    sampler.run(jax.random.key(SEED), init_params=starts)
    return sampler.get_samples(group_by_chain=True)


@pytest.mark.slow
def test_means_and_sds_agree() -> None:
    """At nine points: |difference| below its Monte-Carlo standard error times a joint quantile."""
    model = make_model()
    points = jnp.linspace(-2, 2, 9)[:, None]
    predict: Any = jax.jit(jax.vmap(jax.vmap(lambda q: builder.predict_with(model)(q, points))))
    starts = jnp.stack([model.density.draw_prior(chain) for chain in range(CHAINS)])
    ours, theirs = (
        np.asarray(predict(draws(model.logdensity_fn, starts)))
        for draws in (draw_ours, draw_numpyro)
    )
    centre = theirs.mean(axis=(0, 1))
    z = []
    for moment in (lambda f: f, lambda f: (f - centre) ** 2):
        mean, error = np.zeros((2, 9)), np.zeros((2, 9))
        for row, f in enumerate((moment(ours), moment(theirs))):
            effective = CHAINS * DRAWS / integrated_time(f)
            assert effective.min() > 1000
            mean[row], error[row] = f.mean(axis=(0, 1)), f.std(axis=(0, 1)) / np.sqrt(effective)
        z += [*((mean[0] - mean[1]) / np.hypot(*error))]
    assert np.abs(z).max() < norm.isf(SIGNIFICANCE / (2 * len(z)))
