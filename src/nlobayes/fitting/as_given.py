"""Errors of a study that was made of options or arguments, in the names that the user gave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nlobayes.errors import InputError
from nlobayes.fitting.studies import GRID, OWN

Words = Sequence[tuple[str, str]]
"""Patterns of a text, and what replaces each."""
MADE: Words = (
    (rf"\bconfiguration: |\bgrids\.{GRID}: |\bdatasets\.[\w-]+(?:: |\.)", ""),
    (r"\b(target\.scale) of dataset '[^']*'", r"\1"),
    (rf"\b(?:the )?(network|prior|likelihood|pretraining|method) '{OWN}'", r"the \1"),
    (r"\b(?:the )?dataset '[^']*'", "the dataset"),
)
"""Names that `studies.configure` gives, which no user chose."""


@contextmanager
def as_given(words: Words) -> Iterator[None]:
    """Replace patterns in the text of an error, whose code and fields stay."""
    try:
        yield
    except InputError as error:
        text = str(error)
        for pattern, given in words:
            text = re.sub(pattern, given, text)
        error.text = text
        raise
