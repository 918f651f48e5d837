"""The only exception class of the project: an error code, its fields, and its place."""

from __future__ import annotations

from typing import Any

from nlobayes.errors.lines import MOST_SHOWN, one_line, shorten
from nlobayes.errors.wordings import word, words_of

__all__ = ["MOST_SHOWN", "InputError", "one_line", "shorten", "words_of"]


class InputError(ValueError):
    """An input that cannot be used.

    The command line prints its text without a traceback and exits with status 2. Programs and tests
    use `code` and `fields`; the sentence of each code is in `errors/texts/`.

    Attributes
    ----------
    code
        File of its sentence and name of the error, such as `data.no_column`.
    fields
        Values that the sentence shows, by name: what was received, what is allowed and others.
    where
        File, key or option that holds the input; the text begins with it. None if the sentence
        names it.
    """

    def __init__(self, code: str, *, where: object = None, **fields: Any) -> None:
        """Store the code, the place and the fields."""
        super().__init__(code)
        self.code = code
        self.where = where
        self.fields = fields

    @property
    def reason(self) -> str:
        """The text without the place."""
        return word(self.code, self.fields)

    def __str__(self) -> str:
        """Return the text: the place, what was received, what is allowed, and the remedy."""
        return self.reason if self.where is None else f"{self.where}: {self.reason}"

    def within(self, place: object) -> InputError:
        """Return the same error with an outer place before its own, such as a file of a column."""
        return self.at(str(place) if self.where is None else f"{place}: {self.where}")

    def at(self, place: object) -> InputError:
        """Return the same error with another place."""
        return InputError(self.code, where=place, **self.fields)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the fields when the error is pickled, so that it can come from another process."""
        return _rebuild, (self.code, self.where, self.fields)


def _rebuild(code: str, where: object, fields: dict[str, Any]) -> InputError:
    return InputError(code, where=where, **fields)
