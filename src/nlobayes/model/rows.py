"""The data in the form that the density takes: rows in chunks, laid out for the hardware."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytensor
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, PartitionSpec

from nlobayes.untyped import Array

WIDE = 512
ROWS_PER_CHUNK, VECTOR = 480, 16
"""Rows of a chunk on a CPU. Activations fit in the cache; and Eigen, which divides sums over more
rows by the size of the first cache, rounds gradients in float32 alike on all processors."""
ROWS = "rows"


class Data(NamedTuple):
    """Rows in chunks: features (chunk, ...) in the layout's order; other arrays (chunk, point).

    Target and error have a last axis (output) if there are several targets. The mask is None if
    every chunk is full. The error, the sd of the numerical noise of every target, is None if it is
    not known.
    """

    features: jax.Array
    target: jax.Array
    mask: jax.Array | None
    error: jax.Array | None = None


def choose_layout(widest: int, device: str = "cpu") -> tuple[str, int]:
    """Choose the layout and the rows per chunk (0: all at once) from the widest layer.

    On a CPU layers run fastest with units first, unless they are wide (`benchmarks/gradient.py`
    measures the forms). A GPU works best with long chunks, which bound its memory.
    """
    if device == "gpu":
        return "rows", 16384
    return ("columns" if widest <= WIDE else "rows"), ROWS_PER_CHUNK


def place_rows(
    features: np.ndarray,
    target: np.ndarray,
    error: np.ndarray | None = None,
    *,
    layout: str,
    chunk: int,
    shards: int = 1,
) -> Data:
    """Cut rows into equal chunks, equally many for each shard; pad and mask the last ones.

    Chunks have at most `chunk` rows; those of several have a multiple of the length of a vector.
    """
    points = len(target)
    each = length = -(-points // shards)
    if 0 < chunk < each:
        even = -(-each // -(-each // chunk))
        length = min(chunk, -(-even // VECTOR) * VECTOR)
    padding = -points % (length * shards)
    dtype = pytensor.config.floatX
    rows = np.pad(np.asarray(features, dtype), ((0, padding), (0, 0)))
    rows = rows.reshape(-1, length, rows.shape[1])
    if layout == "columns":
        rows = rows.swapaxes(1, 2)
    mask = (np.arange(points + padding) < points).reshape(-1, length)

    def cut(column: np.ndarray) -> jax.Array:
        outputs = column.shape[1:]
        padded = np.pad(np.asarray(column, dtype), ((0, padding), *((0, 0) for _ in outputs)))
        return jnp.asarray(padded.reshape(-1, length, *outputs))

    return Data(
        features=jnp.asarray(rows),
        target=cut(target),
        mask=jnp.asarray(mask) if padding else None,
        error=None if error is None else cut(error),
    )


def first_chunk(data: Data) -> Data:
    """Return the first chunk of rows, without the chunk axis."""
    return jax.tree.map(lambda x: x[0], data)


def columns_of(chunk: Data) -> tuple[jax.Array, ...]:
    """Return features, target and error of a chunk, as the log likelihood takes them."""
    error = () if chunk.error is None else (chunk.error,)
    return (chunk.features, chunk.target, *error)


def sum_over_rows(
    rows: Callable[..., jax.Array], mesh: Mesh | None
) -> Callable[[jax.Array, Data], jax.Array]:
    """Sum a function of rows over the masked chunks of the data, and over the devices of a mesh.

    With several chunks the gradient is summed together with the value, chunk by chunk, so that the
    memory holds the activations of one chunk only.
    """

    def chunk_sum(position: jax.Array, chunk: Data) -> jax.Array:
        values = rows(position, *columns_of(chunk))
        return jnp.sum(values if chunk.mask is None else jnp.where(chunk.mask, values, 0))

    def sum_chunks(one: Callable[..., Array], position: jax.Array, data: Data) -> Array:
        shapes = jax.eval_shape(one, position, first_chunk(data))
        zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

        def add(sums: Array, chunk: Data) -> tuple[Array, None]:
            return jax.tree.map(jnp.add, sums, one(position, chunk)), None

        return jax.lax.scan(add, zeros, data)[0]

    def sum_shards(one: Callable[..., Array], position: jax.Array, data: Data) -> Array:
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

    def backward_pass(gradient: Array, cotangent: jax.Array) -> tuple[Array, None]:
        return jax.tree.map(lambda part: cotangent * part, gradient), None

    many.defvjp(forward_pass, backward_pass)

    def total(position: jax.Array, data: Data) -> jax.Array:
        if len(data.target) == 1:
            return chunk_sum(position, first_chunk(data))
        return many(ravel_pytree(position)[0], data)  # one array: those of indicators are integers

    return total
