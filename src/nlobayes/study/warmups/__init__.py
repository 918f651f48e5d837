"""The settings of the warm-ups, one file each, by name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.study.warmup import WarmupSettings

WARMUPS = settings_of(__name__, __file__, WarmupSettings)

if TYPE_CHECKING:
    Warmup = WarmupSettings
else:
    Warmup = one_of_kinds(WARMUPS.values())
