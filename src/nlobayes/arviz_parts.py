"""Parts of ArviZ 0.23 that are not needed when it, or PyMC with it, is imported.

What is used of ArviZ, its estimators and its files, needs none of them.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def without_announcement() -> None:
    """Keep ArviZ from announcing its next version.

    It does so once a day and notes the day in a file in the home folder: where that cannot be
    written, or jobs that start together replace it, the import fails. It is silent where it finds
    the parts of that version; this declares them present.
    """
    parts = ModuleType("arviz.preview")
    parts.__dict__["info"] = "arviz_base available, arviz_stats available, arviz_plots available"
    sys.modules.setdefault(parts.__name__, parts)


def without_plots() -> None:
    """Leave out the plots: a process imports PyMC sooner.

    They bring code that Numba compiles at every import, and the interactive half of Matplotlib, of
    which ArviZ loads the styles even so. Only for processes of our own, none of which draws with
    either.
    """
    sys.meta_path.insert(0, _Empty())


def without_numba() -> None:
    """Leave Numba out: only for processes that import ArviZ, as PyMC does, and do not use it."""
    sys.modules.setdefault("numba", None)  # type: ignore[arg-type]  # not to be found, then


_PLOTS = ("arviz.plots", "arviz.plots.backends")
_INTERACTIVE = "matplotlib.pyplot"


class _Empty(MetaPathFinder, Loader):
    """Imports the plots as packages without anything in them, but for the styles."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find them, and nothing else."""
        del path, target
        wanted = fullname in (*_PLOTS, _INTERACTIVE)
        return ModuleSpec(fullname, self, is_package=fullname in _PLOTS) if wanted else None

    def exec_module(self, module: ModuleType) -> None:
        """Give `import *` nothing, and ArviZ the styles."""
        module.__dict__["__all__"] = ()
        if module.__name__ == _INTERACTIVE:
            module.__dict__["style"] = import_module("matplotlib.style")
