"""Simulation-based calibration: prior draws rank uniformly among the draws of their posteriors.

S. Talts et al., arXiv:1804.06788. A network 1-4-1 draws weights and data from the prior; a chain
samples their posterior from another prior draw; the ranks of what the data came from, among nearly
independent posterior draws, are uniform if and only if the whole of density, warm-up and kernel
is right. The ranks are stored; `make test-nightly` computes them anew, and

    python -m tests.statistical.test_sbc > tests/statistical/sbc_ranks.json

stores them.
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2

from nlobayes.runtime import configure

if __name__ == "__main__":
    configure("float64")

from nlobayes import builder
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import LogDensity, Posterior
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.methods.mcmc import MCMC
from tests.jobs import model_job
from tests.statistical.test_exactness import make_dataset

pytestmark = pytest.mark.statistical

STORED = Path(__file__).with_name("sbc_ranks.json")
REPLICATES, RANKS, THIN, WARMUP, SEED = 240, 99, 12, 400, 1
BINS = 10
SIGNIFICANCE = 0.001
X = np.linspace(-1.5, 1.5, 12)
HMC = {"kind": "hmc", "integration_steps": 24, "jitter": 0.4}
FAN_IN = {"kind": "fan_in", "scale": 1.5}
DECLARED = {"kind": "gaussian", "sigma": 0.2}
LEARNED = {"kind": "gaussian", "sigma": None, "scale": 0.3}


class Case(NamedTuple):
    """What is sampled: by which kernel, with which noise, of which parameters."""

    kernel: dict[str, Any]
    likelihood: dict[str, Any] = DECLARED
    prior: dict[str, Any] = FAN_IN
    output: str = "sampled"

    @property
    def quantities(self) -> tuple[str, ...]:
        """Name what is ranked."""
        predicted = ("f(-1)", "f(0.5)", "f(2)") if self.output == "sampled" else ()
        noise = ("noise",) if self.likelihood["sigma"] is None else ()
        return (*predicted, "squared weights", "log density", *noise)


CASES = {
    "hmc": Case(HMC),
    "nuts": Case({"kind": "nuts", "max_depth": 6}),
    "learned noise": Case(HMC, LEARNED),
    "marginalised, learned noise": Case(HMC, LEARNED, {"kind": "relevance"}, "marginalised"),
}


def make_model(case: Case) -> builder.Model:
    """The posterior of 1-4-1; its data are replaced in each replicate."""
    job = model_job(4, prior=case.prior, likelihood=case.likelihood, output=case.output)
    return builder.build_model(job, make_dataset(X[:, None], np.zeros(len(X))))


def compute_ranks(name: str, temperature: float = 1.0) -> np.ndarray:
    """Rank every quantity (replicate, quantity) among `RANKS` posterior draws.

    A temperature other than 1 samples a wrong posterior: the check must see it.
    """
    case = CASES[name]
    model = make_model(case)
    predict, sampled = builder.predict_with(model), model.sampled
    known = (sampled.conjugates, builder.standard_entries(model))
    preset = MCMC.model_validate(
        {
            "kernel": case.kernel,
            "warmup": {"steps": WARMUP, "target_acceptance": 0.8, "initial_step_size": 0.05},
            "draws_per_segment": RANKS * THIN,
            "thin": THIN,
        }
    )
    rows = jnp.asarray(X)[:, None]

    def noise_of(whole: jax.Array) -> jax.Array:
        declared = case.likelihood["sigma"]
        return model.density.variables(whole)["noise"] if declared is None else declared

    def replicate(truth: jax.Array, start: jax.Array, noise: jax.Array, key: jax.Array) -> Any:
        data = model.density.batch(rows, predict(truth, rows) + noise_of(truth) * noise)

        def target(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
            return sampled.log_prior(q) + inverse_temperature * sampled.log_likelihood(q, data)

        def quantities(q: jax.Array) -> jax.Array:
            values = [jnp.sum(q**2), target(q)]
            whole = jnp.zeros(model.density.size).at[sampled.left].set(q)
            if case.output == "sampled":
                values = [*predict(q, jnp.array([[-1.0], [0.5], [2.0]])), *values]
            if case.likelihood["sigma"] is None:
                values.append(noise_of(whole))
            return jnp.stack(values)

        drawn = posterior_draws(
            lambda q, b=1.0: target(q, b) / temperature,
            preset,
            known,
            sampled.reduce(start),
            key,
            quantities,
        )
        return jnp.sum(drawn < quantities(sampled.reduce(truth)), axis=0)

    truths, starts = (
        jnp.stack([model.density.draw_prior(base + i) for i in range(REPLICATES)])
        for base in (0, REPLICATES)
    )
    key = jax.random.key(SEED)
    noise = jax.random.normal(key, (REPLICATES, len(X)))
    keys = jax.random.split(jax.random.fold_in(key, 1), REPLICATES)
    return np.asarray(jax.jit(jax.vmap(replicate))(truths, starts, noise, keys))


def posterior_draws(
    log_density: LogDensity, preset: MCMC, known: Any, start: jax.Array, key: jax.Array, what: Any
) -> jax.Array:
    """Warm up one chain, freeze, and observe every `THIN`-th draw (draw, quantity)."""
    kernel = preset.kernel.build(Posterior(log_density, *known))
    adaptation = preset.warmup.build(Untuned(kernel, preset.kernel))
    keys = jax.random.split(key, 2)
    carry, _, _ = adapt(keys[:1], adaptation, adaptation.start(start[None]), first=0, steps=WARMUP)
    lengths: dict[str, Any] = {"first": 0, "kept": RANKS, "thin": THIN}
    states = adaptation.finish(carry)
    _, drawn = draw(keys[1:], kernel, *states, observe=lambda q: q[0], **lengths)
    return jax.vmap(what)(drawn.kept[0])


def surprising(ranks: np.ndarray, quantities: tuple[str, ...]) -> dict[str, float]:
    """P-values of the quantities whose ranks (replicate, quantity) are not uniform."""
    expected = len(ranks) / BINS
    found = {}
    for name, column in zip(quantities, ranks.T, strict=True):
        counts, _ = np.histogram(column, BINS, (0, RANKS + 1))
        p = float(chi2.sf(np.sum((counts - expected) ** 2 / expected), BINS - 1))
        if p < SIGNIFICANCE / len(quantities):
            found[name] = p
    return found


@pytest.mark.parametrize("name", CASES)
def test_stored_ranks_are_uniform(name: str) -> None:
    ranks, quantities = np.array(json.loads(STORED.read_text())[name]), CASES[name].quantities
    assert ranks.shape == (REPLICATES, len(quantities))
    assert not surprising(ranks, quantities)


def test_the_check_sees_a_bias_and_a_wrong_width() -> None:
    """Ranks of a truth that is shifted, or too often at the ends, are not uniform."""
    quantities = CASES["hmc"].quantities
    uniform = np.random.default_rng(0).integers(0, RANKS + 1, (REPLICATES, len(quantities)))
    assert not surprising(uniform, quantities)
    shifted = np.minimum(uniform + 20, RANKS)
    too_narrow = np.where(np.abs(uniform - RANKS / 2) < 15, 0, uniform)
    for wrong in (shifted, too_narrow):
        assert len(surprising(wrong, quantities)) == len(quantities)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_ranks_are_what_is_stored(name: str) -> None:
    """Rounding may differ between machines, and chaos takes it from there in a few replicates."""
    ranks = compute_ranks(name)
    assert not surprising(ranks, CASES[name].quantities)
    stored = np.array(json.loads(STORED.read_text())[name])
    assert np.mean(np.abs(ranks - stored) <= 10) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_posterior_is_seen(name: str) -> None:
    assert surprising(compute_ranks(name, temperature=1.5), CASES[name].quantities)


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: compute_ranks(name).tolist() for name in CASES}) + "\n")
