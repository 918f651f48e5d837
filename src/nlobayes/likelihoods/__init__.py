"""The likelihoods: settings, and the distribution of the target around the outputs of a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator

from nlobayes.likelihoods._old_kinds import with_new_kind
from nlobayes.model.likelihood import Likelihood as Distribution
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.user_files import Code
from nlobayes.settings.values import Choice


class LikelihoodSettings(Choice, Distribution):
    """Likelihood of the target, given the outputs of the network."""

    of_classes: ClassVar[bool] = False
    """Whether the target has classes, not numbers."""
    of_one_column: ClassVar[bool] = False
    """Whether it supports only one target column."""
    has_one_sigma: ClassVar[bool] = False
    """Whether one scale, stated or learned, holds for all rows."""
    is_gaussian: ClassVar[bool] = False
    """Whether each target is Gaussian about one output, with a scale that no output determines."""

    @property
    def stated_sigma(self) -> float | None:
        """Scale stated for all rows, in units of the network's target; None if none is stated."""
        return None

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether it learns parameters, such as a scale, besides the network."""
        return False

    @property
    def codes(self) -> Mapping[str, Code]:
        """User functions that state the likelihood, by key; none for a built-in one."""
        return {}

    def outputs_for(self, columns: int) -> int | None:
        """Count the outputs for a number of target columns; None if the table determines it."""
        return self.outputs(columns)


LIKELIHOODS = settings_of(__name__, __file__, LikelihoodSettings)

if TYPE_CHECKING:
    Likelihood = LikelihoodSettings
else:
    Likelihood = Annotated[one_of_kinds(LIKELIHOODS.values()), BeforeValidator(with_new_kind)]
