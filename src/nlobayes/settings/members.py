"""Settings of the members of a family: one class each, in the file of the member's name.

A new file in such a folder is a new member; there is no list of them. The package of a family
contains

    KERNELS = settings_of(__name__, __file__, KernelSettings)

    if TYPE_CHECKING:
        Kernel = KernelSettings
    else:
        Kernel = union_of(__name__, __file__)
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

Settings = TypeVar("Settings", bound=Frozen)


def union_of(package: str, file: str) -> Any:
    """Build the type of a family's settings, which the key `kind` distinguishes.

    Takes the `__name__` and the `__file__` of the package.
    """
    return one_of_kinds(settings_of(package, file, Frozen).values())


def one_of_kinds(members: Iterable[type[Frozen]]) -> Any:
    """Build the union type of some settings, which the key `kind` distinguishes."""
    first, *others = members
    if not others:
        return first
    return Annotated[Union[(first, *others)], Field(discriminator="kind")]


def settings_of(
    package: str, file: str, base: Callable[..., Settings]
) -> Mapping[str, type[Settings]]:
    """Find the settings of every member of a package, by the names of their files.

    All settings derive from the class `base`, which may be abstract; `type[...]` does not allow
    that. Files with a leading underscore are helpers. The settings of a file are its class with a
    field `kind`.
    """
    names = members_of(Path(file).parent)
    return {name: _settings_in(import_module(f"{package}.{name}"), name, base) for name in names}


def _settings_in(module: ModuleType, name: str, base: Any) -> Any:
    found = [value for value in vars(module).values() if _is_settings(value, module, base)]
    kinds = [get_args(one.model_fields["kind"].annotation) for one in found]
    if kinds != [(name,)]:
        raise TypeError(
            f"{module.__file__} must define one {base.__name__} with `kind: Literal[{name!r}]`; "
            f"found {', '.join(one.__name__ for one in found) or 'none'} of kinds {kinds}"
        )
    return found[0]


def _is_settings(value: Any, module: ModuleType, base: Any) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, Frozen)
        and issubclass(value, base)
        and value.__module__ == module.__name__
        and "kind" in value.model_fields
    )
