"""Laws of the noise by name, one module each; each `build` takes the parameters that it needs."""

from typing import Protocol

from nlobayes.families import Family
from nlobayes.untyped import Array


class LawFile(Protocol):
    """Required contents of the module of a law."""

    def build(
        self, *, scale: Array, degrees_of_freedom: Array = None, tails: Array = None
    ) -> Array:
        """Build the `Law` with a scale; parameters that it does not need are None or ignored."""
        ...


LAWS: Family[LawFile] = Family(__name__, __file__)
