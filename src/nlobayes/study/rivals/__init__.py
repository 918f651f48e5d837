"""The settings of the rivals, one file each, by name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import settings_of, union_of
from nlobayes.study.rival import RivalSettings

RIVALS = settings_of(__name__, __file__, RivalSettings)

if TYPE_CHECKING:
    Rival = RivalSettings
else:
    Rival = union_of(__name__, __file__)
