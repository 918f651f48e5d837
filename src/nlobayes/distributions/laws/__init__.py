"""Laws of the noise, one file each, by name. Each `build` takes what it needs of the parameters."""

from typing import Any, Protocol

from nlobayes.families import Family


class LawFile(Protocol):
    """Content of the file of a law."""

    def build(self, *, scale: Any, degrees_of_freedom: Any = None, tails: Any = None) -> Any:
        """Build the `Law` of a scale; parameters that it has no use for are None or ignored."""
        ...


LAWS: Family[LawFile] = Family(__name__, __file__)
