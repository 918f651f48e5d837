"""The kernel of a job on its posterior, its warm-up, and the form of what both carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.builder.architecture import architecture_of
from nlobayes.builder.curvature import curvature_with
from nlobayes.builder.keys import chain_keys
from nlobayes.builder.model import Model, build_model
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.inference.adaptations import ADAPTATIONS
from nlobayes.inference.architecture import Architecture
from nlobayes.inference.completion import Completion
from nlobayes.inference.curvature import Curvature
from nlobayes.inference.kernel import Conjugates, Kernel, LogDensity, Posterior
from nlobayes.inference.kernels import KERNELS
from nlobayes.model.prior import WHITENED
from nlobayes.study.jobs import DrawJob, WarmupJob
from nlobayes.study.kernels import Kernel as KernelPreset
from nlobayes.study.warmups import Warmup as WarmupPreset
from nlobayes.types import Dataset, EarlierData


class Sampler(NamedTuple):
    """A posterior, the kernel that draws from it, and how that warms up."""

    model: Model
    kernel: Kernel
    adaptation: Adaptation


def build_sampler(
    job: WarmupJob | DrawJob, dataset: Dataset, earlier: EarlierData | None = None
) -> Sampler:
    """Build all that a job needs to move chains on the posterior of a dataset."""
    model = build_model(job.model, dataset, earlier)
    sampled = model.sampled
    kernel = build_kernel(
        job.kernel,
        sampled.logdensity_fn,
        sampled.conjugates,
        standard_entries(model),
        architecture_of(model.network, model.density, model.varying),
    )
    curvature = curvature_with(model, dataset)
    adaptation = build_adaptation(job.warmup, job.kernel, kernel, curvature)
    return Sampler(model, kernel, adaptation)


def build_kernel(
    preset: KernelPreset,
    logdensity_fn: LogDensity,
    conjugates: Conjugates | None = None,
    standard: np.ndarray | None = None,
    architecture: Architecture | None = None,
) -> Kernel:
    """Build the kernel of a sampler on a density, with what is known of its prior."""
    posterior = Posterior(logdensity_fn, conjugates, standard, architecture)
    return KERNELS[preset.kind].build(posterior, **preset.settings)


def standard_entries(model: Model) -> np.ndarray:
    """Find what chains move in units of its scale: the places of non-centered arrays."""
    places = model.density.places.items()
    found = [np.arange(at.start, at.stop) for name, at in places if name.endswith(WHITENED)]
    whole = np.concatenate([np.zeros(0, int), *found])
    return np.flatnonzero(np.isin(model.sampled.left, whole))


def build_adaptation(
    preset: WarmupPreset,
    kernel_preset: KernelPreset,
    kernel: Kernel,
    curvature: Curvature | None = None,
) -> Adaptation:
    """Build the warm-up of a kernel, whose settings and model's curvature it may use."""
    untuned = Untuned(kernel, kernel_preset.settings, curvature)
    return ADAPTATIONS[preset.kind].build(untuned, **preset.settings)


def stack_positions(model: Model, positions: Sequence[np.ndarray]) -> jax.Array:
    """Put positions of several chains together (chain, parameter) in the model's precision."""
    return jnp.stack([jnp.asarray(position, model.density.dtype) for position in positions])


def begin_chains(model: Model, positions: Sequence[np.ndarray]) -> jax.Array:
    """Put together what chains move (chain, entry), of whole positions (parameter,)."""
    return model.sampled.reduce(stack_positions(model, positions))


def complete_chains(model: Model, seed: int, chains: Sequence[int]) -> Completion | None:
    """State how chains complete their draws; None where they move whole positions."""
    if model.sampled.complete is None:
        return None
    return Completion(chain_keys(seed, "output", chains), model.sampled.complete)


def warmup_template(model: Model, adaptation: Adaptation, chains: int) -> Any:
    """Give the form of what the warm-up of a chain group carries, without computing anything."""
    positions = jax.ShapeDtypeStruct((chains, len(model.sampled.left)), model.density.dtype)
    return jax.eval_shape(adaptation.start, positions)


def sampling_template(model: Model, adaptation: Adaptation, chains: int) -> tuple[Any, Any]:
    """Give the form of the states of a chain group and of what was tuned; nothing is computed."""
    return jax.eval_shape(adaptation.finish, warmup_template(model, adaptation, chains))
