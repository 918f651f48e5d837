"""NUTS by `pm.sample` on the model of a run, with the sampler of PyMC, NumPyro or nutpie."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import xarray as xr

from nlobayes.errors import InputError

Arrays = dict[str, np.ndarray]

EXTRA = "yardsticks"
OF_NUTS: dict[str, dict[str, Any]] = {"numpyro": {"chain_method": "sequential"}}
"""Arguments of a sampler that takes one chain after the other only if told. NumPyro computes with
JAX, the others with Numba, whose gradients of small networks take a fifth of the time."""
COUNTS = ("n_steps", "tree_depth")
STATS = {
    "acceptance_rate": ("acceptance_rate", "mean_tree_accept"),
    "diverging": ("diverging",),
    "energy": ("energy",),
    "lp": ("lp", "logp"),
    "n_steps": ("n_steps",),
    "step_size": ("step_size",),
    "tree_depth": ("tree_depth", "depth"),
}
"""Our stats, and their names in the samplers."""


class SampledChains(NamedTuple):
    """Draws of chains."""

    variables: Arrays
    """The free variables of the model (chain, draw, ...) by name."""
    stats: Arrays
    """Stats (chain, draw) of every draw."""
    warmup: Arrays
    """Stats of every warm-up step; empty if a sampler gives none."""


def sample(
    model: pm.Model,
    *,
    nuts_sampler: str,
    draws: int,
    tune: int,
    chains: int,
    target_accept: float,
    seed: int,
) -> SampledChains:
    """Sample a model whose data are set; equal seeds give equal draws.

    Raises InputError if the package of the sampler is not installed.
    """
    if find_spec(nuts_sampler) is None:
        raise InputError(
            "model.no_nuts_sampler", where="method.nuts_sampler", package=nuts_sampler, extra=EXTRA
        )
    found = pm.sample(
        draws,
        tune=tune,
        chains=chains,
        cores=1,
        random_seed=seed,
        nuts_sampler=nuts_sampler,
        nuts={**OF_NUTS.get(nuts_sampler, {}), "target_accept": target_accept},
        discard_tuned_samples=False,
        model=model,
        progressbar=False,
        quiet=True,
        compute_convergence_checks=False,
    )
    variables = {v.name: found["posterior"][v.name].values for v in model.free_RVs}
    return SampledChains(
        variables, _stats(found, "sample_stats"), _stats(found, "warmup_sample_stats")
    )


def _stats(found: Mapping[str, xr.Dataset], group: str) -> Arrays:
    if group not in found:
        return {}
    stats = {
        ours: found[group][theirs].values
        for ours, names in STATS.items()
        for theirs in names
        if theirs in found[group]
    }
    return stats | {name: stats[name].astype(np.int64) for name in COUNTS if name in stats}
