"""Tests of a custom activation or layer before anything is sampled with it."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytensor
import pytensor.tensor as pt

from nlobayes.errors import InputError
from nlobayes.model.density import jaxify
from nlobayes.untyped import Array

TRIED = np.linspace(-3, 3, 12).reshape(3, 4)
"""Arguments of the test (point, unit)."""
APART = 1e-3
"""Largest allowed difference of two array modules, relative to the larger of 1 and the value."""


def check_activation(function: Callable[[Array, Array], Array], where: str) -> None:
    """Refuse a function that is not an activation for all of NumPy, JAX and PyTensor.

    Raises InputError if it raises, gives another shape or type or a value that is not finite, or
    differs between NumPy and another array module.
    """
    x = TRIED.astype(pytensor.config.floatX)
    expected = np.asarray(function(np, x))
    if not _is_array_of(expected, x.shape):
        raise InputError(
            "model.own_activation_of_numpy",
            where=where,
            function=str(function),
            shape=expected.shape,
            dtype=str(expected.dtype),
            expected_shape=x.shape,
            expected_dtype=str(x.dtype),
        )
    _check_other_modules(function, [x], expected, where)


def check_layer(function: Callable[..., Array], into: int, out: int, where: str) -> None:
    """Refuse a function that is not a layer from so many units to so many, as an activation.

    Raises InputError as `check_activation`, or if a row depends on other rows.
    """
    rng, dtype = np.random.default_rng(0), pytensor.config.floatX
    shapes = ((3, into), (into, out), (out,))
    x, weights, biases = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    expected = np.asarray(function(np, x, weights, biases))
    is_one = _is_array_of(expected, (3, out))
    if is_one:
        alone = np.asarray(function(np, x[:1], weights, biases))
        is_one = alone.shape == (1, out) and bool(_apart(alone, expected[:1]) <= APART)
    if not is_one:
        raise InputError(
            "model.own_layer_of_numpy",
            where=where,
            function=str(function),
            shape=expected.shape,
            dtype=str(expected.dtype),
            inputs=x.shape,
            weights=weights.shape,
            biases=biases.shape,
            expected_shape=(3, out),
            expected_dtype=dtype,
        )
    _check_other_modules(function, [x, weights, biases], expected, where)


def _is_array_of(found: np.ndarray, shape: tuple[int, ...]) -> bool:
    is_alike = found.shape == shape and found.dtype == pytensor.config.floatX
    return is_alike and bool(np.isfinite(found).all())


def _apart(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference relative to the larger of 1 and the value."""
    return float(np.max(np.abs(found - expected) / np.maximum(1, np.abs(expected))))


def _check_other_modules(
    function: Callable[..., Array], given: list[np.ndarray], expected: np.ndarray, where: str
) -> None:
    for name, evaluate in (("jax.numpy", _by_jax), ("pytensor.tensor", _by_pytensor)):
        found = np.asarray(evaluate(function, given))
        apart = _apart(found, expected) if found.shape == expected.shape else np.inf
        if not apart <= APART:
            raise InputError(
                "model.own_activation_differs",
                where=where,
                function=str(function),
                xp=name,
                apart=apart,
            )


def _by_jax(function: Callable[..., Array], given: list[np.ndarray]) -> Array:
    return function(jnp, *map(jnp.asarray, given))


def _by_pytensor(function: Callable[..., Array], given: list[np.ndarray]) -> Array:
    arguments = [pt.tensor(dtype=each.dtype, shape=(None,) * each.ndim) for each in given]
    graph = pt.as_tensor(function(pt, *arguments))
    try:
        return jaxify(arguments, [graph])(*map(jnp.asarray, given))[0]
    except NotImplementedError as error:
        raise InputError(
            "model.own_activation_without_jax", function=str(function), reason=str(error)
        ) from error
