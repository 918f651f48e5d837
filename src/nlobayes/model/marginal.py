"""The posterior with the output layer integrated out, and exact draws of that layer.

The weights and the bias of the output, given all other parameters, are the coefficients of a
Bayesian linear regression on the last hidden layer, if they are Gaussian given their scales and the
noise is Gaussian. The PyMC model defines them like any other array; this module reads their
conditional means and scales from its graph, so that priors are stated once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph.replace import clone_replace
from pytensor.tensor.random.basic import NormalRV

from nlobayes.errors import InputError
from nlobayes.model.density import Density, compile_rows, jaxify
from nlobayes.model.likelihood import TARGET
from nlobayes.model.linear import HALF_LOG_TWO_PI, WhitenedRows, build_evidence
from nlobayes.model.posterior import Posterior
from nlobayes.model.prior import WHITENED
from nlobayes.model.rows import Data, columns_of
from nlobayes.untyped import Array

LAYOUT = "rows"
MOST_CELLS = 300_000
"""Target size of the last hidden layer of one chunk: 2.4 MB, about the size of the caches."""
FEWEST_ROWS = 512


def chunk_of(width: int, rows: int) -> int:
    """Return the rows per chunk that cut the rows evenly, for a last hidden layer of a width."""
    most = max(FEWEST_ROWS, MOST_CELLS // (width + 1))
    return -(-rows // -(-rows // most))


class Marginal(NamedTuple):
    """Functions of the remaining parameters (left,) when the output layer is integrated out."""

    left: np.ndarray
    """Indices of the remaining parameters in the full position (parameter,)."""
    log_prior: Callable[[jax.Array], jax.Array]
    """Log prior of the remaining parameters."""
    log_likelihood: Callable[[jax.Array, Data], jax.Array]
    """Their log likelihood given the data."""
    complete: Callable[[jax.Array, jax.Array, Data], jax.Array]
    """The full position, with output weights and bias drawn given all others by a key."""
    complete_at_mean: Callable[[jax.Array, Data], jax.Array]
    """The full position, with their conditional mean."""

    def reduce(self, position: jax.Array) -> jax.Array:
        """Remove the output layer from positions (..., parameter)."""
        return position[..., self.left]


class _Output(NamedTuple):
    """Graphs of one array: mean and sd of its value variable, and the array itself."""

    variable: Array
    value_mean: Array
    value_sd: Array
    mean: Array
    sd: Array


def integrate_output(posterior: Posterior, density: Density) -> Marginal:
    """Integrate the output layer out of a posterior, whose layout is `rows`.

    Raises InputError if the output layer is not Gaussian given its scales, the noise is not
    Gaussian, the network has several outputs, the prior has earlier data, the precision is single,
    or nothing is left.
    """
    outputs = _check(posterior, density)
    model, places = posterior.model, [density.places[one.variable.name] for one in outputs]
    left = np.delete(np.arange(density.size), np.concatenate([_numbers(place) for place in places]))
    if not len(left):
        raise InputError("model.nothing_is_left")
    kept = [one for one in model.free_RVs if one not in [out.variable for out in outputs]]
    log_prior = jaxify(model.value_vars, model.logp(vars=kept, sum=False))
    columns = sum(place.stop - place.start for place in places)
    prior_of = _jaxify_values(model, outputs)
    evidence = build_evidence(_whiten(posterior, density, outputs, places, left), columns)

    def whole(q: jax.Array) -> jax.Array:
        return _spread(q, left, density.size)

    def insert(q: jax.Array, z: jax.Array) -> jax.Array:
        means, sds = prior_of(density.unravel(whole(q)))
        places_of_z = np.concatenate([_numbers(place) for place in places])
        return whole(q).at[places_of_z].set(means + sds * z)

    return Marginal(
        left,
        lambda q: sum(map(jnp.sum, log_prior(*density.unravel(whole(q)))), jnp.zeros(())),
        evidence.log_evidence,
        complete=lambda key, q, data: insert(q, evidence.draw(key, q, data)),
        complete_at_mean=lambda q, data: insert(q, evidence.mean(q, data)),
    )


def _check(posterior: Posterior, density: Density) -> list[_Output]:
    model = posterior.model
    target = model[TARGET].owner
    if not isinstance(target.op, NormalRV):
        raise InputError("model.noise_not_gaussian", received=target.op.name)
    if len(model.coords["output"]) != 1:
        raise InputError("model.several_outputs", received=len(model.coords["output"]))
    if model.potentials:
        raise InputError("model.marginal_with_earlier")
    if density.dtype != np.float64:
        raise InputError("model.needs_double", received=density.dtype)
    return [_output(model, name) for name in posterior.output]


def _output(model: pm.Model, name: str) -> _Output:
    """Read the conditional mean and scale of an array from the graph, which is affine in it."""
    free = {variable.name: variable for variable in model.free_RVs}
    variable = free.get(name, free.get(name + WHITENED))
    if variable is None or not isinstance(variable.owner.op, NormalRV):
        family = "unknown" if variable is None else variable.owner.op.name
        raise InputError("model.output_not_gaussian", name=name, received=family)
    shape = model.eval_rv_shapes()[variable.name]
    stated = [
        pt.broadcast_to(part, shape) for part in variable.owner.op.dist_params(variable.owner)
    ]
    array, mean, sd = model.replace_rvs_by_values([model[name], *stated])
    value = model.rvs_to_values[variable]
    # A prior may state its array through any graph that is affine in the value variable, such as
    # mean + scale * value. Two points give both of its constants without knowing the graph.
    centre, beside = (
        pt.as_tensor(clone_replace([array], {value: at.astype(value.dtype)})[0])
        for at in (mean, mean + sd)
    )
    return _Output(variable, mean, sd, centre, beside - centre)


def _whiten(
    posterior: Posterior,
    density: Density,
    outputs: list[_Output],
    places: list[slice],
    left: np.ndarray,
) -> Callable[[jax.Array, Data], WhitenedRows]:
    """Build the rows of a chunk in units of their noise, their columns in units of the prior."""
    model = posterior.model
    [sigma] = model.replace_rvs_by_values(
        [model[TARGET].owner.op.dist_params(model[TARGET].owner)[1]]
    )
    [hidden] = model.replace_rvs_by_values([posterior.hidden])
    graphs = [hidden, sigma, *(graph for one in outputs for graph in (one.mean, one.sd))]
    evaluate = compile_rows(model, graphs)

    def whiten(q: jax.Array, chunk: Data) -> WhitenedRows:
        position = _spread(q, left, density.size)
        hidden, sigma, mean, sd, bias_mean, bias_sd = evaluate(
            *density.unravel(position), *columns_of(chunk)
        )
        noise = jnp.broadcast_to(sigma, chunk.target.shape)
        missed = chunk.target - hidden @ mean[:, 0] - bias_mean[0]
        scaled = hidden * sd[:, 0]
        bias = jnp.broadcast_to(bias_sd[0], (len(missed), 1))
        design = jnp.concatenate([scaled, bias], axis=1) / noise[:, None]
        rows = WhitenedRows(design, missed / noise, jnp.log(noise) + HALF_LOG_TWO_PI)
        if chunk.mask is None:
            return rows
        return WhitenedRows(
            jnp.where(chunk.mask[:, None], rows.design, 0),
            jnp.where(chunk.mask, rows.residual, 0),
            jnp.where(chunk.mask, rows.log_noise, 0),
        )

    return whiten


def _jaxify_values(
    model: pm.Model, outputs: list[_Output]
) -> Callable[[list[jax.Array]], tuple[jax.Array, jax.Array]]:
    """Build the means and sds (column,) a priori of the value variables of the output layer."""
    graphs = [graph for one in outputs for graph in (one.value_mean, one.value_sd)]
    evaluate = jaxify(model.value_vars, graphs)

    def prior_of(values: list[jax.Array]) -> tuple[jax.Array, jax.Array]:
        found = [part.ravel() for part in evaluate(*values)]
        return jnp.concatenate(found[::2]), jnp.concatenate(found[1::2])

    return prior_of


def _spread(q: jax.Array, left: np.ndarray, size: int) -> jax.Array:
    return jnp.zeros(size, q.dtype).at[left].set(q)


def _numbers(place: slice) -> np.ndarray:
    return np.arange(place.start, place.stop)
