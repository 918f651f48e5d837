"""Where configuration meets numerics: job specifications become functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.errors import InputError
from nlobayes.inference.adaptation import ADAPTATIONS
from nlobayes.inference.adaptation.protocol import Adaptation
from nlobayes.inference.kernels import KERNELS
from nlobayes.inference.kernels.protocol import Kernel, LogDensity
from nlobayes.inference.pretrain import Problem, Rows
from nlobayes.model import likelihoods, priors
from nlobayes.model.density import Density, build_density, choose_layout
from nlobayes.model.likelihoods import NOISE
from nlobayes.model.networks import Network, forward, layers_of
from nlobayes.model.posterior import build_posterior
from nlobayes.study.jobs import DrawJob, ModelJob, WarmupJob
from nlobayes.study.kernels import Kernel as KernelPreset
from nlobayes.study.presets import FanInPrior, ToleranceLikelihood
from nlobayes.study.presets import Likelihood as LikelihoodPreset
from nlobayes.study.presets import Prior as PriorPreset
from nlobayes.study.warmups import Warmup as WarmupPreset
from nlobayes.types import Dataset, Named

STAGES = {"start": 0, "pretrain": 1, "warmup": 2, "draw": 3, "landscape": 4}


class Model(NamedTuple):
    """A network, the density of its posterior, and its train rows laid out for it."""

    network: Network
    density: Density
    logdensity_fn: LogDensity


class Sampler(NamedTuple):
    """A posterior, the kernel that draws from it, and how that warms up."""

    model: Model
    kernel: Kernel
    adaptation: Adaptation


def build_model(job: ModelJob, dataset: Dataset) -> Model:
    """Build the posterior of a job on the train rows of a dataset."""
    network = Network((len(dataset.feature_names), *job.network.hidden, 1), job.network.activation)
    layout, chunk = choose_layout(max(network.sizes), job.device)
    train = _columns(dataset, 0)
    posterior = build_posterior(
        network,
        build_prior(job.prior),
        build_likelihood(job.likelihood),
        feature_names=dataset.feature_names,
        layout=layout,
        errors=train["error"] is not None,
    )
    density = build_density(posterior, chunk=chunk, shards=job.shards)
    data = density.place(**train)

    def logdensity_fn(
        position: jax.Array, inverse_temperature: float | jax.Array = 1.0
    ) -> jax.Array:
        return density.log_density(position, data, inverse_temperature)

    return Model(network, density, logdensity_fn)


def build_prior(preset: PriorPreset) -> priors.Prior:
    """Build the prior of the weights."""
    if isinstance(preset, FanInPrior):
        return priors.FanIn(preset.scale)
    return priors.Gaussian(1 / sqrt(preset.precision), preset.whitened)


def build_likelihood(preset: LikelihoodPreset) -> likelihoods.Likelihood:
    """Build the likelihood."""
    if isinstance(preset, ToleranceLikelihood):
        return likelihoods.Tolerance(preset.sigma)
    return likelihoods.LearnedNoise(preset.scale)


def build_sampler(job: WarmupJob | DrawJob, dataset: Dataset) -> Sampler:
    """Build all that a job needs to move chains on the posterior of a dataset."""
    model = build_model(job.model, dataset)
    kernel = build_kernel(job.kernel, model.logdensity_fn)
    curvature = curvature_with(model, dataset, job.model.likelihood)
    adaptation = build_adaptation(job.warmup, job.kernel, kernel, curvature)
    return Sampler(model, kernel, adaptation)


def build_kernel(preset: KernelPreset, logdensity_fn: LogDensity) -> Kernel:
    """Build the kernel of a sampler on a density."""
    return KERNELS[preset.kind](logdensity_fn, **preset.settings)


def build_adaptation(
    preset: WarmupPreset,
    kernel_preset: KernelPreset,
    kernel: Kernel,
    curvature: Callable[[jax.Array], jax.Array] | None = None,
) -> Adaptation:
    """Build the warm-up of a kernel from those settings of both that it asks for.

    The `curvature` of the density is needed for the mass matrix `gauss_newton` alone.
    """
    adaptation = ADAPTATIONS[preset.kind]
    settings = {**kernel_preset.settings, **preset.model_dump()}
    if getattr(preset, "mass_matrix", None) == "gauss_newton":
        settings["curvature"] = curvature
    asked = inspect.signature(adaptation).parameters
    return adaptation(kernel, **{name: v for name, v in settings.items() if name in asked})


def curvature_with(
    model: Model, dataset: Dataset, likelihood: LikelihoodPreset
) -> Callable[[jax.Array], jax.Array]:
    """Build the Gauss-Newton curvature (parameter, parameter) of the negative log density.

    J' J / sigma^2 + the curvature of the prior, J the Jacobian of the outputs at the train rows
    and sigma the noise of the position, of every row where rows have errors.
    """
    predict, rows = predict_with(model), rows_of(model, dataset, 0)

    def curvature(position: jax.Array) -> jax.Array:
        if isinstance(likelihood, ToleranceLikelihood):
            sigma: Any = likelihood.sigma
        else:
            sigma = model.density.variables(position)[NOISE]
        if rows.error is not None:
            sigma = jnp.sqrt(sigma**2 + rows.error**2)[:, None]
        jacobian = jax.jacrev(predict)(position, rows.features) / sigma
        return jacobian.T @ jacobian - jax.hessian(model.density.log_prior)(position)

    return curvature


def build_problem(model: Model) -> Problem:
    """Build what pretraining minimises."""
    density, predict = model.density, predict_with(model)

    def log_likelihood(position: jax.Array, rows: Rows) -> jax.Array:
        return density.log_likelihood(position, density.batch(*rows))

    return Problem(density.log_prior, log_likelihood, predict)


def predict_with(model: Model) -> Callable[[jax.Array, jax.Array], jax.Array]:
    """Build the network's output (point,) as a function of a position and features."""
    layout = model.density.layout

    def predict(position: jax.Array, features: jax.Array) -> jax.Array:
        layers = layers_of(model.network, model.density.variables(position))
        placed = features.T if layout == "columns" else features
        return forward(layers, placed, model.network.activation, xp=jnp, layout=layout)

    return predict


def draw_start(model: Model, start: str, *, seed: int, chain: int) -> jax.Array:
    """Draw the starting point of a chain, independent of every other chain's."""
    if start == "prior":
        words = np.random.SeedSequence([seed, STAGES["start"], chain]).generate_state(1)
        return model.density.draw_prior(int(words[0]))
    key = chain_key(seed, "start", chain)
    return jax.random.normal(key, (model.density.size,), model.density.dtype)


def chain_key(seed: int, stage: str, chain: int) -> jax.Array:
    """Give the random key of one stage of one chain."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), STAGES[stage]), chain)


def chain_keys(seed: int, stage: str, chains: Sequence[int]) -> jax.Array:
    """Give the random keys (chain,) of one stage of a block of chains."""
    return jnp.stack([chain_key(seed, stage, chain) for chain in chains])


def stack_positions(model: Model, positions: Sequence[np.ndarray]) -> jax.Array:
    """Put positions of several chains together (chain, parameter) in the model's precision."""
    return jnp.stack([jnp.asarray(position, model.density.dtype) for position in positions])


def warmup_template(model: Model, adaptation: Adaptation, chains: int) -> Any:
    """Give the form of what the warm-up of a block carries, without computing anything."""
    positions = jax.ShapeDtypeStruct((chains, model.density.size), model.density.dtype)
    return jax.eval_shape(adaptation.start, positions)


def sampling_template(model: Model, adaptation: Adaptation, chains: int) -> tuple[Any, Any]:
    """Give the form of the states of a block and of what was tuned, without computing anything."""
    return jax.eval_shape(adaptation.finish, warmup_template(model, adaptation, chains))


def rows_of(model: Model, dataset: Dataset, split: int) -> Rows:
    """Take the rows of one split in the precision of the model."""
    columns = _columns(dataset, split)
    return Rows(**jax.tree.map(lambda column: jnp.asarray(column, model.density.dtype), columns))


def error_of(dataset: Dataset) -> np.ndarray | None:
    """Give the error of every target (point,) in the network's units; None where not known."""
    return None if dataset.error is None else dataset.error / dataset.transforms["target"]["sd"]


def _columns(dataset: Dataset, split: int) -> dict[str, Any]:
    rows, error = dataset.split == split, error_of(dataset)
    columns = {"features": dataset.features, "target": dataset.target, "error": error}
    return {name: None if column is None else column[rows] for name, column in columns.items()}


def observer(model: Model, dataset: Dataset) -> Callable[[jax.Array], dict[str, jax.Array]]:
    """Build what is observed of every draw: f at the reference points, and the noise if learned."""
    features = jnp.asarray(dataset.features[dataset.reference], model.density.dtype)
    predict = predict_with(model)

    def observe(position: jax.Array) -> dict[str, jax.Array]:
        variables = model.density.variables(position)
        noise = {NOISE: variables[NOISE]} if NOISE in variables else {}
        return {"f": predict(position, features), **noise}

    return observe


def name_variables(model: Model, positions: jax.Array) -> Named:
    """Name the weights and the noise of positions (..., parameter)."""
    variables = model.density.variables
    for _ in positions.shape[:-1]:
        variables = jax.vmap(variables)
    values = {name: np.asarray(value) for name, value in jax.jit(variables)(positions).items()}
    return Named(values, model.density.dims, model.density.coords)


def check_finite(model: Model, position: Any, where: str) -> None:
    """Refuse a position of another network, or one at which the log density is not finite."""
    if position.shape != (model.density.size,):
        raise InputError(
            f"{where} has {position.size} parameters where the network has {model.density.size}; "
            "give those of this run"
        )
    value = float(jax.jit(model.logdensity_fn)(jnp.asarray(position)))
    if not np.isfinite(value):
        raise InputError(
            f"{where}: the log density is {value}; check the dataset and the prior, or pretrain "
            "with a smaller learning rate"
        )
