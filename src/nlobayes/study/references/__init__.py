"""The settings of references, one file each; the key of a file's name distinguishes them."""

from abc import abstractmethod
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, Union

from pydantic import Discriminator, Tag

from nlobayes.families import members_of
from nlobayes.settings.values import Frozen
from nlobayes.study.sources import SourceSettings
from nlobayes.untyped import Document


class ReferenceSettings(Frozen):
    """Settings of a reference; each kind has a file in `references/`, and a key of its name."""

    @property
    def columns_behind(self) -> tuple[str, ...]:
        """Columns that are read beside the features."""
        return ()

    @abstractmethod
    def completed(self, source: SourceSettings, columns: tuple[str, ...]) -> Self:
        """Complete the settings from the source and the columns of the features."""

    def arguments(self) -> Document:
        """Return the settings as plain values."""
        return self.model_dump(mode="json")


NAMES = members_of(Path(__file__).parent)


def _settings_in(name: str) -> Any:
    """Find the settings in a file: the class with a key of its name."""
    module = import_module(f"{__name__}.{name}")
    own = [one for one in vars(module).values() if name in getattr(one, "model_fields", ())]
    (settings,) = (one for one in own if one.__module__ == module.__name__)
    return Annotated[settings, Tag(name)]


def _kind_of(reference: object) -> str:
    given = reference if isinstance(reference, dict) else getattr(reference, "__dict__", ())
    return next((key for key in given if key in NAMES), NAMES[0])


if TYPE_CHECKING:
    Reference = ReferenceSettings
else:
    Reference = Annotated[Union[(*map(_settings_in, NAMES),)], Discriminator(_kind_of)]
