"""Settings of the priors of trained slopes, one class each in the file of its name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import settings_of, union_of
from nlobayes.study.slope import SlopeSettings

SLOPES = settings_of(__name__, __file__, SlopeSettings)

if TYPE_CHECKING:
    Slopes = SlopeSettings
else:
    Slopes = union_of(__name__, __file__)
