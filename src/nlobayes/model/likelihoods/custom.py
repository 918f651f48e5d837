"""A custom likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nlobayes.errors import InputError, one_line
from nlobayes.model.likelihood import TARGET, Noise, of_blocks, with_entries
from nlobayes.model.likelihoods.student_t import shape_root

FAMILIES = ("gaussian", "laplace", "student_t")


class Observation(NamedTuple):
    """Arguments of a user's function that observes the target of a PyMC model.

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
    """A likelihood defined by two functions of the user and their settings.

    The first observes the target in PyMC; the second gives the distribution of the noise about the
    first output.
    """

    function: Callable[..., Any]
    noise_function: Callable[..., Any]
    settings: Mapping[str, Any]
    outputs_of_network: int

    def outputs(self, targets: int) -> int:
        """Return the number of outputs in the settings."""
        return self.outputs_of_network * targets

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe the target by the function; refuse a function that observes nothing.

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
        """Return the outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Return the noise about the first output, from the second function."""
        noise = _call(self.noise_function, output, variables, error, xp, **self.settings)
        if not isinstance(noise, tuple) or not _is_noise(*noise):
            received = one_line(repr(noise), 100)
            raise InputError("model.own_noise", known=FAMILIES, received=received)
        centre = output if self.outputs_of_network == 1 else output[..., 0]
        return Noise(noise[0], centre, *noise[1:])

    def moved(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Any:
        """Return centre and log scale; for a Student-t also the log degrees of freedom."""
        noise = self.noise(output, variables, error, xp)
        shape = [noise.scale, *([] if noise.family != "student_t" else [noise.degrees_of_freedom])]
        return with_entries(noise.centre, [xp.log(xp.asarray(one)) for one in shape], xp)

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Return the root of the family; it has no term across centre and scale by symmetry.

        Lange, Little and Taylor (1989), appendix B.
        """
        noise = self.noise(output, variables, error, xp)
        if noise.family != "student_t":
            of_log_scale = 1.0 if noise.family == "laplace" else 2**0.5
            return of_blocks([[1 / noise.scale, 0.0], [0.0, of_log_scale]], noise.centre, xp)
        degrees = xp.asarray(noise.degrees_of_freedom)
        of_centre = xp.sqrt((degrees + 1) / (degrees + 3)) / noise.scale
        scale, both, alone = shape_root(degrees, xp)
        blocks = [[of_centre, 0.0, 0.0], [0.0, scale, both], [0.0, 0.0, alone]]
        return of_blocks(blocks, noise.centre, xp)


def build(
    *,
    function: Callable[..., Any],
    noise: Callable[..., Any],
    settings: Mapping[str, Any],
    outputs_of_network: int,
) -> Custom:
    """Build the likelihood."""
    return Custom(function, noise, settings, outputs_of_network)


def _is_noise(family: Any = None, scale: Any = None, degrees: Any = None, *more: Any) -> bool:
    """Return whether a family is given with its scale, and a Student-t with its degrees."""
    known = isinstance(family, str) and family in FAMILIES and scale is not None and not more
    return known and (family == "student_t") == (degrees is not None)


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
