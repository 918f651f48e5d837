"""A custom prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pymc as pm

from nlobayes.errors import InputError
from nlobayes.model.prior import Conditional, Parameters


class Custom(NamedTuple):
    """A prior defined by a user's function of the parameters and settings."""

    function: Callable[..., Any]
    settings: Mapping[str, Any]

    def state(self, parameters: Parameters) -> Any:
        """Define one array by the function; refuse a result that is no variable with its dims."""
        name, dims, model = parameters.name, parameters.dims, pm.modelcontext(None)
        try:
            self.function(parameters, **self.settings)
        except (Exception, SystemExit) as error:
            raise InputError(
                "model.custom_prior_fails", name=name, kind=type(error).__name__, reason=str(error)
            ) from error
        if tuple(model.named_vars_to_dims.get(name, ())) != dims:
            raise InputError(
                "model.custom_prior_names", name=name, dims=dims, variables=sorted(model.named_vars)
            )
        return model[name]

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """Return an empty list."""
        return []


build = Custom
