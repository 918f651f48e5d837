"""Settings of the likelihoods, one class each in the file of its name."""

from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator

from nlobayes.settings.members import settings_of, union_of
from nlobayes.study.likelihood import LikelihoodSettings
from nlobayes.study.likelihoods._old_kinds import with_new_kind

LIKELIHOODS = settings_of(__name__, __file__, LikelihoodSettings)

if TYPE_CHECKING:
    Likelihood = LikelihoodSettings
else:
    Likelihood = Annotated[union_of(__name__, __file__), BeforeValidator(with_new_kind)]
