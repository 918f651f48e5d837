"""Tests of a custom activation before anything is sampled with it."""

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
    if expected.shape != x.shape or expected.dtype != x.dtype or not np.isfinite(expected).all():
        raise InputError(
            "model.own_activation_of_numpy",
            where=where,
            function=str(function),
            shape=expected.shape,
            dtype=str(expected.dtype),
            expected_shape=x.shape,
            expected_dtype=str(x.dtype),
        )
    for name, evaluate in (("jax.numpy", _by_jax), ("pytensor.tensor", _by_pytensor)):
        found = np.asarray(evaluate(function, x))
        apart = np.abs(found - expected) if found.shape == x.shape else np.array(np.inf)
        if not np.all(apart <= APART * np.maximum(1, np.abs(expected))):
            raise InputError(
                "model.own_activation_differs",
                where=where,
                function=str(function),
                xp=name,
                apart=float(np.max(apart)),
            )


def _by_jax(function: Callable[[Array, Array], Array], x: np.ndarray) -> Array:
    return function(jnp, jnp.asarray(x))


def _by_pytensor(function: Callable[[Array, Array], Array], x: np.ndarray) -> Array:
    argument = pt.matrix("x")
    graph = pt.as_tensor(function(pt, argument))
    try:
        return jaxify([argument], [graph])(jnp.asarray(x))[0]
    except NotImplementedError as error:
        raise InputError(
            "model.own_activation_without_jax", function=str(function), reason=str(error)
        ) from error
