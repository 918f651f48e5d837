"""The PyMC model: the only definition of the statistics, with named variables and dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.pytensorf import floatX

from nlobayes.model.earlier_data import Site
from nlobayes.model.likelihood import ERROR, TARGET, Likelihood
from nlobayes.model.networks import (
    SLOPES,
    Layer,
    Network,
    forward,
    last_hidden,
    layer_names,
    layers_of,
    read_out,
)
from nlobayes.model.prior import Parameters, Prior, Statement, arrays_of
from nlobayes.model.varying_sizes import PADDED, VaryingSizes, state_varying
from nlobayes.untyped import Array

FEATURES = "features"
EARLIER = "earlier"
POINT = "point"


class Placeholders(Protocol):
    """A PyMC model whose data are placeholders, its layout of the features, its earlier misfit."""

    @property
    def model(self) -> pm.Model:
        """The PyMC model."""
        ...

    @property
    def layout(self) -> str:
        """The order of the axes of the features."""
        ...

    @property
    def earlier(self) -> Array:
        """The misfit (combination,) of the earlier data, in units of their noise."""
        ...


class Posterior(NamedTuple):
    """A PyMC model whose data are placeholders, and its layout of the features.

    `hidden` is its last hidden layer; the weights and biases named by `output` map it to the
    outputs. `earlier` is the misfit (combination,) of the earlier data, in units of their noise.
    """

    model: pm.Model
    layout: str
    hidden: Array
    output: tuple[str, str]
    earlier: Array


def unit_dims(network: Network) -> tuple[str, ...]:
    """Name the axis of the units of each layer, inputs and output included."""
    hidden = (f"hidden_{i}" for i in range(1, len(network.sizes) - 1))
    return ("feature", *hidden, "output")


def build_posterior(
    network: Network,
    prior: Prior,
    likelihood: Likelihood,
    *,
    feature_names: Sequence[str],
    layout: str,
    slopes: Statement | None = None,
    errors: bool = False,
    targets: int = 1,
    non_centered: bool = True,
    earlier: Site | None = None,
    varying: VaryingSizes | None = None,
) -> Posterior:
    """Define prior and likelihood of a network for data that are given later.

    The features are (point, feature) in layout `rows` and (feature, point) in layout `columns`.
    Features and target are `pm.Data` that `density` turns into arguments; with `errors`, so is the
    sd of the numerical noise of every target. Several `targets` have axes (point, output).
    Activations with trained slopes need a prior of the slopes. Without `non_centered` the variables
    of the model are the named ones, which `Density.locate` places. `earlier` data multiply the
    prior. With `varying` the network is the largest one, and its units and layers in use are drawn.
    """
    dims = unit_dims(network)
    coords: dict[str, Any] = {"feature": list(feature_names)}
    coords |= {dim: np.arange(size) for dim, size in zip(dims[1:], network.sizes[1:], strict=True)}
    blank = np.zeros((1,) if targets == 1 else (1, targets))
    with pm.Model(coords=coords) as model:
        shape = (1, network.sizes[0])
        features = pm.Data(FEATURES, np.zeros(shape if layout == "rows" else shape[::-1]))
        target = pm.Data(f"{TARGET}_data", blank)
        arrays = arrays_of(network, dims, non_centered=non_centered)
        stated = _state_all(network, arrays, prior, slopes, varying)
        layers = layers_of(network, stated)
        apart = pt.zeros(0)
        if earlier is not None:
            apart = _add_earlier(earlier, network, layers, layout)
        hidden = last_hidden(network, layers, features, xp=pt, layout=layout)
        output = read_out(network, layers[-1], hidden, layout=layout)
        error = pm.Data(ERROR, blank) if errors else None
        likelihood.observe(output, target, error)
    names = layer_names(network)[-1]
    return Posterior(model, layout, hidden, (names.weights, names.biases), apart)


def condition(
    posterior: Placeholders,
    *,
    features: np.ndarray,
    target: np.ndarray,
    error: np.ndarray | None,
    rows: np.ndarray,
) -> pm.Model:
    """Set the data of a PyMC model, labelled by the numbers of their rows (point,).

    Features are (point, feature), target and error (point,) or (point, output); the error is None
    where the posterior has none.
    """
    model, dims_of_target = posterior.model, (POINT, "output")[: target.ndim]
    placed = features if posterior.layout == "rows" else features.T
    given = {FEATURES: placed, f"{TARGET}_data": target, ERROR: error}
    pm.set_data({name: data for name, data in given.items() if data is not None}, model=model)
    model.add_coord(POINT, rows)
    of_features = (POINT, "feature") if posterior.layout == "rows" else ("feature", POINT)
    named = {
        FEATURES: of_features,
        **dict.fromkeys((f"{TARGET}_data", TARGET, ERROR), dims_of_target),
    }
    model.named_vars_to_dims |= {name: dims for name, dims in named.items() if name in model}
    return model


def _add_earlier(earlier: Site, network: Network, layers: Sequence[Layer], layout: str) -> Array:
    placed = earlier.features if layout == "rows" else earlier.features.T
    function = forward(network, layers, pt.as_tensor(floatX(placed)), xp=pt, layout=layout)
    apart = pt.dot(floatX(earlier.root), function) - floatX(earlier.observed)
    pm.Potential(EARLIER, -0.5 * pt.sum(apart**2))
    return apart


def _state_all(
    network: Network,
    arrays: Sequence[Parameters],
    prior: Prior,
    slopes: Statement | None,
    varying: VaryingSizes | None,
) -> dict[str, Array]:
    """Define the arrays of a network; if it varies, the largest ones and their parts in use."""
    if varying is None:
        return _state(arrays, prior, slopes)
    padded = [array._replace(name=array.name + PADDED) for array in arrays]
    stated = _state(padded, prior, slopes)
    largest = {name.removesuffix(PADDED): array for name, array in stated.items()}
    return state_varying(varying, largest, layer_names(network), unit_dims(network))


def _state(
    arrays: Sequence[Parameters], prior: Prior, slopes: Statement | None
) -> dict[str, Array]:
    stated = {}
    for parameters in arrays:
        of_role = slopes if parameters.role == SLOPES else prior
        assert of_role is not None, "slopes without a prior are refused when a study is validated"
        stated[parameters.name] = of_role.state(parameters)
    return stated
