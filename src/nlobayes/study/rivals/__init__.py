"""The settings of the rivals, one file each, by name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.study.rival import RivalSettings

RIVALS = settings_of(__name__, __file__, RivalSettings)

if TYPE_CHECKING:
    Rival = RivalSettings
else:
    Rival = one_of_kinds(RIVALS.values())
