"""The settings of the sources of tables, one file each, by name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.study.source import SourceSettings

SOURCES = settings_of(__name__, __file__, SourceSettings)

if TYPE_CHECKING:
    Source = SourceSettings
else:
    Source = one_of_kinds(SOURCES.values())
