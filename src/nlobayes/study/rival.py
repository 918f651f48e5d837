"""Settings of every rival: its seed, and the library that it is made with."""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar

from nlobayes.study.values import Choice, Seed

SCIKIT_LEARN = "sklearn"
"""The package that the extra `rivals` installs."""


class RivalSettings(Choice):
    """Settings of a rival; those of one kind are in the file of its name in `rivals/`."""

    library: ClassVar[str | None] = None
    """Package that it needs beyond those that are always installed."""

    seed: Seed = 1
    """Seed of everything that is random in its fit."""

    @property
    def missing(self) -> str | None:
        """Name of the package that it needs and that is not installed; None where all is there."""
        return self.library if self.library and find_spec(self.library) is None else None
