"""The one exception of the project: a code, the fields that explain it, and where it happened."""

from __future__ import annotations

from typing import Any

from nlobayes.errors.lines import MOST_SHOWN, one_line, shorten
from nlobayes.errors.wordings import word

__all__ = ["MOST_SHOWN", "InputError", "one_line", "shorten"]


class InputError(ValueError):
    """An input that cannot be used.

    The command line prints its text without a traceback and exits with status 2. Programs and tests
    use `code` and `fields`; the sentence of each code is in `errors/texts/`.

    Attributes
    ----------
    code
        Room and name of the error, as `data.no_column`.
    fields
        What was received, what is allowed, and what else its sentence shows, by name.
    where
        File, key or option that holds the input; the text begins with it. None if the sentence
        names it.
    """

    def __init__(self, code: str, *, where: object = None, **fields: Any) -> None:
        """Take the code, the place and the fields."""
        super().__init__(code)
        self.code = code
        self.where = where
        self.fields = fields

    @property
    def reason(self) -> str:
        """The text without the place."""
        return word(self.code, self.fields)

    def __str__(self) -> str:
        """Give the text: where, what was received, what is allowed, and the remedy."""
        return self.reason if self.where is None else f"{self.where}: {self.reason}"

    def within(self, place: object) -> InputError:
        """Give the same error, its place inside another one, as a column inside a file."""
        where = str(place) if self.where is None else f"{place}: {self.where}"
        return InputError(self.code, where=where, **self.fields)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the fields when the error comes from another process."""
        return _rebuild, (self.code, self.where, self.fields)


def _rebuild(code: str, where: object, fields: dict[str, Any]) -> InputError:
    return InputError(code, where=where, **fields)
