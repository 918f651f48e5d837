"""The only exception class of the project: a code, fields and a place, and the line it prints."""

from __future__ import annotations

from typing import Any

from nlobayes.errors.wordings import word, words_of

__all__ = ["MOST_SHOWN", "InputError", "one_line", "shorten", "words_of"]

MOST_SHOWN = 2000
"""Largest number of characters of a printed line; a longer text loses its middle."""


def shorten(text: str, most: int) -> str:
    """Leave out the middle of a text that is longer than `most` characters."""
    kept = most // 2
    return f"{text[:kept]} ... {text[-kept:]}" if len(text) > most else text


def one_line(text: str, most: int = MOST_SHOWN) -> str:
    r"""Convert any text, such as that of a file, to one line of at most about `most` characters.

    Each run of white space becomes one space. Characters that do not print, such as those of
    terminal escape sequences and of changes of writing direction, are written as in `\x1b`.
    """
    spaced = " ".join(shorten(text, most).split())
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in spaced
    )


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
    text
        The whole text, where it names what the user gave instead of what was made of it.
    """

    text: str | None = None

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
        if self.text is not None:
            return self.text
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
