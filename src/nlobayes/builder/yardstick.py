"""Chains that PyMC samples, with the same records as our chains."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.builder.keys import STAGES
from nlobayes.builder.model import build_model, name_variables, observer
from nlobayes.builder.statement import pymc_model
from nlobayes.errors import InputError
from nlobayes.model.likelihood import NOISE
from nlobayes.model.pymc_sampling import Arrays, sample
from nlobayes.study.jobs import SampleJob
from nlobayes.types import Dataset, EarlierData, PosteriorDraws
from nlobayes.untyped import Document


class Yardstick(NamedTuple):
    """Draws (chain, draw, ...), and stats of them and of the steps before the first.

    If the sampler reports no warm-up, the stats of these steps are an empty `lp`.
    """

    draws: PosteriorDraws
    stats: Arrays
    warmup: Arrays


def sample_chains(
    job: SampleJob, dataset: Dataset, earlier: EarlierData | None = None
) -> Yardstick:
    """Sample the chains of a job by PyMC.

    Log density, function and noise are computed as for our chains.

    Raises InputError if the package of the sampler is not installed, or a draw is not finite.
    """
    model, method = build_model(job.model, dataset, earlier), job.method
    seed = int(np.random.SeedSequence([job.seed, STAGES["sample"]]).generate_state(1)[0])
    settings: Document = method.model_dump(exclude={"kind"})
    sampled = sample(pymc_model(job.model, dataset, earlier), **settings, seed=seed)
    named = {name: jnp.asarray(values) for name, values in sampled.variables.items()}
    positions = jax.vmap(jax.vmap(model.density.locate))(named)
    log_density = _each(model.logdensity_fn, positions)
    if not np.isfinite(log_density).all():
        lost = int((~np.isfinite(log_density)).sum())
        raise InputError("builder.draws_not_finite", lost=lost, draws=log_density.size)
    observed = _each(observer(model, dataset), positions)
    function, noise = observed["f"], {k: v for k, v in observed.items() if k == NOISE}
    return Yardstick(
        PosteriorDraws(function, log_density, name_variables(model, positions)),
        {**sampled.stats, "lp": log_density, **noise},
        sampled.warmup or {"lp": np.zeros((method.chains, 0))},
    )


def _each(compute: Any, positions: jax.Array) -> Any:
    """Compute something of each position (chain, draw, parameter)."""
    found = jax.jit(lambda all_: jax.lax.map(lambda chain: jax.lax.map(compute, chain), all_))
    return jax.device_get(found(positions))
