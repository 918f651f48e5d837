"""Likelihoods of the same form about each output, with a stated or learned scale."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.likelihoods import LikelihoodSettings
from nlobayes.model.likelihood import (
    NOISE,
    add_in_quadrature,
    append_entries,
    diagonal,
    join_blocks,
)
from nlobayes.settings.values import Frozen, Positive
from nlobayes.untyped import Array, Module

PRECISION, ABOVE = f"{NOISE}_precision", f"{NOISE}_above_floor"


class GammaPrior(Frozen):
    """Gamma prior of a precision, 1 / sigma^2."""

    shape: Positive = 1.0
    """Shape of the distribution."""
    rate: Positive = 1.0
    """Rate of the distribution; shape / rate is its mean."""


class ScaledLikelihood(LikelihoodSettings):
    """Likelihood of the same form about each output, with a stated or learned scale.

    Each target has its own learned scale.
    """

    has_one_sigma: ClassVar[bool] = True

    sigma: Positive | None = None
    """Scale in units of the network's target; null learns it."""
    scale: Positive = 1.0
    """Scale of the half-normal prior of a learned `sigma`."""
    floor: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Least value of a learned `sigma`, where its prior is truncated. On targets without noise
    sigma falls to it: a tolerance."""

    log_sd: Annotated[Positive | None, Field(exclude_if=lambda value: value is None)] = None
    """Sd of the logarithm of a learned `sigma`, then log-normal with median `scale`, plus the
    `floor` in quadrature; null: half-normal."""
    precision: GammaPrior | None = None
    """Gamma prior of 1 / sigma^2 of a learned `sigma`; null: `sigma` is half-normal."""

    @model_validator(mode="after")
    def _precision_is_learned_alone(self) -> Self:
        defaults = {"sigma": None, "scale": 1.0, "floor": 0.0, "log_sd": None}
        other = [name for name, default in defaults.items() if getattr(self, name) != default]
        if self.precision is not None and other:
            raise InputError("study.precision_and_sigma", other=other)
        return self

    @model_validator(mode="after")
    def _floor_is_of_learned(self) -> Self:
        if (self.floor or self.log_sd) and self.sigma is not None:
            raise InputError("study.floor_of_stated", sigma=self.sigma, floor=self.floor)
        return self

    @property
    def stated_sigma(self) -> float | None:
        """Scale stated for all rows, in units of the network's target; None if it is learned."""
        return self.sigma

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its scale is learned."""
        return self.sigma is None

    def stated_scale(self, output: Array, error: Array) -> Array:
        """Return a fixed scale, or define a learned one in PyMC, with the error of each target."""
        import pytensor.tensor as pt
        from pymc.pytensorf import floatX

        if self.sigma is not None:
            return add_in_quadrature(floatX(self.sigma), error, pt)
        return add_in_quadrature(
            self._learned_scale("output" if output.ndim == 2 else None), error, pt
        )

    def _learned_scale(self, dims: str | None) -> Array:
        import pymc as pm
        import pytensor.tensor as pt
        from pymc.pytensorf import floatX

        from nlobayes.model.root_coordinate import RootCoordinate

        scale = floatX(self.scale)
        if self.precision is not None:
            shape, rate = floatX(self.precision.shape), floatX(self.precision.rate)
            precision = pm.Gamma(PRECISION, shape, rate, dims=dims)
            return pm.Deterministic(NOISE, 1 / pt.sqrt(precision), dims=dims)
        if self.log_sd is not None:
            mean, sd = floatX(log(self.scale)), floatX(self.log_sd)
            at = RootCoordinate(self.scale, self.log_sd)
            above = pm.LogNormal(ABOVE, mean, sd, dims=dims, default_transform=at)
            floor = floatX(self.floor)
            return pm.Deterministic(NOISE, pt.sqrt(above**2 + floor**2), dims=dims)
        if self.floor == 0:
            return pm.HalfNormal(NOISE, scale, dims=dims)
        return pm.TruncatedNormal(NOISE, sigma=scale, lower=floatX(self.floor), dims=dims)

    def moved(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return the outputs and the logarithms of the learned noise parameters."""
        return append_entries(output, self.learned(variables, error, xp), xp)

    def learned(self, variables: Mapping[str, Array], error: Array, xp: Module) -> list[Array]:
        """Return the logarithm of a learned scale, errors included; none if the scale is fixed."""
        return [] if self.sigma is not None else [xp.log(self.known_scale(variables, error, xp))]

    def orthogonal_root(
        self, of_output: Array, of_log_scale: Array, output: Array, scale: Array, xp: Module
    ) -> Array:
        """Return the root of a distribution that is symmetric about its output.

        The information has no cross term between the output and the logarithm of a learned scale.
        """
        if self.sigma is not None:
            return diagonal(of_output / scale, output, xp)
        return join_blocks([[of_output / scale, 0.0], [0.0, of_log_scale]], output, xp)

    def known_scale(self, variables: Mapping[str, Array], error: Array, xp: Module) -> Array:
        """Return a fixed scale, or the learned one from the variables, with the errors."""
        return add_in_quadrature(variables[NOISE] if self.sigma is None else self.sigma, error, xp)
