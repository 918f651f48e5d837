"""Text as one line, fit for any terminal and of bounded length."""

MOST_SHOWN = 2000
"""Characters of a line that is printed; what is longer loses its middle."""


def shorten(text: str, most: int) -> str:
    """Leave out the middle of a text that is longer than `most` characters."""
    kept = most // 2
    return f"{text[:kept]} ... {text[-kept:]}" if len(text) > most else text


def one_line(text: str, most: int = MOST_SHOWN) -> str:
    r"""Make text one line of at most about `most` characters, whatever a file put into it.

    Runs of white space become a space; what does not print, such as escape sequences of terminals
    and marks that turn the direction of writing, is spelled as in `\x1b`.
    """
    spaced = " ".join(shorten(text, most).split())
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in spaced
    )
