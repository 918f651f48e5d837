"""Settings of the priors, one class each in the file of its name; `model/priors/` builds them."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import settings_of, union_of
from nlobayes.study.prior import PriorSettings

PRIORS = settings_of(__name__, __file__, PriorSettings)

if TYPE_CHECKING:
    Prior = PriorSettings
else:
    Prior = union_of(__name__, __file__)
