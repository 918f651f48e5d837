"""PyMC -> PyTensor -> JAX: the log density of a flat position, with the data as arguments.

Three borders are crossed once, here: names and shapes become one flat vector, PyMC's data become
arguments (a compiled graph would freeze them), and the sum over rows is cut into chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pymc as pm
import pytensor
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from pymc.initial_point import make_initial_point_fn
from pytensor.graph.replace import clone_replace

from nlobayes.errors import InputError
from nlobayes.model.likelihoods import ERROR, TARGET
from nlobayes.model.posterior import FEATURES, Posterior
from nlobayes.model.priors import WHITENED

jax.devices()  # before the next import, which asks XLA for 100 virtual CPU devices
from pymc.sampling.jax import get_jaxified_graph  # noqa: E402

NARROW, WIDE = 32, 512
ROWS = "rows"


class Data(NamedTuple):
    """Rows in chunks: features (chunk, ...) in the layout's order; all others (chunk, point).

    The mask is None where every chunk is full. The error, the sd of the numerical noise of every
    target, is None where it is not known.
    """

    features: jax.Array
    target: jax.Array
    mask: jax.Array | None
    error: jax.Array | None = None


class Density(NamedTuple):
    """The log density of a flat position (parameter,) and what belongs to it.

    `log_prior(position)` and `log_likelihood(position, data)` are scalars, Jacobians included in
    the first; `variables(position)` names the weights and the noise; `draw_prior(seed)` is a
    position drawn from the prior.
    """

    size: int
    log_prior: Callable[[jax.Array], jax.Array]
    log_likelihood: Callable[[jax.Array, Data], jax.Array]
    variables: Callable[[jax.Array], dict[str, jax.Array]]
    draw_prior: Callable[[int], jax.Array]
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]
    layout: str
    chunk: int
    dtype: np.dtype
    mesh: Mesh | None

    def log_density(
        self, position: jax.Array, data: Data, inverse_temperature: float | jax.Array = 1.0
    ) -> jax.Array:
        """Log density of the posterior up to the evidence, its likelihood flattened if asked."""
        likelihood = self.log_likelihood(position, data)
        return self.log_prior(position) + inverse_temperature * likelihood

    def place(
        self, features: np.ndarray, target: np.ndarray, error: np.ndarray | None = None
    ) -> Data:
        """Lay out features (point, feature), target and error (point,) for this density."""
        data = place_rows(
            features,
            target,
            error,
            layout=self.layout,
            chunk=self.chunk,
            shards=self.mesh.size if self.mesh else 1,
        )
        if self.mesh is None:
            return data
        return jax.device_put(data, NamedSharding(self.mesh, PartitionSpec(ROWS)))

    def batch(self, features: jax.Array, target: jax.Array, error: jax.Array | None = None) -> Data:
        """Lay out rows that are already JAX arrays as one chunk; may be traced."""
        placed = features.T if self.layout == "columns" else features
        return Data(placed[None], target[None], None, None if error is None else error[None])


def choose_layout(widest: int, device: str = "cpu") -> tuple[str, int]:
    """Choose the layout and the rows per chunk (0: all at once) by the widest layer.

    On a CPU narrow layers run fastest with units first; chunks are as long as their activations
    stay in the cache (`benchmarks/gradient.py` measures the forms). A GPU wants long chunks, which
    bound its memory.
    """
    if device == "gpu":
        return "rows", 16384
    if widest <= NARROW:
        return "columns", 1024
    return ("columns" if widest <= WIDE else "rows"), 512


def place_rows(
    features: np.ndarray,
    target: np.ndarray,
    error: np.ndarray | None = None,
    *,
    layout: str,
    chunk: int,
    shards: int = 1,
) -> Data:
    """Cut rows into chunks of equal length, as many for each shard, the tail padded and masked."""
    points = len(target)
    each = -(-points // shards)
    length = min(chunk, each) if chunk else each
    padding = -points % (length * shards)
    dtype = pytensor.config.floatX
    rows = np.pad(np.asarray(features, dtype), ((0, padding), (0, 0)))
    rows = rows.reshape(-1, length, rows.shape[1])
    if layout == "columns":
        rows = rows.swapaxes(1, 2)
    mask = (np.arange(points + padding) < points).reshape(-1, length)

    def cut(column: np.ndarray) -> jax.Array:
        padded = np.pad(np.asarray(column, dtype), (0, padding))
        return jnp.asarray(padded.reshape(-1, length))

    return Data(
        features=jnp.asarray(rows),
        target=cut(target),
        mask=jnp.asarray(mask) if padding else None,
        error=None if error is None else cut(error),
    )


def build_density(posterior: Posterior, *, chunk: int, shards: int = 1) -> Density:
    """Compile a PyMC posterior into JAX functions of a flat position.

    With several shards the chunks are dealt to as many devices, which sum their parts.

    Raises
    ------
    InputError
        If JAX works in another precision than PyTensor, or has too few devices.
    """
    _check_precision()
    model = posterior.model
    names = [variable.name for variable in model.value_vars]
    draw_point = make_initial_point_fn(
        model=model, default_strategy="prior", return_transformed=True
    )
    point = {name: jnp.asarray(value) for name, value in draw_point(0).items()}
    flat, unravel = ravel_pytree([point[name] for name in names])
    log_prior = _jaxify(model.value_vars, model.logp(vars=model.free_RVs, sum=False))
    row_log_likelihood = _row_log_likelihood(model)
    variables = _jaxify(model.value_vars, _named(model))
    variable_names = [variable.name for variable in _named(model)]

    mesh = _mesh(shards)

    def flatten(initial: dict[str, np.ndarray]) -> jax.Array:
        return ravel_pytree([jnp.asarray(initial[name], flat.dtype) for name in names])[0]

    return Density(
        size=flat.size,
        log_prior=lambda position: jnp.sum(ravel_pytree(log_prior(*unravel(position)))[0]),
        log_likelihood=_chunked(lambda q, *data: row_log_likelihood(*unravel(q), *data)[0], mesh),
        variables=lambda q: dict(zip(variable_names, variables(*unravel(q)), strict=True)),
        draw_prior=lambda seed: flatten(draw_point(seed)),
        dims={name: tuple(model.named_vars_to_dims.get(name, ())) for name in variable_names},
        coords=dict(model.coords),
        layout=posterior.layout,
        chunk=chunk,
        dtype=flat.dtype,
        mesh=mesh,
    )


def _mesh(shards: int) -> Mesh | None:
    if len(jax.devices()) < shards:
        raise InputError(
            f"execution.shards: {shards} devices asked for, JAX finds {len(jax.devices())}; "
            "use fewer"
        )
    return Mesh(np.asarray(jax.devices()[:shards]), (ROWS,)) if shards > 1 else None


def _chunked(
    rows: Callable[..., jax.Array], mesh: Mesh | None
) -> Callable[[jax.Array, Data], jax.Array]:
    """Sum a function of rows over the masked chunks of the data, and over the devices of a mesh.

    With several chunks the gradient is summed beside the value, chunk by chunk, so that no
    activation outlives its chunk.
    """

    def chunk_sum(position: jax.Array, chunk: Data) -> jax.Array:
        error = () if chunk.error is None else (chunk.error,)
        values = rows(position, chunk.features, chunk.target, *error)
        return jnp.sum(values if chunk.mask is None else jnp.where(chunk.mask, values, 0))

    def sum_chunks(one: Callable[..., Any], position: jax.Array, data: Data) -> Any:
        shapes = jax.eval_shape(one, position, jax.tree.map(lambda x: x[0], data))
        zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

        def add(sums: Any, chunk: Data) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, sums, one(position, chunk)), None

        return jax.lax.scan(add, zeros, data)[0]

    def sum_shards(one: Callable[..., Any], position: jax.Array, data: Data) -> Any:
        if mesh is None or len(data.target) % mesh.size:
            return sum_chunks(one, position, data)
        return jax.shard_map(
            lambda q, part: jax.lax.psum(sum_chunks(one, q, part), ROWS),
            mesh=mesh,
            in_specs=(PartitionSpec(), PartitionSpec(ROWS)),
            out_specs=PartitionSpec(),
            check_vma=False,
        )(position, data)

    @jax.custom_vjp
    def many(position: jax.Array, data: Data) -> jax.Array:
        return sum_shards(chunk_sum, position, data)

    def forward_pass(position: jax.Array, data: Data) -> tuple[jax.Array, jax.Array]:
        return sum_shards(jax.value_and_grad(chunk_sum), position, data)

    def backward_pass(gradient: jax.Array, cotangent: jax.Array) -> tuple[jax.Array, None]:
        return cotangent * gradient, None

    many.defvjp(forward_pass, backward_pass)

    def total(position: jax.Array, data: Data) -> jax.Array:
        if len(data.target) == 1:
            return chunk_sum(position, jax.tree.map(lambda x: x[0], data))
        return many(position, data)

    return total


def _row_log_likelihood(model: pm.Model) -> Callable[..., list[jax.Array]]:
    """Jaxify the log likelihood of each row with the data as arguments, the error if it has one."""
    [elementwise] = model.logp(vars=[model[TARGET]], sum=False)
    names = (FEATURES, f"{TARGET}_data", ERROR)
    shared = [model[name] for name in names if name in model]
    arguments = [variable.type.clone(shape=(None,) * variable.ndim)() for variable in shared]
    replaced = clone_replace([elementwise], dict(zip(shared, arguments, strict=True)))
    return _jaxify([*model.value_vars, *arguments], replaced)


def _named(model: pm.Model) -> list[Any]:
    """Pick what a posterior is read by: weights, biases, noise; never whitened twins."""
    free = [variable for variable in model.free_RVs if not variable.name.endswith(WHITENED)]
    graph = model.replace_rvs_by_values([*free, *model.deterministics])
    for variable, original in zip(graph, [*free, *model.deterministics], strict=True):
        variable.name = original.name
    return sorted(graph, key=lambda variable: str(variable.name))


def _jaxify(inputs: list[Any], outputs: list[Any]) -> Callable[..., list[jax.Array]]:
    return get_jaxified_graph(inputs=list(inputs), outputs=list(outputs))


def _check_precision() -> None:
    jax_precision = str(jnp.zeros(()).dtype)
    if pytensor.config.floatX != jax_precision:
        raise InputError(
            f"precision: PyTensor works in {pytensor.config.floatX} and JAX in {jax_precision}; "
            "set PYTENSOR_FLAGS=floatX=... before the first import"
        )
