"""A custom prior: a function of the user states each array."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.model.prior import Parameters
from nlobayes.own_functions import load_function
from nlobayes.priors import PriorSettings
from nlobayes.settings.user_files import OwnFunction
from nlobayes.untyped import Array


class CustomPrior(OwnFunction, PriorSettings):
    """A prior of your own: a function in a Python file that states each array in PyMC."""

    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["custom"]

    @cached_property
    def _loaded(self) -> Callable[..., Array]:
        return load_function(self.codes["function"])

    def state(self, parameters: Parameters) -> Array:
        """Define one array by the function; refuse a result that is no variable with its dims."""
        import pymc as pm

        name, dims, model = parameters.name, parameters.dims, pm.modelcontext(None)
        function = self._loaded
        try:
            function(parameters, **self.settings)
        except (Exception, SystemExit) as error:
            raise InputError(
                "model.custom_prior_fails", name=name, kind=type(error).__name__, reason=str(error)
            ) from error
        if tuple(model.named_vars_to_dims.get(name, ())) != dims:
            raise InputError(
                "model.custom_prior_names", name=name, dims=dims, variables=sorted(model.named_vars)
            )
        return model[name]
