"""PyMC -> PyTensor -> JAX: the log density of a flat position, with the data as arguments.

This module makes three conversions: named arrays become one flat vector, PyMC's data become
arguments (a compiled graph would freeze them), and the sum over rows is cut into chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from nlobayes.model.likelihood import ERROR, TARGET
from nlobayes.model.networks import is_parameter
from nlobayes.model.posterior import EARLIER, FEATURES, Placeholders
from nlobayes.model.prior import WHITENED
from nlobayes.model.rows import ROWS, Data, place_rows, sum_over_rows
from nlobayes.model.varying_sizes import PADDED
from nlobayes.untyped import Array

# The next import sets flags by which XLA creates 100 virtual CPU devices, for PyMC's own chains.
# XLA reads its flags when JAX first looks for devices, which this call makes happen before.
jax.devices()
from pymc.sampling.jax import get_jaxified_graph  # noqa: E402
from pytensor.link.jax.dispatch.basic import jax_funcify  # noqa: E402
from pytensor.scalar.math import Softplus  # noqa: E402


class Density(NamedTuple):
    """The log density of a flat position (parameter,), and functions of such positions.

    - `log_prior(position)` is a scalar with Jacobians, `bare_log_prior(position)` one without.
    - `log_prior_alone(position)` leaves out the earlier data, whose log density is minus half the
      squares of `earlier(position)` (combination,).
    - `log_likelihood(position, data)` is a scalar.
    - `variables(position)` gives the weights, their scales and the noise by name.
    - `draw_prior(seed)` draws a position from the prior.
    - `locate(variables)` gives the position of named variables of a centered model.
    - `places` holds the slice of a position for each free variable of the PyMC model.
    - `unravel(position)` gives the value variables of that model, in its order.
    """

    size: int
    log_prior: Callable[[jax.Array], jax.Array]
    bare_log_prior: Callable[[jax.Array], jax.Array]
    log_prior_alone: Callable[[jax.Array], jax.Array]
    earlier: Callable[[jax.Array], jax.Array]
    log_likelihood: Callable[[jax.Array, Data], jax.Array]
    variables: Callable[[jax.Array], dict[str, jax.Array]]
    draw_prior: Callable[[int], jax.Array]
    locate: Callable[[dict[str, jax.Array]], jax.Array]
    places: dict[str, slice]
    unravel: Callable[[jax.Array], list[jax.Array]]
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]
    layout: str
    chunk: int
    dtype: np.dtype
    mesh: Mesh | None

    def log_density(
        self, position: jax.Array, data: Data, inverse_temperature: float | jax.Array = 1.0
    ) -> jax.Array:
        """Return the posterior's log density up to the evidence, with the likelihood tempered."""
        likelihood = self.log_likelihood(position, data)
        return self.log_prior(position) + inverse_temperature * likelihood

    def place(
        self, features: np.ndarray, target: np.ndarray, error: np.ndarray | None = None
    ) -> Data:
        """Lay out features (point, feature), target and error (point, ...) for this density."""
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
        """Lay out rows of JAX arrays as one chunk; the function may be traced."""
        placed = features.T if self.layout == "columns" else features
        return Data(placed[None], target[None], None, None if error is None else error[None])


def build_density(posterior: Placeholders, *, chunk: int, shards: int = 1) -> Density:
    """Compile a PyMC posterior into JAX functions of a flat position.

    With several shards the chunks are distributed over as many devices, which sum their parts.

    Raises InputError if JAX works in another precision than PyTensor, or has too few devices.
    """
    _check_precision()
    model = posterior.model
    names = [variable.name for variable in model.value_vars]
    draw_point = make_initial_point_fn(
        model=model, default_strategy="prior", return_transformed=True
    )
    point = {name: jnp.asarray(value) for name, value in draw_point(0).items()}
    flat, unravel = ravel_pytree([point[name] for name in names])
    log_prior, log_prior_alone = _log_prior(model), _log_prior(model, without=(EARLIER,))
    earlier = jaxify(model.value_vars, model.replace_rvs_by_values([posterior.earlier]))
    rows = _row_log_likelihood(model)
    variables = jaxify(model.value_vars, _named(model))
    variable_names = [variable.name for variable in _named(model)]

    mesh = _mesh(shards)

    def arrays(position: jax.Array | list[jax.Array]) -> list[jax.Array]:
        return position if isinstance(position, list) else unravel(position)

    def bare_log_prior(position: jax.Array) -> jax.Array:
        return _total(_log_prior(model, jacobian=False)(*unravel(position)))

    def flatten(initial: dict[str, np.ndarray]) -> jax.Array:
        return ravel_pytree([jnp.asarray(initial[name], flat.dtype) for name in names])[0]

    return Density(
        size=flat.size,
        log_prior=lambda position: _total(log_prior(*arrays(position))),
        bare_log_prior=bare_log_prior,
        log_prior_alone=lambda q: _total(log_prior_alone(*unravel(q))),
        earlier=lambda q: earlier(*unravel(q))[0],
        log_likelihood=sum_over_rows(lambda q, *data: rows(*arrays(q), *data)[0], mesh),
        variables=lambda q: dict(zip(variable_names, variables(*unravel(q)), strict=True)),
        draw_prior=lambda seed: flatten(draw_point(seed)),
        locate=_locate(model),
        places=_places(model, point),
        unravel=unravel,
        dims={name: _dims(model, name) for name in variable_names},
        coords=dict(model.coords),
        layout=posterior.layout,
        chunk=chunk,
        dtype=flat.dtype,
        mesh=mesh,
    )


def _log_prior(
    model: pm.Model, *, jacobian: bool = True, without: Sequence[str] = ()
) -> Callable[..., list[jax.Array]]:
    every = [*model.free_RVs, *model.potentials]
    terms = [term for term in every if term.name not in without]
    return jaxify(model.value_vars, model.logp(vars=terms, jacobian=jacobian, sum=False))


def _total(terms: list[jax.Array]) -> jax.Array:
    return jnp.sum(ravel_pytree(terms)[0])


def _places(model: pm.Model, point: dict[str, jax.Array]) -> dict[str, slice]:
    """Find where in a flat position each free variable lies."""
    ends = np.cumsum([point[value.name].size for value in model.value_vars])
    names = [model.values_to_rvs[value].name for value in model.value_vars]
    begins = [0, *ends[:-1]]
    return {
        name: slice(int(begin), int(end))
        for name, begin, end in zip(names, begins, ends, strict=True)
    }


def _locate(model: pm.Model) -> Callable[[dict[str, jax.Array]], jax.Array]:
    """Build the map from named variables to a position, by the forward transforms."""
    names = [variable.name for variable in model.free_RVs]
    named = [variable.type(name=variable.name) for variable in model.free_RVs]
    values = []
    for variable, given in zip(model.free_RVs, named, strict=True):
        transform = model.rvs_to_transforms[variable]
        inputs = variable.owner.inputs
        values.append(given if transform is None else transform.forward(given, *inputs))

    def locate(variables: dict[str, jax.Array]) -> jax.Array:
        found = jaxify(named, values)(*(variables[name] for name in names))
        return ravel_pytree(list(found))[0]

    return locate


def _mesh(shards: int) -> Mesh | None:
    if len(jax.devices()) < shards:
        raise InputError(
            "model.few_devices",
            where="execution.shards",
            requested=shards,
            found=len(jax.devices()),
        )
    return Mesh(np.asarray(jax.devices()[:shards]), (ROWS,)) if shards > 1 else None


def _row_log_likelihood(model: pm.Model) -> Callable[..., list[jax.Array]]:
    """Compile the log likelihood of each row into JAX, with the data as arguments."""
    [elementwise] = model.logp(vars=[model[TARGET]], sum=False)
    if elementwise.ndim > 1:
        elementwise = elementwise.sum(axis=-1, acc_dtype=elementwise.dtype)
    return compile_rows(model, [elementwise])


def compile_rows(model: pm.Model, graphs: list[Array]) -> Callable[..., list[jax.Array]]:
    """Compile graphs of the value variables and the data into JAX, with the data as arguments.

    The data are features and target, and the error if there is one.
    """
    names = (FEATURES, f"{TARGET}_data", ERROR)
    shared = [model[name] for name in names if name in model]
    arguments = [variable.type.clone(shape=(None,) * variable.ndim)() for variable in shared]
    replaced = clone_replace(graphs, dict(zip(shared, arguments, strict=True)))
    return jaxify([*model.value_vars, *arguments], replaced)


def _named(model: pm.Model) -> list[Array]:
    """Pick the variables to read from a posterior: weights, scales and noise without duplicates.

    Duplicates are arrays in units of their scale, and arrays with entries that are not in use.
    """
    every = [*model.free_RVs, *model.deterministics]
    read = [variable for variable in every if not _is_twin(variable.name)]
    graph = model.replace_rvs_by_values(read)
    for variable, original in zip(graph, read, strict=True):
        variable.name = original.name.removesuffix(PADDED)
    return sorted(graph, key=lambda variable: str(variable.name))


def _dims(model: pm.Model, name: str) -> tuple[str, ...]:
    """Return the axes of a variable, which the model may have under a name with a suffix."""
    known = model.named_vars_to_dims
    return tuple(known.get(name) or known.get(name + PADDED) or ())


def _is_twin(name: str) -> bool:
    """Return whether a variable duplicates another one in other units or with padding."""
    return name.endswith(WHITENED) or (name.endswith(PADDED) and is_parameter(name))


def jaxify(inputs: list[Array], outputs: list[Array]) -> Callable[..., list[jax.Array]]:
    """Compile PyTensor graphs of the inputs into one JAX function."""
    return get_jaxified_graph(inputs=list(inputs), outputs=list(outputs))


@jax_funcify.register(Softplus)
def _softplus(op: Any, **_: Any) -> Callable[[jax.Array], jax.Array]:
    """Use JAX's softplus: the gradient of PyTensor's is NaN where the exponential overflows."""
    return jax.nn.softplus


def _check_precision() -> None:
    jax_precision = str(jnp.zeros(()).dtype)
    if pytensor.config.floatX != jax_precision:
        raise InputError(
            "model.two_precisions",
            where="precision",
            pytensor=pytensor.config.floatX,
            jax=jax_precision,
        )
