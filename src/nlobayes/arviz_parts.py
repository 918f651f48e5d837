"""Parts of ArviZ 0.23 that are not wanted when it, or PyMC with it, is imported.

What is used of ArviZ, its estimators and its files, needs none of them.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def without_announcement() -> None:
    """Keep ArviZ from announcing its next version.

    It does so once a day and notes the day in a file in the home folder: where that cannot be
    written, or jobs that start together replace it, the import fails. It is silent where it finds
    the parts of that version; this says they are there.
    """
    parts = ModuleType("arviz.preview")
    parts.__dict__["info"] = "arviz_base available, arviz_stats available, arviz_plots available"
    sys.modules.setdefault(parts.__name__, parts)


def without_plots() -> None:
    """Leave out the plots: a process imports PyMC sooner.

    They bring the interactive half of Matplotlib, and code that Numba compiles at every import.
    Only for processes of our own, none of which draws with ArviZ.
    """
    sys.meta_path.insert(0, _Empty())


class _Empty(MetaPathFinder, Loader):
    """Imports the plots as packages without anything in them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find them, and nothing else."""
        del path, target
        wanted = fullname in ("arviz.plots", "arviz.plots.backends")
        return ModuleSpec(fullname, self, is_package=True) if wanted else None

    def exec_module(self, module: ModuleType) -> None:
        """Give `import *` nothing."""
        module.__dict__["__all__"] = ()
