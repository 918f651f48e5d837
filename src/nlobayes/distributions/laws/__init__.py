"""Laws of the noise by name, one module each; each `build` takes the parameters that it needs."""

from typing import Any, Protocol

from nlobayes.families import Family


class LawFile(Protocol):
    """Required contents of the module of a law."""

    def build(self, *, scale: Any, degrees_of_freedom: Any = None, tails: Any = None) -> Any:
        """Build the `Law` with a scale; parameters that it does not need are None or ignored."""
        ...


LAWS: Family[LawFile] = Family(__name__, __file__)
