"""A result in plain text: the text is the number, or a pattern finds it."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

from nlobayes.errors import InputError
from nlobayes.exchange.outputs import SHOWN, OutputSettings, number_of


def _has_one_group(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise InputError("programs.pattern", pattern=pattern, reason=str(error)) from None
    if groups != 1:
        raise InputError("programs.groups", pattern=pattern, groups=groups)
    return pattern


class NumberOutput(OutputSettings):
    """The text is one number and nothing else."""

    kind: Literal["number"]

    def found(self, text: str) -> float:
        """Read the number."""
        words = text.split()
        if len(words) > 1:
            raise InputError("programs.several_numbers", count=len(words), first=words[:2])
        return number_of("".join(words))


class PatternOutput(OutputSettings):
    """A regular expression finds the number."""

    kind: Literal["pattern"]
    pattern: Annotated[str, AfterValidator(_has_one_group)]
    r"""Regular expression of Python with one group, the number, as `sigma_NLO = (\S+) fb`. It
    must occur once. Include the unit, so that a number in another unit is refused."""

    def found(self, text: str) -> float:
        """Find the number."""
        words = re.findall(self.pattern, text, re.MULTILINE)
        if not words:
            raise InputError(
                "programs.no_match", pattern=self.pattern, text=text.strip()[-SHOWN:] or "nothing"
            )
        if len(words) > 1:
            raise InputError("programs.several_numbers", count=len(words), first=words[:2])
        return number_of(words[0])
