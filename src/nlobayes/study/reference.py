"""Settings of every kind of reference: columns beside the features, completion from the source."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from nlobayes.settings.values import Frozen
from nlobayes.study.source import SourceSettings
from nlobayes.untyped import Document


class ReferenceSettings(Frozen):
    """Settings of a reference; each kind has a file in `references/`, and a key of its name."""

    @property
    def columns_behind(self) -> tuple[str, ...]:
        """Columns that are read beside the features."""
        return ()

    @abstractmethod
    def completed(self, source: SourceSettings, columns: tuple[str, ...]) -> Self:
        """Complete the settings from the source and the columns of the features."""

    def arguments(self) -> Document:
        """Return the settings as plain values."""
        return self.model_dump(mode="json")
