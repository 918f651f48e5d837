"""Faster and silent import of ArviZ 0.23, and of PyMC, which imports it.

nlobayes uses the estimators and the files of ArviZ, which need none of the parts left out here.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def without_announcement() -> None:
    """Keep ArviZ from announcing its next version.

    It does so once a day and notes the day in a file in the home folder. The import fails if that
    file cannot be written, or if jobs that start together replace it. ArviZ is silent if it finds
    the parts of that version; this function declares them present.
    """
    parts = ModuleType("arviz.preview")
    parts.__dict__["info"] = "arviz_base available, arviz_stats available, arviz_plots available"
    sys.modules.setdefault(parts.__name__, parts)


def without_plots() -> None:
    """Leave out the plots, which makes the import of PyMC faster.

    They import code that Numba compiles at every import, and the interactive part of Matplotlib.
    ArviZ still loads the styles of Matplotlib. Only for processes of nlobayes, which do not draw
    with either.
    """
    if not has_no_plots():
        sys.meta_path.insert(0, _Empty())


def has_no_plots() -> bool:
    """Whether this process leaves out the plots."""
    return any(isinstance(finder, _Empty) for finder in sys.meta_path)


def without_numba() -> None:
    """Leave out Numba, with which ArviZ compiles functions that it calls a few times."""
    sys.modules.setdefault("numba", None)  # type: ignore[arg-type]  # not to be found, then


_PLOTS = ("arviz.plots", "arviz.plots.backends")
_INTERACTIVE = "matplotlib.pyplot"


class _Empty(MetaPathFinder, Loader):
    """Importer that gives empty packages for the plots, except for the styles."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find these packages only."""
        del path, target
        replaced = fullname in (*_PLOTS, _INTERACTIVE)
        return ModuleSpec(fullname, self, is_package=fullname in _PLOTS) if replaced else None

    def exec_module(self, module: ModuleType) -> None:
        """Give `import *` nothing, and ArviZ the styles."""
        module.__dict__["__all__"] = ()
        if module.__name__ == _INTERACTIVE:
            module.__dict__["style"] = import_module("matplotlib.style")
