"""The PyMC model of an infinitely wide network, and the JAX functions of its few parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import pymc as pm
import pytensor.tensor as pt

from nlobayes.model.conditioning import (
    differentiable_curve,
    evidence_and_weights,
    log_evidence,
)
from nlobayes.model.density import Density, compile_rows
from nlobayes.model.infinite import Scales, Warp, covariance, rounding, scaled_inputs, scales_of
from nlobayes.model.likelihood import ERROR, TARGET
from nlobayes.model.posterior import FEATURES
from nlobayes.model.rows import Data, columns_of, first_chunk


class ScalesPrior(Protocol):
    """The prior of an infinitely wide network, whose parameters are scales and exponents."""

    def state_scales(self, warp: Warp) -> dict[str, Any]:
        """Define the parameters as PyMC variables, by the names of `model.infinite`."""
        ...


class ScaledNoise(Protocol):
    """A Gaussian likelihood, whose noise has one scale or one for each row."""

    def stated_scale(self, output: Any, error: Any) -> Any:
        """Return the sd of the noise, or define a learned one in PyMC."""
        ...


class InfinitePosterior(NamedTuple):
    """A PyMC model whose data are placeholders, and what its covariance is made of.

    `inputs` are the scaled inputs (row, feature), `noise` is the sd of the noise, a scalar or of
    the shape of the target, or for several targets (output,).
    """

    model: pm.Model
    layout: str
    earlier: Any
    inputs: Any
    scales: Scales
    noise: Any


def build_infinite_posterior(
    activation: str,
    prior: ScalesPrior,
    likelihood: ScaledNoise,
    *,
    feature_names: Sequence[str],
    warp: Warp,
    errors: bool = False,
    targets: int = 1,
) -> InfinitePosterior:
    """Define prior and likelihood of an infinitely wide network for data that are given later.

    The target of all rows is one normal vector, whose covariance is that of f plus the noise. The
    outputs of several `targets` share the hidden layer and all scales, and are independent given
    these.
    """
    shape = (1,) if targets == 1 else (1, targets)
    coords: dict[str, Any] = {"feature": list(feature_names)}
    coords |= {"output": np.arange(targets)} if targets > 1 else {}
    with pm.Model(coords=coords) as model:
        features = pm.Data(FEATURES, np.zeros((1, len(feature_names))))
        target = pm.Data(f"{TARGET}_data", np.zeros(shape))
        error = pm.Data(ERROR, np.zeros(shape)) if errors else None
        variables = prior.state_scales(warp)
        inputs, scales = scaled_inputs(variables, features, warp, pt), scales_of(variables)
        noise = pt.as_tensor(likelihood.stated_scale(target, error))
        whole = covariance(activation, inputs, inputs, scales, pt)
        own = noise**2 + rounding(scales, target.shape[0]) + pt.zeros_like(target)
        of_each = whole + pt.eye(target.shape[0]) * own.T[..., None]
        pm.MvNormal(TARGET, mu=pt.zeros_like(target.T), cov=of_each, observed=target.T)
    return InfinitePosterior(model, "rows", pt.zeros(0), inputs, scales, noise)


class Process(NamedTuple):
    """Functions of a position (parameter,) of an infinitely wide network and its train rows.

    Attributes
    ----------
    log_likelihood
        The log evidence of all rows and targets.
    with_weights
        The log density without a slope, and the weights (row,), or (row, output), of the mean of f.
    mean
        The mean of f (point,), or (point, output), given the rows: by these weights, at features
        (point, feature). Rasmussen and Williams 2006, eq. 2.23.
    draw_prior
        A draw of f a priori, by a key, at features (point, feature).
    """

    log_likelihood: Callable[[jax.Array, Data], jax.Array]
    with_weights: Callable[[jax.Array, Data], tuple[jax.Array, jax.Array]]
    mean: Callable[[jax.Array, Data, jax.Array, jax.Array], jax.Array]
    draw_prior: Callable[[jax.Array, jax.Array, Data, jax.Array], jax.Array]


def build_process(posterior: InfinitePosterior, density: Density, activation: str) -> Process:
    """Build the functions of a process, with the slopes of its evidence by hand."""
    scales = [scale for scale in posterior.scales if scale is not None]
    graphs = [posterior.inputs, *scales, posterior.noise]
    evaluate = compile_rows(posterior.model, posterior.model.replace_rvs_by_values(graphs))
    curve = differentiable_curve(activation)

    def parts(position: jax.Array, rows: Data) -> tuple[jax.Array, Scales, jax.Array]:
        inputs, *known, noise = evaluate(*density.unravel(position), *columns_of(rows))
        scales = Scales(*known)
        variances = noise**2 + rounding(scales, len(rows.target))
        return inputs, scales, jnp.broadcast_to(variances, rows.target.shape)

    def of_targets(evidence: Callable[..., Any], position: jax.Array, data: Data) -> Any:
        rows = first_chunk(data)
        inputs, scales, noise = parts(position, rows)
        whole = covariance(activation, inputs, inputs, scales, jnp, curve)

        def of_target(noise: jax.Array, target: jax.Array) -> Any:
            return evidence(whole + jnp.diag(noise), target)

        if rows.target.ndim == 1:
            return of_target(noise, rows.target)
        return jax.vmap(of_target, in_axes=1, out_axes=-1)(noise, rows.target)

    def log_likelihood(position: jax.Array, data: Data) -> jax.Array:
        return jnp.sum(of_targets(log_evidence, position, data))

    def with_weights(position: jax.Array, data: Data) -> tuple[jax.Array, jax.Array]:
        values, weights = of_targets(evidence_and_weights, position, data)
        return density.log_prior(position) + jnp.sum(values), weights

    def scaled_at(position: jax.Array, rows: Data, features: jax.Array) -> jax.Array:
        blank = jnp.zeros((len(features), *rows.target.shape[1:]))
        error = None if rows.error is None else blank
        return parts(position, rows._replace(features=features, target=blank, error=error))[0]

    def mean(position: jax.Array, data: Data, weights: jax.Array, features: jax.Array) -> jax.Array:
        rows = first_chunk(data)
        inputs, scales, _ = parts(position, rows)
        points = scaled_at(position, rows, features)
        return covariance(activation, points, inputs, scales, jnp, curve) @ weights

    def draw_prior(
        key: jax.Array, position: jax.Array, data: Data, features: jax.Array
    ) -> jax.Array:
        rows = first_chunk(data)
        _, scales, _ = parts(position, rows)
        points = scaled_at(position, rows, features)
        whole = covariance(activation, points, points, scales, jnp, curve)
        # Equal points make the covariance singular; the jitter is far below what figures show.
        root = jnp.linalg.cholesky(whole + 1e-8 * jnp.diag(jnp.diag(whole)))
        return root @ jax.random.normal(key, (len(features), *rows.target.shape[1:]), root.dtype)

    return Process(log_likelihood, with_weights, mean, draw_prior)
