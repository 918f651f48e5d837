"""Families: packages whose modules are members that a specification chooses by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

Member = TypeVar("Member")
Built = TypeVar("Built", covariant=True)


class Builder(Protocol[Built]):
    """A member that builds an object of its family from settings by name."""

    def build(self, *given: Any, **settings: Any) -> Built:
        """Build the object."""
        ...


class Family(Mapping[str, Member]):
    """The modules of a package, by the names of their files.

    A new file is a new member; there is no other list. Files with a leading underscore are helpers.
    A member is imported when it is requested.
    """

    def __init__(self, package: str, file: str) -> None:
        """Take the `__name__` and the `__file__` of the package."""
        self._package = package
        self._names = members_of(Path(file).parent)

    def __getitem__(self, name: str) -> Member:
        """Import a member."""
        if name not in self._names:
            raise KeyError(name)
        return cast(Member, import_module(f"{self._package}.{name}"))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in alphabetical order."""
        return iter(self._names)

    def __len__(self) -> int:
        """Count the members."""
        return len(self._names)


def members_of(folder: Path) -> tuple[str, ...]:
    """List the names of the members in the folder of a family."""
    return tuple(sorted(path.stem for path in folder.glob("*.py") if path.stem[0] != "_"))
