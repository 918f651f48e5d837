"""Pairs of neutralinos, and the columns of a table about them."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

from pydantic import AfterValidator, Field

from nlobayes.errors import InputError

CROSS_SECTIONS = ("sigma_pb", "lo_pb", "scale_up", "scale_down")


def _in_order(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


Neutralino = Annotated[int, Field(ge=1, le=4, strict=True)]
Pair = Annotated[tuple[Neutralino, Neutralino], AfterValidator(_in_order)]


def columns_of_pair(pair: tuple[int, int]) -> tuple[str, ...]:
    """Name the mass and the mixings of each neutralino of a pair, once where they are equal."""
    return tuple(chain.from_iterable(map(_columns_of, dict.fromkeys(pair))))


def check_reads_both(pair: tuple[int, int], columns: tuple[str, ...]) -> None:
    """Refuse to read one neutralino of two, on both of which cross sections depend."""
    for number in pair:
        if not {*columns} & {*_columns_of(number)}:
            raise InputError(
                "study.neutralino_not_read",
                where="features.columns",
                neutralino=number,
                pair=[*pair],
                columns=_columns_of(number),
            )


def _columns_of(neutralino: int) -> tuple[str, ...]:
    return (f"m{neutralino}", *(f"n{neutralino}{component}" for component in range(1, 5)))
