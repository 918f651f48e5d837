"""The settings of the members of a family, by their kinds, from the files of a package.

A new file in such a folder is a new member; there is no list of them. The package of a family
contains

    KERNELS = settings_of(__name__, __file__, KernelSettings)

    if TYPE_CHECKING:
        Kernel = KernelSettings
    else:
        Kernel = one_of_kinds(KERNELS.values())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar, Union, get_args

from pydantic import Field

from nlobayes.families import members_of
from nlobayes.settings.values import Frozen
from nlobayes.untyped import Document

Settings = TypeVar("Settings", bound=Frozen)


def one_of_kinds(members: Iterable[type[Frozen]]) -> Any:
    """Build the union type of some settings, which the key `kind` distinguishes."""
    first, *others = members
    if not others:
        return first
    return Annotated[Union[(first, *others)], Field(discriminator="kind")]


def settings_of(
    package: str, file: str, base: Callable[..., Settings]
) -> Mapping[str, type[Settings]]:
    """Find the settings in the files of a package, by their kinds.

    Takes the `__name__` and the `__file__` of the package. All settings derive from the class
    `base`, which may be abstract; `type[...]` does not allow that. Files with a leading underscore
    are helpers; every other file defines at least one class with `kind: Literal[...]`.
    """
    found: Document = {}
    for name in members_of(Path(file).parent):
        for one in _settings_in(import_module(f"{package}.{name}")):
            if not issubclass(one, base):  # type: ignore[arg-type]
                continue
            for kind in kinds_of(one):
                if found.setdefault(kind, one) is not one:
                    raise TypeError(f"{one.__name__} and {found[kind].__name__} are of {kind!r}")
    return dict(sorted(found.items()))


def kinds_of(settings: type[Frozen]) -> tuple[str, ...]:
    """Return the values of the key `kind` that these settings have."""
    return get_args(settings.model_fields["kind"].annotation)


def _settings_in(module: ModuleType) -> list[type[Frozen]]:
    classes = [one for one in vars(module).values() if isinstance(one, type)]
    settings = [one for one in classes if issubclass(one, Frozen)]
    own = [one for one in settings if one.__module__ == module.__name__]
    found = [one for one in own if "kind" in one.model_fields and kinds_of(one)]
    if not found:
        raise TypeError(f"{module.__file__} must define settings with `kind: Literal[...]`")
    return found
