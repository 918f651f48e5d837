"""Activations of hidden units: a built-in one by its name, or a user's function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from nlobayes.model.activations import ACTIVATIONS, LEAKY
from nlobayes.settings.own_function import OwnFunction


class CustomActivation(OwnFunction):
    """An activation of your own: a function in a Python file, of an array module and an array."""

    kind: Literal["custom"]


def form_of(value: Any) -> str:
    """Return the form of an activation."""
    if isinstance(value, list | tuple):
        return "list"
    return "custom" if isinstance(value, Mapping | CustomActivation) else "name"


if TYPE_CHECKING:
    Activation = str | CustomActivation
    Activations = Activation | tuple[Activation, ...]
else:
    _Name = Literal[tuple(ACTIVATIONS)] | Annotated[str, Field(pattern=f"^{LEAKY.pattern}$")]
    _ONE = Annotated[_Name, Tag("name")] | Annotated[CustomActivation, Tag("custom")]
    Activation = Annotated[_ONE, Discriminator(form_of)]
    _Each = Annotated[tuple[Activation, ...], Tag("list")]
    Activations = Annotated[_ONE | _Each, Discriminator(form_of)]
