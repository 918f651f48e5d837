"""Extras of the package: which extra installs a missing module, and by which command."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires

OURS = "nlobayes"
PACKAGES = {
    "quantile_forest": "quantile-forest",
    "sklearn": "scikit-learn",
    "xgboost": "xgboost-cpu",
    "yaml": "pyyaml",
}
"""Package by module, where the two names differ."""
OF_EXTRA = re.compile(r"([\w.-]+).*; *extra == ['\"](\w+)['\"]")


class MissingExtra(ModuleNotFoundError):
    """A package of an extra is not installed; the message ends with the install command."""


@contextmanager
def needs_extra(preferred: str = "train") -> Iterator[None]:
    """Add the install command to errors of imports in this context.

    Raises MissingExtra in place of a `ModuleNotFoundError` of a package that an extra brings.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        advice = None if isinstance(error, MissingExtra) else remedy_of(error, preferred)
        if advice is None:
            raise
        raise MissingExtra(f"{error}: {advice}", name=error.name) from None


def remedy_of(error: ImportError, preferred: str = "train") -> str | None:
    """Describe how to install a package that was not found; None if no extra contains it.

    If several extras contain it, the preferred one is named, or else the smallest.
    """
    if not isinstance(error, ModuleNotFoundError):
        return None
    extra = extra_of(error.name or "", preferred)
    return None if extra is None else f"it comes with an extra; {remedy(extra)}"


def remedy(extra: str) -> str:
    """Return the command that installs an extra."""
    in_a_checkout = f"`pip install '.[{extra}]'` or `make setup EXTRAS={extra}`"
    return f"`pip install 'nlobayes[{extra}]'`, or in a checkout {in_a_checkout}"


def needed(module: str, extra: str) -> str:
    """Describe the package that something needs, and how to install it."""
    return f"needs {PACKAGES.get(module, module)}: {remedy(extra)}"


def extra_of(module: str, preferred: str = "train") -> str | None:
    """Return the extra that contains a module: the preferred or the smallest; None if none does."""
    package = PACKAGES.get(module, module).lower()
    listed = [found.groups() for found in map(OF_EXTRA.match, _requirements()) if found]
    sizes = Counter(extra for _, extra in listed)
    containing = [extra for name, extra in listed if name.lower() == package]
    if preferred in containing:
        return preferred
    return min(containing, key=sizes.__getitem__, default=None)


def _requirements() -> list[str]:
    try:
        return requires(OURS) or []
    except PackageNotFoundError:
        return []
