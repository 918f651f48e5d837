"""The kernel of a job on its posterior, its warm-up, and the templates of their states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.adaptations import Warmup
from nlobayes.builder.keys import chain_keys
from nlobayes.builder.model import Model, build_model
from nlobayes.builder.model_curvature import curvature_with
from nlobayes.builder.varying_architecture import architecture_of
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.inference.chain_groups import Completion
from nlobayes.inference.kernel import Kernel, Posterior
from nlobayes.kernels import Kernel as KernelSettings
from nlobayes.model.prior import WHITENED
from nlobayes.study.jobs import DrawJob, WarmupJob
from nlobayes.types import Dataset, EarlierData


class Sampler(NamedTuple):
    """A posterior, the kernel that draws from it, and the warm-up of the kernel."""

    model: Model
    kernel: Kernel
    adaptation: Adaptation


def build_sampler(
    job: WarmupJob | DrawJob, dataset: Dataset, earlier: EarlierData | None = None
) -> Sampler:
    """Build the model, kernel and warm-up of a job for a dataset."""
    model = build_model(job.model, dataset, earlier)
    sampled = model.sampled
    posterior = Posterior(
        sampled.logdensity_fn,
        sampled.conjugates,
        standard_entries(model),
        architecture_of(model.network, model.density, model.varying),
        sampled.with_by_product,
    )
    settings: KernelSettings = job.kernel
    warmup: Warmup = job.warmup
    kernel = settings.build(posterior)
    adaptation = warmup.build(Untuned(kernel, settings, curvature_with(model, dataset)))
    return Sampler(model, kernel, adaptation)


def standard_entries(model: Model) -> np.ndarray:
    """Find the standard normal entries of chains: the places of non-centered arrays."""
    places = model.density.places.items()
    found = [np.arange(at.start, at.stop) for name, at in places if name.endswith(WHITENED)]
    whole = np.concatenate([np.zeros(0, int), *found])
    return np.flatnonzero(np.isin(model.sampled.left, whole))


def stack_positions(model: Model, positions: Sequence[np.ndarray]) -> jax.Array:
    """Stack positions of several chains (chain, parameter) in the model's precision."""
    return jnp.stack([jnp.asarray(position, model.density.dtype) for position in positions])


def begin_chains(model: Model, positions: Sequence[np.ndarray]) -> jax.Array:
    """Stack the entries that chains move (chain, entry) from full positions (parameter,)."""
    return model.sampled.reduce(stack_positions(model, positions))


def complete_chains(model: Model, seed: int, chains: Sequence[int]) -> Completion | None:
    """Build the completion of the draws of chains; None if they move full positions."""
    if model.sampled.complete is None:
        return None
    return Completion(chain_keys(seed, "output", chains), model.sampled.complete)


def warmup_template(model: Model, adaptation: Adaptation, chains: int) -> Any:
    """Return the shapes of the carry of a chain group's warm-up, without computing it."""
    positions = jax.ShapeDtypeStruct((chains, len(model.sampled.left)), model.density.dtype)
    return jax.eval_shape(adaptation.start, positions)


def sampling_template(model: Model, adaptation: Adaptation, chains: int) -> tuple[Any, Any]:
    """Return the shapes of states and tuned values of a chain group, without computing them."""
    return jax.eval_shape(adaptation.finish, warmup_template(model, adaptation, chains))
