"""Settings of a custom prior."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.settings.own_function import NOT_SETTINGS, OwnFunction
from nlobayes.study.prior import PriorSettings


class CustomPrior(OwnFunction, PriorSettings):
    """A prior of your own: a function in a Python file that states each array in PyMC.

    The function is called with the parameters of one array, and the settings.
    """

    NOT_OWN: ClassVar[frozenset[str]] = PriorSettings.NOT_OWN | NOT_SETTINGS

    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["custom"]
