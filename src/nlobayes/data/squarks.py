"""Mean mass of the eight light squarks of an SLHA file, whichever way it numbers them.

SLHA1 numbers squarks by flavour: 1000002 is the partner of the left-handed u. SLHA2 numbers the
six of each charge by mass, and the rows of USQMIX and DSQMIX have their flavours (arXiv:0801.0045).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from nlobayes.data.slha_blocks import Block, read_entries
from nlobayes.errors import InputError

ROWS = {
    "USQMIX": (1000002, 1000004, 1000006, 2000002, 2000004, 2000006),
    "DSQMIX": (1000001, 1000003, 1000005, 2000001, 2000003, 2000005),
}
"""Particle numbers in the order of the rows of each block, and of flavours in SLHA1."""
BLOCKS = ("MODSEL", *ROWS, *(f"IM{name}" for name in ROWS))
LIGHT = (1, 2, 4, 5)
"""Columns of the light flavours; 3 and 6 are stops or sbottoms."""
UNITARY = 0.01
"""Largest relative error of the sum of squared mixings of the light flavours."""


def mean_mass(
    blocks: Mapping[str, Block], masses: Mapping[tuple[int, ...], float], source: str
) -> float:
    """Average the sizes of the masses, each weighted by its light flavours; in GeV.

    Parameters
    ----------
    blocks
        Those of `BLOCKS` that the file has.
    masses
        Entries of block MASS.

    Raises
    ------
    InputError
        If a mass is missing, or the squarks are numbered by mass and their mixings are missing or
        not unitary.
    """
    selected = [line.words[:2] for line in blocks["MODSEL"].lines] if "MODSEL" in blocks else []
    by_mass = not {*ROWS}.isdisjoint(blocks) or ["6", "1"] in selected or ["6", "3"] in selected
    terms, weights = [], []
    for name, particles in ROWS.items():
        shares = _light_shares(blocks, name, source) if by_mass else {row: 1.0 for row in LIGHT}
        for row, share in shares.items():
            particle = particles[row - 1]
            if (particle,) not in masses:
                raise InputError("slha.no_entry", where=source, block="MASS", entry=f"{particle}")
            terms.append(share * abs(masses[particle,]))
            weights.append(share)
    return math.fsum(terms) / math.fsum(weights)


def _light_shares(blocks: Mapping[str, Block], name: str, source: str) -> dict[int, float]:
    """Sum the squared mixings of the light flavours, for every row that has them."""
    shares: dict[int, float] = {}
    for block in (name, f"IM{name}"):
        if block == name or block in blocks:
            for (row, column), mixing in read_entries(blocks, block, 2, source).items():
                if column in LIGHT and mixing:
                    shares[row] = shares.get(row, 0.0) + mixing**2
    total = math.fsum(shares.values())
    if not {*shares} <= {*range(1, 7)} or abs(total / len(LIGHT) - 1) > UNITARY:
        raise InputError("slha.squark_mixings", where=source, block=name, total=total)
    return shares
