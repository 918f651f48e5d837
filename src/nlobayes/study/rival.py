"""Settings of every rival: its seed, and the library that it needs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar

from nlobayes.settings.values import Choice, Seed

SCIKIT_LEARN = "sklearn"
"""Package that the extra `rivals` installs."""


class RivalSettings(Choice):
    """Settings of a rival; each kind has a file of its name in `rivals/`."""

    library: ClassVar[str | None] = None
    """Package that the rival needs besides the required ones."""

    seed: Seed = 1
    """Seed of all random numbers of its fit."""

    @property
    def missing(self) -> str | None:
        """Name of the needed package if it is not installed; None if nothing is missing."""
        return self.library if self.library and find_spec(self.library) is None else None
