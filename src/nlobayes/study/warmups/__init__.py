"""The settings of the warm-ups, one file each, by name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import settings_of, union_of
from nlobayes.study.warmup import WarmupSettings

WARMUPS = settings_of(__name__, __file__, WarmupSettings)

if TYPE_CHECKING:
    Warmup = WarmupSettings
else:
    Warmup = union_of(__name__, __file__)
