"""The NUTS of PyMC, NumPyro and nutpie, by `pm.sample`, agree with ours on one posterior."""

from typing import Any

import jax
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes import builder
from nlobayes.diagnostics.autocorrelation import integrated_time
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.study.jobs import DrawJob, SampleJob
from nlobayes.types import Dataset
from tests.rows import dataset_of

pytestmark = [pytest.mark.statistical, pytest.mark.slow]

CHAINS, WARMUP, DRAWS, SEED = 4, 500, 1000, 1
SIGNIFICANCE = 0.001
MODEL = {
    "network": {"hidden": [3], "activation": "tanh"},
    "prior": {"kind": "fan_in", "scale": 1.5},
    "likelihood": {"kind": "gaussian", "sigma": None},
    "precision": "float64",
}
"""The noise is learned, so that a variable is transformed."""


@pytest.fixture(scope="module")
def wave() -> Dataset:
    """Twelve rows of a wave with noise."""
    x = np.linspace(-1.5, 1.5, 12)
    y = np.sin(2 * x) + 0.3 * np.random.default_rng(6).normal(size=len(x))
    return dataset_of(x[:, None], y, reference=np.arange(0, len(x), 2))


@pytest.fixture(scope="module")
def ours(wave: Dataset) -> np.ndarray:
    """f and log noise (chain, draw, quantity) by kernel `nuts`, from draws of the prior."""
    kernel = {"kind": "nuts", "max_depth": 8}
    job = DrawJob.model_validate(
        {
            "model": MODEL,
            "kernel": kernel,
            "warmup": {"kind": "windows", "steps": WARMUP},
            "draws": DRAWS,
            "thin": 1,
            "seed": SEED,
        }
    )
    model, kernel_of_job, adaptation = builder.build_sampler(job, wave)
    starts = np.stack([model.density.draw_prior(chain) for chain in range(CHAINS)])
    lengths: dict[str, Any] = {"first": 0, "kept": DRAWS, "thin": 1}

    @jax.jit
    def run(starts: jax.Array) -> Any:
        keys = [builder.chain_keys(SEED, stage, range(CHAINS)) for stage in ("warmup", "draw")]
        carry, _, _ = adapt(keys[0], adaptation, adaptation.start(starts), first=0, steps=WARMUP)
        learned = adaptation.finish(carry)
        observe = builder.observer(model, wave)
        return draw(keys[1], kernel_of_job, *learned, observe=observe, **lengths)[1].observed

    found = run(starts)
    return np.concatenate([found["f"], np.log(found["noise"])[..., None]], axis=2)


def by_pymc(nuts_sampler: str, wave: Dataset, **changes: int) -> np.ndarray:
    method = {"kind": "pymc", "nuts_sampler": nuts_sampler, "chains": CHAINS}
    lengths = {"tune": WARMUP, "draws": DRAWS} | changes
    job = SampleJob.model_validate({"model": MODEL, "method": method | lengths, "seed": SEED})
    made = builder.sample_chains(job, wave)
    noise = np.log(made.stats["noise"])[..., None]
    return np.concatenate([made.draws.function, noise], axis=2)


@pytest.mark.parametrize("nuts_sampler", ["pymc", "numpyro", "nutpie"])
def test_means_and_sds_agree(nuts_sampler: str, wave: Dataset, ours: np.ndarray) -> None:
    """|difference| below its Monte-Carlo standard error times a joint quantile; so repeatable."""
    theirs = by_pymc(nuts_sampler, wave)
    centre, z = theirs.mean(axis=(0, 1)), []
    for moment in (lambda f: f, lambda f: (f - centre) ** 2):
        means, errors = [], []
        for values in (moment(ours), moment(theirs)):
            effective = CHAINS * DRAWS / integrated_time(values)
            assert effective.min() > 200
            means.append(values.mean(axis=(0, 1)))
            errors.append(values.std(axis=(0, 1)) / np.sqrt(effective))
        z += [*((means[0] - means[1]) / np.hypot(*errors))]
    assert np.abs(z).max() < norm.isf(SIGNIFICANCE / (2 * len(z)))


@pytest.mark.parametrize("nuts_sampler", ["pymc", "numpyro", "nutpie"])
def test_equal_seeds_give_equal_bits(nuts_sampler: str, wave: Dataset) -> None:
    first, again = (by_pymc(nuts_sampler, wave, tune=20, draws=20) for _ in range(2))
    np.testing.assert_array_equal(first, again)
