"""Conversion of text to one printable line of bounded length."""

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
