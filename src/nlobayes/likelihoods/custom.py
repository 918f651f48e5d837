"""A custom likelihood: a function of the user observes the target, a second states the noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from nlobayes.errors import InputError, one_line
from nlobayes.likelihoods import LikelihoodSettings
from nlobayes.likelihoods.student_t import shape_root
from nlobayes.model.likelihood import TARGET, Noise, append_entries, join_blocks
from nlobayes.own_functions import load_function
from nlobayes.settings.user_files import OwnFunction
from nlobayes.untyped import Array, Module

FAMILIES = ("gaussian", "laplace", "student_t")


class Observation(NamedTuple):
    """Arguments of a user's function that observes the target of a PyMC model."""

    name: str
    """Name of the variable that it must observe."""
    f: Array
    """Output of the network (point,), or its outputs (point, output)."""
    target: Array
    """What is observed (point,), in the network's units."""
    error: Array
    """Sd of the numerical noise of every target (point,); None where it is not known."""


class CustomLikelihood(OwnFunction, LikelihoodSettings):
    """A likelihood of your own: a function in a Python file that observes the target in PyMC."""

    FUNCTIONS: ClassVar[tuple[str, ...]] = ("function", "noise")
    of_one_column: ClassVar[bool] = True

    kind: Literal["custom"]
    noise: str
    """Name of a second function of the file, which returns the family and the scale of
    the noise about f."""
    outputs_of_network: Annotated[int, Field(ge=1, le=100)] = 1
    """Outputs of the network; the first is f."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its function may learn parameters: always True."""
        return True

    @cached_property
    def _observing(self) -> Callable[..., Array]:
        return load_function(self.codes["function"])

    @cached_property
    def _of_noise(self) -> Callable[..., Array]:
        return load_function(self.codes["noise"])

    def outputs(self, targets: int) -> int:
        """Return the number of outputs in the settings."""
        return self.outputs_of_network * targets

    def observe(self, output: Array, target: Array, error: Array = None) -> Array:
        """Observe the target by the function; refuse a function that observes nothing.

        Raises InputError if it raises, or names no observed variable; or if the noise cannot be
        computed from it.
        """
        import pymc as pm
        import pytensor.tensor as pt

        model = pm.modelcontext(None)
        _call(self._observing, Observation(TARGET, output, target, error), **self.settings)
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
        self.noise_about(output, model.named_vars, error, pt)
        return model[TARGET]

    def noise_about(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Noise:
        """Return the noise about the first output, from the second function."""
        noise = _call(self._of_noise, output, variables, error, xp, **self.settings)
        if not isinstance(noise, tuple) or not _is_noise(*noise):
            received = one_line(repr(noise), 100)
            raise InputError("model.own_noise", known=FAMILIES, received=received)
        centre = output if self.outputs_of_network == 1 else output[..., 0]
        return Noise(noise[0], centre, *noise[1:])

    def moved(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return centre and log scale; for a Student-t also the log degrees of freedom."""
        noise = self.noise_about(output, variables, error, xp)
        shape = [noise.scale, *([] if noise.family != "student_t" else [noise.degrees_of_freedom])]
        return append_entries(noise.centre, [xp.log(xp.asarray(one)) for one in shape], xp)

    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return the root of the family; it has no term across centre and scale by symmetry.

        Lange, Little and Taylor (1989), appendix B.
        """
        noise = self.noise_about(output, variables, error, xp)
        if noise.family != "student_t":
            of_log_scale = 1.0 if noise.family == "laplace" else 2**0.5
            return join_blocks([[1 / noise.scale, 0.0], [0.0, of_log_scale]], noise.centre, xp)
        degrees = xp.asarray(noise.degrees_of_freedom)
        of_centre = xp.sqrt((degrees + 1) / (degrees + 3)) / noise.scale
        scale, both, alone = shape_root(degrees, xp)
        blocks = [[of_centre, 0.0, 0.0], [0.0, scale, both], [0.0, 0.0, alone]]
        return join_blocks(blocks, noise.centre, xp)


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
