"""Extras and their packages: how to install a package that is missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires

OURS = "nlobayes"
PACKAGES = {"sklearn": "scikit-learn", "yaml": "pyyaml"}
"""Names of packages where they are imported under another one."""
OF_EXTRA = re.compile(r"([\w.-]+).*; *extra == ['\"](\w+)['\"]")


class MissingExtra(ModuleNotFoundError):
    """A package that comes with an extra is not installed; its text ends with the remedy."""


@contextmanager
def needs_extra(preferred: str = "train") -> Iterator[None]:
    """State how to install packages that are not found here.

    Raises
    ------
    MissingExtra
        In place of a `ModuleNotFoundError` of a package that an extra brings.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        told = None if isinstance(error, MissingExtra) else remedy_of(error, preferred)
        if told is None:
            raise
        raise MissingExtra(f"{error}: {told}", name=error.name) from None


def remedy_of(error: ImportError, preferred: str = "train") -> str | None:
    """State how a package that was not found is installed; None where no extra brings it.

    Where several do, it is the preferred one, or else the smallest.
    """
    if not isinstance(error, ModuleNotFoundError):
        return None
    extra = extra_of(error.name or "", preferred)
    return None if extra is None else f"it comes with an extra; {remedy(extra)}"


def remedy(extra: str) -> str:
    """State how an extra is installed."""
    return f"`pip install 'nlobayes[{extra}]'`, or `make setup EXTRAS={extra}` in a checkout"


def extra_of(module: str, preferred: str = "train") -> str | None:
    """Name the extra that brings a module, as above."""
    package = PACKAGES.get(module, module).lower()
    listed = [found.groups() for found in map(OF_EXTRA.match, _requirements()) if found]
    sizes = Counter(extra for _, extra in listed)
    bringing = [extra for name, extra in listed if name.lower() == package]
    if preferred in bringing:
        return preferred
    return min(bringing, key=sizes.__getitem__, default=None)


def _requirements() -> list[str]:
    try:
        return requires(OURS) or []
    except PackageNotFoundError:
        return []
