"""The statistical model of a job: its network, its posterior on the train rows, its functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.builder.recently_built import keep_recent
from nlobayes.builder.statement import columns_of, pieces_of, state
from nlobayes.errors import InputError
from nlobayes.inference.kernel import LogDensity
from nlobayes.inference.pretrain import Rows
from nlobayes.model import marginal
from nlobayes.model.conditionals import Conjugates, find_conjugates
from nlobayes.model.density import Density, build_density
from nlobayes.model.infinite_posterior import InfinitePosterior, Process, build_process
from nlobayes.model.likelihood import NOISE, Likelihood
from nlobayes.model.networks import Network, forward, layers_of
from nlobayes.model.posterior import Posterior
from nlobayes.model.rows import Data, choose_layout
from nlobayes.model.varying_sizes import VaryingSizes
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, EarlierData, NamedArrays


class ChainTarget(NamedTuple):
    """The target of the chains: the density of full or reduced positions."""

    left: np.ndarray
    """Places in a full position of the entries that the chains move."""
    log_prior: Callable[[jax.Array], jax.Array]
    """Log prior of these entries."""
    log_likelihood: Callable[[jax.Array, Data], jax.Array]
    """Their log likelihood, of all rows at once: it is no sum over rows if parameters were
    integrated out."""
    logdensity_fn: LogDensity
    """The log density of its posterior."""
    conjugates: Conjugates | None
    """Entries that can be drawn given all others."""
    complete: Callable[[jax.Array, jax.Array], jax.Array] | None = None
    """Gives a full position, with a draw by a key of the parameters that were integrated out; None
    if there are none."""
    complete_at_mean: Callable[[jax.Array], jax.Array] | None = None
    """The same with their conditional mean."""
    with_by_product: Callable[[jax.Array], tuple[jax.Array, jax.Array]] | None = None
    """Gives the log density and a by-product, with which f takes less time, if there is one."""

    def reduce(self, positions: jax.Array) -> jax.Array:
        """Take the entries that chains move from full positions (..., parameter)."""
        return positions if self.complete is None else positions[..., self.left]

    def whole(self, position: jax.Array) -> jax.Array:
        """Complete the entries of chains (entry,) by the conditional mean of the others."""
        return position if self.complete_at_mean is None else self.complete_at_mean(position)


class Model(NamedTuple):
    """A network, its likelihood, the density of its posterior, its train rows, its conjugates.

    `sampled` is the target of the chains; all other functions take full positions. A varying
    network is the largest one, and `varying` the prior of its sizes in use. An infinitely wide
    network is a `process`, whose network counts only inputs and outputs.
    """

    network: Network
    likelihood: Likelihood
    density: Density
    data: Data
    logdensity_fn: LogDensity
    conjugates: Conjugates | None
    sampled: ChainTarget
    varying: VaryingSizes | None = None
    process: Process | None = None


@keep_recent
def build_model(
    job: ModelJob,
    dataset: Dataset,
    earlier: EarlierData | None = None,
    *,
    non_centered: bool = True,
) -> Model:
    """Build the posterior of a job on the train rows of a dataset.

    Without `non_centered` its variables are the named ones of stored draws. `earlier` are the
    earlier data that the job's prior names.

    Raises InputError if the likelihood does not fit the number of classes or of outputs, or earlier
    data are not given where the prior names them, or are of something else.
    """
    pieces = pieces_of(job, dataset)
    network, prior = pieces.network, pieces.prior
    integrated = job.network.output == "marginalised" and non_centered
    train = columns_of(dataset, 0)
    layout, chunk = choose_layout(max(network.sizes), job.device)
    if network.is_infinite:
        layout, chunk = "rows", 0
    if integrated:
        rows = len(train["target"])
        layout, chunk = marginal.LAYOUT, marginal.chunk_of(network.sizes[-2], rows)
    posterior = state(pieces, dataset, layout=layout, earlier=earlier, non_centered=non_centered)
    density, process = build_density(posterior, chunk=chunk, shards=job.shards), None
    if isinstance(posterior, InfinitePosterior):
        process = build_process(posterior, density, str(network.activation))
        density = density._replace(log_likelihood=process.log_likelihood)
    data = density.place(**train)

    def logdensity_fn(
        position: jax.Array, inverse_temperature: float | jax.Array = 1.0
    ) -> jax.Array:
        return density.log_density(position, data, inverse_temperature)

    fixed = non_centered and pieces.varying is None
    conjugates = find_conjugates(prior, network, density) if fixed else None
    whole = np.arange(density.size)
    sampled = ChainTarget(
        whole, density.log_prior, density.log_likelihood, logdensity_fn, conjugates
    )
    if process is not None:
        sampled = sampled._replace(with_by_product=lambda q: process.with_weights(q, data))
    if integrated:
        assert isinstance(posterior, Posterior)
        sampled = _integrated(marginal.integrate_output(posterior, density), data, conjugates)
    return Model(
        network,
        pieces.likelihood,
        density,
        data,
        logdensity_fn,
        conjugates,
        sampled,
        pieces.varying,
        process,
    )


def _integrated(left: marginal.Marginal, data: Data, conjugates: Conjugates | None) -> ChainTarget:
    """Build the target of chains for a model whose output layer is integrated out.

    For its conjugates the output layer is drawn first and discarded afterwards.
    """

    def logdensity_fn(
        position: jax.Array, inverse_temperature: float | jax.Array = 1.0
    ) -> jax.Array:
        likelihood = left.log_likelihood(position, data)
        return left.log_prior(position) + inverse_temperature * likelihood

    def complete(key: jax.Array, position: jax.Array) -> jax.Array:
        return left.complete(key, position, data)

    return ChainTarget(
        left.left,
        left.log_prior,
        left.log_likelihood,
        logdensity_fn,
        None if conjugates is None else _reduced(conjugates, left, complete),
        complete,
        lambda position: left.complete_at_mean(position, data),
    )


def _reduced(
    conjugates: Conjugates,
    left: marginal.Marginal,
    complete: Callable[[jax.Array, jax.Array], jax.Array],
) -> Conjugates:
    def refresh(key: jax.Array, position: jax.Array) -> jax.Array:
        key_output, key_refresh = jax.random.split(key)
        return left.reduce(conjugates.refresh(key_refresh, complete(key_output, position)))

    return Conjugates(refresh, np.searchsorted(left.left, conjugates.entries))


def predict_with(model: Model) -> Callable[[jax.Array, jax.Array], jax.Array]:
    """Build the output (point,) or (point, output) as a function of position and features.

    For an infinitely wide network it is the mean of f given the position and the train rows.
    """
    layout, process = model.density.layout, model.process
    if process is not None:

        def mean(position: jax.Array, features: jax.Array) -> jax.Array:
            _, weights = process.with_weights(position, model.data)
            return process.mean(position, model.data, weights, features)

        return mean

    def predict(position: jax.Array, features: jax.Array) -> jax.Array:
        layers = layers_of(model.network, model.density.variables(position))
        placed = features.T if layout == "columns" else features
        return forward(model.network, layers, placed, xp=jnp, layout=layout)

    return predict


def rows_of(model: Model, dataset: Dataset, split: int) -> Rows:
    """Take the rows of one split in the precision of the model."""
    columns = columns_of(dataset, split)
    return Rows(**jax.tree.map(lambda column: jnp.asarray(column, model.density.dtype), columns))


def observer(model: Model, dataset: Dataset) -> Callable[..., dict[str, jax.Array]]:
    """Build the stored quantities of a draw: f at the reference points, and learned noise.

    For classes f is their logits; the noise of several targets is their geometric mean. The
    function takes the by-product of the density, if there is one, besides the position.
    """
    features = jnp.asarray(dataset.features[dataset.reference], model.density.dtype)
    predict, process = predict_with(model), model.process

    def observe(position: jax.Array, weights: jax.Array | None = None) -> dict[str, jax.Array]:
        variables = model.density.variables(position)
        noise = {NOISE: _geometric_mean(variables[NOISE])} if NOISE in variables else {}
        if process is None or weights is None:
            output = predict(position, features)
        else:
            output = process.mean(position, model.data, weights, features)
        return {"f": model.likelihood.quantities(output, jnp), **noise}

    return observe


def _geometric_mean(values: jax.Array) -> jax.Array:
    return values if values.ndim == 0 else jnp.exp(jnp.mean(jnp.log(values)))


def name_variables(model: Model, positions: jax.Array) -> NamedArrays:
    """Name the weights and the noise of positions (..., parameter)."""
    variables = model.density.variables
    for _ in positions.shape[:-1]:
        variables = jax.vmap(variables)
    values = {name: np.asarray(value) for name, value in jax.jit(variables)(positions).items()}
    return NamedArrays(values, model.density.dims, model.density.coords)


def check_finite(model: Model, position: Any, where: str) -> None:
    """Refuse a position of another network, or one at which the log density is not finite."""
    if position.shape != (model.density.size,):
        raise InputError(
            "builder.other_network",
            where=where,
            received=position.size,
            expected=model.density.size,
        )
    value = float(jax.jit(model.logdensity_fn)(jnp.asarray(position)))
    if not np.isfinite(value):
        raise InputError("builder.no_density", where=where, value=value)
