"""What the parameters and results of stage functions say of the files behind them."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from nlobayes.untyped import Facts

Value = TypeVar("Value")


class File(NamedTuple):
    """How a value is read and written: an annotation of the parameters and results of stages."""

    read: Callable[..., Any] | None = None
    """Reads the value from a path, or takes it from an artifact that was opened if it has a kind.
    """
    write: Callable[..., Any] | None = None
    """Writes path, value and origin; only path and value where the format cannot store the origin,
    and then it returns the files that it wrote if they are others than the path."""
    option: str = "out"
    """Option that names the path to write."""
    recorded: bool = False
    """Whether a record beside the file states its origin; only artifacts store it as well."""
    kind: str = ""
    """Kind of artifact; empty for other files."""
    measured: bool = False
    """Whether it holds times, which are no result: it may be left out, and no record lists it."""
    check: Callable[[Any], None] | None = None
    """Refuses a path to write before anything is computed."""

    @property
    def states_origin(self) -> bool:
        """Whether its format stores what made it."""
        return bool(self.kind) or not (self.recorded or self.measured)


class Stated(NamedTuple, Generic[Value]):
    """A value, and what its file states beside it: attributes that were read, or to be written."""

    value: Value
    facts: Facts
