"""The network of a study: its layers, activations, and priors of drawn numbers of units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from nlobayes.errors import InputError
from nlobayes.model.activations import ACTIVATIONS, LEAKY, has_slopes, is_known
from nlobayes.model.infinite import CURVES, ERF
from nlobayes.settings.members import one_of_kinds
from nlobayes.settings.user_files import Code, OwnFunction
from nlobayes.settings.values import Fraction, Frozen, Positive, PositiveInt, Width
from nlobayes.untyped import Document


class CustomActivation(OwnFunction):
    """An activation of your own: a function in a Python file, of an array module and an array."""

    kind: Literal["custom"]


class CustomLayer(OwnFunction):
    """A layer of your own: a function of an array module, the inputs, weights and biases."""

    kind: Literal["layer"]


def form_of(value: Any) -> str:
    """Return the form of an activation."""
    if isinstance(value, list | tuple):
        return "list"
    kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", "name")
    return kind if kind in ("name", "layer") else "custom"


if TYPE_CHECKING:
    Activation = str | CustomActivation | CustomLayer
    Activations = Activation | tuple[Activation, ...]
else:
    _Name = Literal[(ERF, *ACTIVATIONS)] | Annotated[str, Field(pattern=f"^{LEAKY.pattern}$")]
    _OWN = Annotated[CustomActivation, Tag("custom")] | Annotated[CustomLayer, Tag("layer")]
    _ONE = Annotated[_Name, Tag("name")] | _OWN
    Activation = Annotated[_ONE, Discriminator(form_of)]
    _Each = Annotated[tuple[Activation, ...], Tag("list")]
    Activations = Annotated[_ONE | _Each, Discriminator(form_of)]


class CountSettings(Frozen):
    """Prior of a number from `fewest` to the largest number that the network allows."""

    kind: str
    fewest: PositiveInt = 1
    """Least number that the prior allows; the most is that of the network."""

    def arguments(self) -> Document:
        """Return the settings by name."""
        return self.model_dump()


class UniformCount(CountSettings):
    """All numbers are equally probable."""

    kind: Literal["uniform"]


class PoissonCount(CountSettings):
    """A Poisson distribution, truncated to the range."""

    kind: Literal["poisson"]
    mean: Positive
    """Mean of the distribution before truncation."""


class GeometricCount(CountSettings):
    """Each number is less probable than the one before, by the same ratio."""

    kind: Literal["geometric"]
    ratio: Fraction
    """Probability of a number over that of the one before."""


COUNTS: tuple[type[CountSettings], ...] = (UniformCount, PoissonCount, GeometricCount)

if TYPE_CHECKING:
    Count = CountSettings
else:
    Count = one_of_kinds(COUNTS)


class Network(Frozen):
    """A dense multilayer perceptron with linear outputs, as many as the likelihood needs."""

    hidden: Annotated[tuple[Width, ...], Field(max_length=100)] = ()
    """Units of each hidden layer; empty for a linear model."""
    width: Annotated[Literal["infinite"] | None, Field(exclude_if=lambda value: value is None)] = (
        None
    )
    """`infinite`: one hidden layer of infinitely many units (docs/models.md), instead of
    `hidden`. It needs prior `scales`, activation `erf` or `relu`, a Gaussian likelihood and
    `precision: float64`."""
    activation: Activations = "tanh"
    """Activation of every hidden layer, or a list with one for each. `prelu` and `square_prelu`
    have trained slopes. `leaky_relu(0.3)` states the slope below zero, 0.01 by default. `{kind:
    custom, …}` is your own, and `{kind: layer, …}` a layer of your own, instead of product and
    activation."""
    outputs: PositiveInt | None = None
    """Number of outputs; null: as many as targets and likelihood need."""
    output: Literal["sampled", "marginalised"] = "sampled"
    """Whether chains move the output layer (`sampled`), or it is integrated out
    (docs/statistics.md) and drawn for each stored draw (`marginalised`)."""
    units: Count | None = None
    """Prior of the number of units in each hidden layer, at most `hidden`; null fixes it. It
    needs kernel `reversible_jump`."""
    layers: Count | None = None
    """Prior of the number of hidden layers, at most those of `hidden`; null fixes it. It needs
    `relu`, layers of one width, and kernel `reversible_jump`."""

    @field_validator("activation", mode="before")
    @classmethod
    def _is_known(cls, named: Any) -> Any:
        for name in named if isinstance(named, list | tuple) else (named,):
            if form_of(name) == "name" and name != ERF and not is_known(name):
                raise InputError("study.unknown_activation", name=name, known=list(ACTIVATIONS))
        return named

    @model_validator(mode="after")
    def _each_layer_has_its_own(self) -> Network:
        named = self.activation
        if isinstance(named, tuple) and len(named) != len(self.hidden):
            raise InputError("study.activations", given=len(named), layers=len(self.hidden))
        return self

    @model_validator(mode="after")
    def _has_layers_of_one_form(self) -> Network:
        given = self.activations
        if self.width is None and ERF in given:
            raise InputError("study.erf_of_finite", known=list(ACTIVATIONS))
        if self.width is not None and (
            self.hidden or not all(form_of(name) == "name" and name in CURVES for name in given)
        ):
            raise InputError("study.infinite_with_others", hidden=self.hidden, known=list(CURVES))
        return self

    @property
    def varies(self) -> bool:
        """Whether the number of units or of layers is not fixed."""
        return self.units is not None or self.layers is not None

    @property
    def has_slopes(self) -> bool:
        """Whether an activation has slopes that are trained."""
        return bool(self.hidden) and any(has_slopes(name) for name in self.activations)

    @property
    def has_own_layer(self) -> bool:
        """Whether a hidden layer is a function of the user."""
        return any(form_of(name) == "layer" for name in self.activations)

    @property
    def activations(self) -> tuple[Activation, ...]:
        """Activation of all hidden layers, or one for each."""
        return self.activation if isinstance(self.activation, tuple) else (self.activation,)

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions among the activations, by number; none if all are built in."""
        own = (name for name in self.activations if isinstance(name, OwnFunction))
        return {str(number): one.codes["function"] for number, one in enumerate(own)}
