"""The predictions of a surrogate as a pure JAX function, which can be differentiated.

It computes in the precision of JAX, whatever the precision of the draws: with `jax_enable_x64` in
float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.references import make_reference
from nlobayes.data.transforms import feature_transform, standardise_features
from nlobayes.distributions.mixture import Mixture
from nlobayes.distributions.tabulated import TabulatedLaw
from nlobayes.errors import InputError
from nlobayes.model.networks import forward, layers_of, network_of
from nlobayes.surrogate import process
from nlobayes.surrogate.in_numpy import for_all_points
from nlobayes.surrogate.network_outputs import Output, output_of
from nlobayes.surrogate.prediction import process_function
from nlobayes.surrogate.predictive import (
    LN10,
    Chunk,
    Prediction,
    check_probabilities,
    locate,
    pieces,
)
from nlobayes.types import SurrogateContent
from nlobayes.untyped import Array

Function = Callable[[Array], Prediction]

_HALVINGS = 50
"""Halvings of a bracket; 2^-50 is near the rounding of float64."""


def function_of(
    exported: SurrogateContent,
    probabilities: Sequence[float] | None,
    network_inputs: Callable[[Array], Array],
) -> Function:
    """Make the function of `Surrogate.as_jax` for one target (see `network_outputs.one_by_one`).

    Without probabilities there are no quantiles, and the median is NaN. `network_inputs` is the
    method of the surrogate: it removes the column to which the first target is relative, which is
    no input of the network for any target.

    Raises InputError if the feature map needs NumPy, or a probability is outside the table of the
    noise.
    """
    facts, output = exported.facts, output_of(exported)
    check_probabilities(output.noise, (0.5, *(probabilities or ())))
    evaluate = _evaluate_with(exported)
    columns = facts["columns"]
    features = feature_transform(facts["transforms"]["features"])
    _check_of_jax(features.map, network_inputs(np.zeros((1, len(columns)))))
    summary = partial(_summary, output=output, probabilities=probabilities)

    def predict(x: Array) -> Prediction:
        given = jnp.asarray(x, float)
        if given.ndim == 0 or given.shape[-1] != len(columns):
            raise InputError(
                "surrogate.other_shape", shape=given.shape, count=len(columns), inputs=columns
            )
        points = given.reshape(-1, len(columns))
        mapped = FEATURE_MAPS[features.map].apply(network_inputs(points))
        seen = standardise_features(features, mapped)
        offset = _offset(output, dict(zip(columns, points.T, strict=True)))
        outputs = evaluate(seen)
        known = jnp.isfinite(seen).all(axis=1) & jnp.isfinite(offset)
        scaled = outputs * output.transform.sd + output.transform.mean + offset
        predicted = summary(Chunk(scaled, seen))
        shape = given.shape[:-1]
        return Prediction(*(_shaped(values, known, shape) for values in predicted))

    return predict


def _evaluate_with(exported: SurrogateContent) -> Callable[[Array], Array]:
    """Build the function from features (point, feature) to f (draw, point) in double precision."""
    facts = exported.facts
    if process.is_process(exported):
        return process_function(exported)
    network = network_of(exported.variables, facts["activation"])
    in_double = {name: np.asarray(array, np.float64) for name, array in exported.variables.items()}
    layers = [for_all_points(layer) for layer in layers_of(network, in_double)]
    return lambda features: forward(network, layers, features, xp=jnp)


def _check_of_jax(name: str, point: np.ndarray) -> None:
    """Refuse a feature map that calls NumPy itself, or assigns to parts of arrays."""
    try:
        jax.eval_shape(FEATURE_MAPS[name].apply, point)
    except TypeError:
        raise InputError("surrogate.map_not_in_jax", map=name) from None


def _offset(output: Output, named: Mapping[str, Array]) -> jax.Array:
    """Return the reference (point,) on the model scale; NaN where it has no logarithm."""
    relative_to = output.transform.relative_to
    if relative_to is None:
        return jnp.zeros(())
    reference: Array = make_reference(relative_to).at(named)
    if output.transform.scale != "log10":
        return reference
    return jnp.log10(jnp.where(reference > 0, reference, jnp.nan))


def _shaped(values: Array, known: jax.Array, shape: tuple[int, ...]) -> Array:
    """Reshape values (..., point) to the axes of the points, with NaN at points not `known`."""
    return jnp.where(known, values, jnp.nan).reshape(*values.shape[:-1], *shape)


def _summary(chunk: Chunk, output: Output, probabilities: Sequence[float] | None) -> Prediction:
    """Summarise the predictive of points, as `Output.summary` does."""
    functions: Array = chunk.functions
    about_draws = output.noise.about == "draws"
    centres, law = locate(chunk, output.noise)
    quantiles: Array = jnp.full_like(functions[:1], jnp.nan)
    if probabilities is not None:
        requested = [0.5, *probabilities]
        quantiles = jnp.stack([*Mixture(centres, law, _by_bisection).quantiles(requested)])
    mean: Array
    total_sd: Array
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


def _excess(law: TabulatedLaw, power: int) -> jax.Array:
    """Compute the mean of 10^(power times noise) at each point, minus one; as in `mixture`."""
    middle, shares = pieces(law)
    rates: Array = power * LN10 * law.scale
    grown = 2 * jnp.square(jnp.sinh(rates[:, np.newaxis] * middle / 2))
    return (grown * jnp.asarray(shares)[law.bins]).sum(axis=1)


def _by_bisection(centres: Array, law: TabulatedLaw, probabilities: Sequence[float]) -> list[Array]:
    """Solve for quantiles to rounding; the last step is Newton's, which gives the derivatives."""
    scaled, table = centres / law.scale, law.probability[0]
    density = np.pad(np.diff(table) / np.diff(law.residual), 1)

    def below(value: jax.Array, about: jax.Array) -> jax.Array:
        return jnp.interp(value - about, law.residual, table).mean(axis=0)

    def slope(value: jax.Array, about: jax.Array) -> jax.Array:
        node = jnp.searchsorted(law.residual, value - about, side="right")
        return jnp.asarray(density)[node].mean(axis=0)

    def solved(probability: float) -> jax.Array:
        single, fixed = law.single_quantiles(probability)[0], jax.lax.stop_gradient(scaled)

        def halve(_: int, carried: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            low, high, about = carried
            middle = (low + high) / 2
            beyond = below(middle, about) > probability
            return jnp.where(beyond, low, middle), jnp.where(beyond, middle, high), about

        # A quantile of the mixture lies between those of its outermost components; 1e-6 is for
        # rounding. Newton steps alone would leave this bracket where the density between separate
        # centres is zero.
        ends = (fixed.min(axis=0) + single - 1e-6, fixed.max(axis=0) + single + 1e-6)
        low, high, _ = jax.lax.fori_loop(0, _HALVINGS, halve, (*ends, fixed))
        root = (low + high) / 2
        # The root is a constant to JAX. This last step is zero but for rounding, and its derivative
        # by the centres is that of the quantile, as for any implicit function.
        step = (below(root, scaled) - probability) / slope(root, fixed)
        return (root - step) * law.scale

    return [solved(probability) for probability in probabilities]
