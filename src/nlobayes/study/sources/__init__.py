"""The settings of the sources of tables, one file each, by name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import settings_of, union_of
from nlobayes.study.source import SourceSettings

SOURCES = settings_of(__name__, __file__, SourceSettings)

if TYPE_CHECKING:
    Source = SourceSettings
else:
    Source = union_of(__name__, __file__)
