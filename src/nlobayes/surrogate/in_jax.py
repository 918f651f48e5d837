"""What a surrogate predicts, as a pure function of JAX that can be differentiated.

It computes in JAX's own precision, whatever that of the draws: with `jax_enable_x64` in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.references import columns_behind
from nlobayes.data.transforms import feature_transform, standardise_features
from nlobayes.distributions.mixture import Mixture
from nlobayes.distributions.tabulated import Tabulated
from nlobayes.errors import InputError
from nlobayes.model.networks import forward, layers_of, network_of
from nlobayes.surrogate.evaluation import for_all_points
from nlobayes.surrogate.mixture import (
    LN10,
    Chunk,
    Prediction,
    check_probabilities,
    locate,
    pieces,
)
from nlobayes.surrogate.outputs import Output, output_of
from nlobayes.types import Exported

Function = Callable[[Any], Prediction]

_HALVINGS = 50


def function_of(exported: Exported, probabilities: Sequence[float]) -> Function:
    """Make the function of `Surrogate.as_jax` of a surrogate of one target (`targets.one_by_one`).

    Raises
    ------
    InputError
        If it needs the embedded engine or a feature map of NumPy alone, or a probability is none
        that the noise knows.
    """
    facts, output = exported.facts, output_of(exported)
    relative_to = output.transform.relative_to
    if relative_to is not None and "column" not in relative_to:
        raise InputError("surrogate.engine_not_in_jax", calculation=relative_to["calculation"])
    check_probabilities(output.noise, probabilities)
    network = network_of(exported.variables, facts["activation"])
    in_double = {name: np.asarray(of, np.float64) for name, of in exported.variables.items()}
    layers = [for_all_points(layer) for layer in layers_of(network, in_double)]
    columns, behind = facts["columns"], len(columns_behind(relative_to))
    features = feature_transform(facts["transforms"]["features"])
    summary = partial(_summary, output=output, probabilities=probabilities)

    def predict(x: Any) -> Prediction:
        given = jnp.asarray(x, float)
        if given.ndim == 0 or given.shape[-1] != len(columns):
            raise InputError(
                "surrogate.other_shape", shape=given.shape, count=len(columns), inputs=columns
            )
        points = given.reshape(-1, len(columns))
        mapped = FEATURE_MAPS[features.map].apply(points[:, : len(columns) - behind])
        seen = standardise_features(features, mapped)
        offset = _offset(output, points[:, -1] if behind else None)
        outputs = forward(network, layers, seen, xp=jnp)
        known = jnp.isfinite(seen).all(axis=1) & jnp.isfinite(offset)
        scaled = outputs * output.transform.sd + output.transform.mean + offset
        found = summary(Chunk(scaled, seen))
        shape = given.shape[:-1]
        return Prediction(*(_shaped(values, known, shape) for values in found))

    _check_traceable(predict, len(columns), features.map)
    return predict


def _check_traceable(predict: Function, inputs: int, name: str) -> None:
    try:
        jax.eval_shape(predict, jnp.zeros((1, inputs)))
    except jax.errors.TracerArrayConversionError:
        raise InputError("surrogate.map_not_in_jax", map=name) from None


def _offset(output: Output, reference: jax.Array | None) -> jax.Array:
    """Give the reference (point,) on the model scale; NaN where it has no logarithm."""
    if reference is None:
        return jnp.zeros(())
    if output.transform.scale != "log10":
        return reference
    return jnp.log10(jnp.where(reference > 0, reference, jnp.nan))


def _shaped(values: Any, known: jax.Array, shape: tuple[int, ...]) -> Any:
    """Give values (..., point) the axes of the points, NaN at those that are not known."""
    return jnp.where(known, values, jnp.nan).reshape(*values.shape[:-1], *shape)


def _summary(chunk: Chunk, output: Output, probabilities: Sequence[float]) -> Prediction:
    """Summarise the predictive of points as `Output.summary` does."""
    functions: Any = chunk.functions
    about_draws = output.noise.about == "draws"
    centres, law = locate(chunk, output.noise)
    asked = [0.5, *probabilities]
    median, *found = Mixture(centres, law, _by_bisection).quantiles(asked)
    quantiles: Any = jnp.stack([jnp.asarray(median), *found])
    mean: Any
    total_sd: Any
    if output.transform.scale == "log10":
        targets, excess = 10.0**functions, [_excess(law, power) for power in (1, 2)]
        centre = targets.mean(axis=0) if about_draws else 10.0 ** centres[0]
        within = jnp.maximum(excess[1] - 2 * excess[0] - excess[0] ** 2, 0)
        between = targets.var(axis=0) if about_draws else 0.0
        mean, posterior_sd = (1 + excess[0]) * centre, targets.std(axis=0)
        total_sd = jnp.sqrt((1 + excess[1]) * between + within * centre**2)
        quantiles = 10.0**quantiles
    else:
        mean, posterior_sd = functions.mean(axis=0), functions.std(axis=0)
        total_sd = jnp.hypot(posterior_sd, law.sd()) if about_draws else law.sd()
    return Prediction(mean, quantiles[0], posterior_sd, total_sd, quantiles[1:])


def _excess(law: Tabulated, power: int) -> jax.Array:
    """Give the mean of 10^(power times noise) at each point, less one; as in `mixture`."""
    middle, shares = pieces(law)
    rates: Any = power * LN10 * law.scale
    grown = 2 * jnp.square(jnp.sinh(rates[:, np.newaxis] * middle / 2))
    return (grown * jnp.asarray(shares)[law.bins]).sum(axis=1)


def _by_bisection(centres: Any, law: Tabulated, probabilities: Sequence[float]) -> list[Any]:
    """Solve for quantiles to rounding; a last step of Newton's method carries their derivatives."""
    scaled, table = centres / law.scale, law.probability[0]
    density = np.pad(np.diff(table) / np.diff(law.residual), 1)

    def below(value: jax.Array, about: jax.Array) -> jax.Array:
        return jnp.interp(value - about, law.residual, table).mean(axis=0)

    def slope(value: jax.Array, about: jax.Array) -> jax.Array:
        node = jnp.searchsorted(law.residual, value - about, side="right")
        return jnp.asarray(density)[node].mean(axis=0)

    def solved(probability: float) -> jax.Array:
        single, fixed = law.single_quantiles(probability)[0], jax.lax.stop_gradient(scaled)

        def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            low, high = ends
            middle = (low + high) / 2
            beyond = below(middle, fixed) > probability
            return jnp.where(beyond, low, middle), jnp.where(beyond, middle, high)

        ends = (fixed.min(axis=0) + single - 1e-6, fixed.max(axis=0) + single + 1e-6)
        low, high = jax.lax.fori_loop(0, _HALVINGS, halve, ends)
        root = (low + high) / 2
        step = (below(root, scaled) - probability) / slope(root, fixed)
        return (root - step) * law.scale

    return [solved(probability) for probability in probabilities]
