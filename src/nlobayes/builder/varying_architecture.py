"""The varying architecture of a job's network, for its PyMC model and for its kernel."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.varying_part import Architecture, Arrays, Identity, Layers, Units
from nlobayes.model.density import Density
from nlobayes.model.networks import DEPTH, UNITS, WIDTH, Layer, Network, layer_names
from nlobayes.model.prior import WHITENED
from nlobayes.model.varying_sizes import PADDED, VaryingSizes, log_probabilities
from nlobayes.study.network import Network as NetworkPreset


def varying_of(preset: NetworkPreset) -> VaryingSizes | None:
    """Return the prior of the varying sizes of a network; None if it is fixed."""
    if preset.units is not None:
        counts = preset.units.model_dump()
        return VaryingSizes(tuple(log_probabilities(most=most, **counts) for most in preset.hidden))
    if preset.layers is not None:
        counts = preset.layers.model_dump()
        return VaryingSizes(depth=log_probabilities(most=len(preset.hidden), **counts))
    return None


def prior_of_sizes(preset: NetworkPreset) -> dict[str, np.ndarray]:
    """Return the prior probability of each number from 0 for the varying sizes, by their names."""
    varying = varying_of(preset) or VaryingSizes()
    widths = {f"{WIDTH}_{n}": np.exp(log) for n, log in enumerate(varying.units or (), start=1)}
    return widths if varying.depth is None else {**widths, DEPTH: np.exp(varying.depth)}


def architecture_of(
    network: Network, density: Density, varying: VaryingSizes | None
) -> Architecture | None:
    """Find the entries of a position that describe a varying architecture; None if it is fixed."""
    if varying is None:
        return None
    places = [_places(density, names) for names in layer_names(network)]
    arrays = Arrays(density.unravel, tuple(density.places.values()))
    if varying.units is not None:
        return Architecture(
            tuple(
                Units(
                    used=np.arange(density.size)[density.places[f"{UNITS}_{number}"]],
                    into=np.vstack([into.weights, into.biases[None]]).T,
                    out=out.weights,
                    fewest=_fewest(log_probability),
                )
                for number, (into, out, log_probability) in enumerate(
                    zip(places[:-1], places[1:], varying.units, strict=True), start=1
                )
            ),
            arrays=arrays,
        )
    assert varying.depth is not None
    entries = np.stack([_entries(layer) for layer in places[1:-1]])
    at = density.places[DEPTH].start
    identity = _identity(density, places[1:-1], at)
    layers = Layers(at, entries, identity, _entries(places[-1]), _fewest(varying.depth))
    return Architecture((), layers, arrays)


def _places(density: Density, names: Layer) -> Layer:
    """Find the entries of a layer in a position, in the shape of its arrays."""
    weights, biases = (
        np.arange(density.size)[_slice(density, name)] for name in (names.weights, names.biases)
    )
    return Layer(weights.reshape(-1, len(biases)), biases)


def _slice(density: Density, name: str) -> slice:
    padded = name + PADDED
    return density.places.get(padded + WHITENED) or density.places[padded]


def _entries(layer: Layer) -> np.ndarray:
    return np.concatenate([np.ravel(layer.weights), np.ravel(layer.biases)])


def _fewest(log_probability: np.ndarray) -> int:
    return int(np.flatnonzero(np.isfinite(log_probability))[0])


def _identity(density: Density, layers: list[Layer], depth_at: int) -> Identity:
    """Build the entries (layer, entry) that make each layer the identity, of a position.

    An entry is in units of its scale, the derivative of its weight: a constant, or a value of the
    position. The scale does not depend on the entries themselves.
    """
    along = np.zeros(density.size, density.dtype)
    along[np.concatenate([_entries(layer) for layer in layers])] = 1

    def identity(position: jax.Array) -> jax.Array:
        def weights(entries: jax.Array) -> list[jax.Array]:
            variables = density.variables(entries.at[depth_at].set(1 + len(layers)))
            return [variables[f"weights_{number}"] for number in range(2, 2 + len(layers))]

        scales = jax.jvp(weights, (position,), (jnp.asarray(along),))[1]
        eyes = jnp.stack([(jnp.eye(len(scale)) / scale).ravel() for scale in scales])
        return jnp.hstack([eyes, jnp.zeros((len(layers), len(layers[0].biases)), eyes.dtype)])

    return identity
