"""Simulation-based calibration of the width: drawn ones rank uniformly among posterior draws.

S. Talts et al., arXiv:1804.06788; ties of the discrete number are broken at random. Networks up to
1-4-1 draw width, weights and data from the prior; a chain from another prior draw warms up (step
sizes, scales of jumps), jumps, and its thinned draws rank the width that the data came from. With
`direction` or `choice` left out of the ratio the p-value of the same ranks is below 1e-6.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare

from nlobayes import builder
from nlobayes.builder.varying_architecture import architecture_of
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.jumps import jump, proposals
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.jobs import ModelJob
from tests.statistical.test_exactness import make_dataset

pytestmark = [pytest.mark.statistical, pytest.mark.slow]

REPLICATES, RANKS, THIN, WARMUP, BINS = 1000, 31, 8, 160, 8
MOST, SIGMA = 4, 0.5
X = np.linspace(-1.5, 1.5, 10)
PRESET = {
    "kernel": {"kind": "reversible_jump", "integration_steps": 6, "jitter": 0.4, "jumps": 3},
    "warmup": {"steps": WARMUP, "initial_step_size": 0.1},
    "draws_per_segment": RANKS * THIN,
    "thin": THIN,
}
JOB = {
    "network": {"hidden": [MOST], "units": {"kind": "uniform"}},
    "prior": {"kind": "gaussian"},
    "likelihood": {"kind": "gaussian", "sigma": SIGMA},
    "precision": "float64",
}


def p_value() -> float:
    """Rank the widths of all replicates, and compare the ranks with uniform ones."""
    model = builder.build_model(
        ModelJob.model_validate(JOB), make_dataset(X[:, None], np.zeros(len(X)))
    )
    density, preset = model.density, MCMC.model_validate(PRESET)
    architecture = architecture_of(model.network, density, model.varying)
    assert architecture is not None
    width = architecture.units[0].in_use
    predict, rows = builder.predict_with(model), jnp.asarray(X)[:, None]

    def replicate(truth: jax.Array, start: jax.Array, key: jax.Array) -> jax.Array:
        key_noise, key_warmup, key_draw, key_ties = jax.random.split(key, 4)
        noise = SIGMA * jax.random.normal(key_noise, (len(X),))
        data = density.batch(rows, predict(truth, rows) + noise)

        def target(q: jax.Array, inverse_temperature: Any = 1.0, /) -> jax.Array:
            return density.log_density(q, data, inverse_temperature)

        kernel = preset.kernel.build(Posterior(target, None, None, architecture))
        adaptation = preset.warmup.build(Untuned(kernel, preset.kernel))
        carry = adaptation.start(start[None])
        carry, _, _ = adapt(key_warmup[None], adaptation, carry, first=0, steps=WARMUP)
        ends = adaptation.finish(carry)
        lengths: dict[str, Any] = {"first": 0, "kept": RANKS, "thin": THIN}
        drawn = draw(key_draw[None], kernel, *ends, observe=width, **lengths)[1].observed
        drawn, true = drawn[0, THIN - 1 :: THIN], width(truth)
        ties = jax.random.randint(key_ties, (), 0, jnp.sum(drawn == true) + 1)
        return jnp.sum(drawn < true) + ties

    truths, starts = (
        jnp.stack([density.draw_prior(base + number) for number in range(REPLICATES)])
        for base in (0, REPLICATES)
    )
    keys = jax.random.split(jax.random.key(1), REPLICATES)
    ranks = np.asarray(jax.jit(jax.vmap(replicate))(truths, starts, keys))
    counts = np.bincount(ranks * BINS // (RANKS + 1), minlength=BINS)
    return float(chisquare(counts).pvalue)


def test_widths_rank_uniformly() -> None:
    assert p_value() > 0.001


@pytest.mark.parametrize("dropped", ["direction", "choice"])
def test_ranks_see_a_factor_that_is_left_out(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def total(ratio: Any) -> Any:
        within = sum(ratio._replace(**{dropped: 0.0}))
        return jnp.where(ratio.direction > -jnp.inf, within, -jnp.inf)

    monkeypatch.setattr(proposals, "Ratio", type("R", (jump.Ratio,), {"total": total}))
    assert p_value() < 1e-6
