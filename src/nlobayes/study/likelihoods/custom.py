"""Settings of a custom likelihood."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.settings.own_function import NOT_SETTINGS, OwnFunction
from nlobayes.study.likelihood import LikelihoodSettings


class CustomLikelihood(OwnFunction, LikelihoodSettings):
    """A likelihood of your own: a function in a Python file that observes the target in PyMC."""

    FUNCTIONS: ClassVar[tuple[str, ...]] = ("function", "noise")
    NOT_OWN: ClassVar[frozenset[str]] = LikelihoodSettings.NOT_OWN | NOT_SETTINGS | {"noise"}
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

    def outputs(self, columns: int) -> int:
        """Count the outputs for the one target column that is supported."""
        return self.outputs_of_network * columns
