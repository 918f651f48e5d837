"""Region in which the engine was compared with other calculations, and the rows outside it.

The comparisons are with the public higgsino tables at 13 and 13.6 TeV, with decoupled squarks, and
with Prospino at 13 TeV for nine of the ten pairs, with squarks of 2769 GeV. Squarks that are up to
10 % lighter count as compared. Their exchange, which falls with the fourth power of their mass, is
at most 1.5 times the compared one; lighter squarks also leave the limit in which the exchange is
corrected.

Charginos were compared with the public tables of winos and higgsinos; pairs of unlike charginos
were not compared. Squarks interfere with the W and the photon: below 4 TeV, public NLO rates of
winos at 13.6 TeV fall faster than those of the engine, by 1.5 and 2.9 % at 3 TeV for winos of 700
and 1000 GeV, by 7 and 13 % at 2 TeV (tests/reference/published.csv). Hence squarks below 3 TeV
count as not compared.

Sleptons and sneutrinos were compared with the public tables of left, right and maximally mixed
ones; pairs of unlike staus were not.
"""

import numpy as np

from nlobayes.physics.processes import Process, make_process, neutralino_pair

COMPARED_TEV = (13.0, 13.6)
COMPARED_SQUARK_MASS_GEV, COMPARED_WITH_CHARGINOS_GEV = 2500.0, 3000.0
NEVER_COMPARED = {
    neutralino_pair((3, 3)): "of the pair chi0_3 chi0_3 (the other nine were)",
    make_process(1000024, -1000037): "of unlike charginos (equal ones were)",
    make_process(-1000024, 1000037): "of unlike charginos (equal ones were)",
    make_process(1000015, -2000015): "of unlike staus (equal ones were)",
    make_process(-1000015, 2000015): "of unlike staus (equal ones were)",
}


def not_compared(process: Process, sqrt_s_tev: float, squark_mass_gev: np.ndarray) -> str:
    """Count the rows outside the compared region, by reason; an empty text if there are none.

    Parameters
    ----------
    process
        The two particles.
    sqrt_s_tev
        Energy of the collisions.
    squark_mass_gev
        Squark mass of each row, (row,).
    """
    low, high = COMPARED_TEV
    least = COMPARED_SQUARK_MASS_GEV if process.of_neutralinos else COMPARED_WITH_CHARGINOS_GEV
    light = (squark_mass_gev < least) & (not process.of_sleptons)
    everywhere = np.ones_like(light)
    reasons = {
        f"at {sqrt_s_tev:g} TeV ({low:g} to {high:g} were)": everywhere
        & (not low <= sqrt_s_tev <= high),
        f"with squarks below {least:g} GeV": light,
        NEVER_COMPARED.get(process, ""): everywhere & (process in NEVER_COMPARED),
    }
    counts = {why: np.count_nonzero(rows) for why, rows in reasons.items()}
    return "; ".join(f"{n} of {len(light)} rows {why}" for why, n in counts.items() if n)
