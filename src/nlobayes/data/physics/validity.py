"""Where the engine was compared with other calculations, and which rows lie elsewhere.

Compared were the public higgsino tables at 13 and 13.6 TeV, with decoupled squarks, and Prospino at
13 TeV for nine of the ten pairs, with squarks of 2769 GeV. Squarks lighter than that by 10 % are
taken for compared: their exchange, which falls with the fourth power of their mass, is then at most
1.5 times what was looked at, and lighter ones also leave the limit in which it is corrected.
"""

import numpy as np

COMPARED_TEV = (13.0, 13.6)
COMPARED_SQUARK_MASS_GEV = 2500.0
NEVER_COMPARED = (3, 3)


def not_compared(pair: tuple[int, int], sqrt_s_tev: float, squark_mass_gev: np.ndarray) -> str:
    """Count the rows that no other calculation was compared with, and say why; empty if none.

    Parameters
    ----------
    pair
        Numbers of the neutralinos, the lightest is 1.
    sqrt_s_tev
        Energy of the collisions.
    squark_mass_gev
        Squark mass of each row, (row,).
    """
    low, high = COMPARED_TEV
    light = squark_mass_gev < COMPARED_SQUARK_MASS_GEV
    everywhere = np.ones_like(light)
    reasons = {
        f"at {sqrt_s_tev:g} TeV ({low:g} to {high:g} were)": everywhere
        & (not low <= sqrt_s_tev <= high),
        f"with squarks below {COMPARED_SQUARK_MASS_GEV:g} GeV": light,
        "of the pair chi0_3 chi0_3 (the other nine were)": everywhere & (pair == NEVER_COMPARED),
    }
    counts = {why: np.count_nonzero(rows) for why, rows in reasons.items()}
    return "; ".join(f"{n} of {len(light)} rows {why}" for why, n in counts.items() if n)
