"""A likelihood of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from nlobayes.errors import InputError, one_line
from nlobayes.model.likelihood import TARGET, Noise

FAMILIES = ("gaussian", "laplace", "student_t")


class Observation(NamedTuple):
    """What a user's function is given to observe the target of a PyMC model.

    Attributes
    ----------
    name
        Name of the variable that it must observe.
    f
        Output of the network (point,), or its outputs (point, output).
    target
        What is observed (point,), in the network's units.
    error
        Sd of the numerical noise of every target (point,); None where it is not known.
    """

    name: str
    f: Any
    target: Any
    error: Any


class Custom(NamedTuple):
    """A likelihood by two functions of the user and their settings.

    The first observes the target in PyMC, the other gives the family of noise about the first
    output.
    """

    function: Callable[..., Any]
    noise_function: Callable[..., Any]
    settings: Mapping[str, Any]
    outputs_of_network: int

    def outputs(self, targets: int) -> int:
        """Return the number of outputs in the settings."""
        return self.outputs_of_network * targets

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe the target by the function; refuse what observes nothing.

        Raises
        ------
        InputError
            If it raises, or names no observed variable; or if the noise cannot be computed from it.
        """
        import pymc as pm
        import pytensor.tensor as pt

        model = pm.modelcontext(None)
        _call(self.function, Observation(TARGET, output, target, error), **self.settings)
        observed = [variable.name for variable in model.observed_RVs]
        if observed != [TARGET]:
            raise InputError(
                "model.own_likelihood_names",
                name=TARGET,
                variables=sorted(model.named_vars),
                observed=observed,
            )
        if model[TARGET].ndim != 1:
            raise InputError("model.own_likelihood_rows", received=model[TARGET].ndim)
        self.noise(output, model.named_vars, error, pt)
        return model[TARGET]

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give the outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the noise about the first output, from the other function."""
        said = _call(self.noise_function, output, variables, error, xp, **self.settings)
        if not isinstance(said, tuple) or not _is_noise(*said):
            received = one_line(repr(said), 100)
            raise InputError("model.own_noise", known=FAMILIES, received=received)
        centre = output if self.outputs_of_network == 1 else output[..., 0]
        return Noise(said[0], centre, *said[1:])

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give the root of the information of centre and scale, from the slopes of log scale.

        Both parts of a location and scale family are orthogonal where it is symmetric (Lange,
        Little and Taylor 1989, appendix B). By JAX.
        """
        import jax

        first = np.eye(1, self.outputs_of_network)[0]

        def log_scale(at: Any) -> Any:
            scale = self.noise(at, variables, error, xp).scale
            return xp.log(xp.broadcast_to(scale, output.shape[:1]))

        found = self.noise(output, variables, error, xp)
        of_centre, of_scale = _information(found)
        rows = output.reshape(len(output), -1)
        steps = xp.eye(rows.shape[1], dtype=output.dtype)

        def slope(step: Any) -> Any:
            along = xp.broadcast_to(step, rows.shape).reshape(output.shape)
            return jax.jvp(log_scale, (output,), (along,))[1]

        slopes = jax.vmap(slope)(steps).T
        scale = xp.broadcast_to(found.scale, output.shape[:1])
        centre = xp.sqrt(of_centre) / scale[:, None] * xp.asarray(first, output.dtype)
        return xp.stack([centre, xp.sqrt(of_scale) * slopes], axis=1)


def build(
    *,
    function: Callable[..., Any],
    noise: Callable[..., Any],
    settings: Mapping[str, Any],
    outputs_of_network: int,
) -> Custom:
    """Build it."""
    return Custom(function, noise, settings, outputs_of_network)


def _is_noise(family: Any = None, scale: Any = None, degrees: Any = None, *more: Any) -> bool:
    """Return whether a family is given with its scale, and a Student-t with its degrees."""
    known = isinstance(family, str) and family in FAMILIES and scale is not None and not more
    return known and (family == "student_t") == (degrees is not None)


def _information(noise: Noise) -> tuple[Any, Any]:
    """Give the Fisher information of the centre, times the squared scale, and of the log scale."""
    if noise.family == "laplace":
        return 1.0, 1.0
    if noise.family == "gaussian":
        return 1.0, 2.0
    degrees = noise.degrees_of_freedom
    return (degrees + 1) / (degrees + 3), 2 * degrees / (degrees + 3)


def _call(function: Callable[..., Any], *given: Any, **settings: Any) -> Any:
    try:
        return function(*given, **settings)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            "model.own_likelihood_fails",
            function=getattr(function, "__name__", "function"),
            kind=type(error).__name__,
            reason=str(error),
        ) from error
