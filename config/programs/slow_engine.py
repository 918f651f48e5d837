"""A stand-in for a slow program: the embedded engine behind an SLHA file.

    python slow_engine.py point.slha --milliseconds 20

It reads the mass and the mixings of the lightest neutralino and the mass of the squarks, sleeps for
a pretended minute, and prints the cross section of a pair of these neutralinos at 13 TeV.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from nlobayes.physics.hadronic import by_exchange
from nlobayes.physics.luminosity import THREE_POINTS, luminosities
from nlobayes.physics.partonic import pair_at
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.processes import neutralino_pair

PAIR = neutralino_pair((1, 1))


def read(path: Path) -> dict[str, dict[tuple[int, ...], float]]:
    """Read the entries of all blocks, by their numbers."""
    blocks: dict[str, dict[tuple[int, ...], float]] = {}
    name = ""
    for line in path.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words and words[0].lower() == "block":
            name = words[1].upper()
        elif words:
            *numbers, value = words
            blocks.setdefault(name, {})[tuple(map(int, numbers))] = float(value)
    return blocks


def main() -> None:
    """Print the cross sections of the point in a file."""
    parser = argparse.ArgumentParser(description="Cross section of a pair of lightest neutralinos.")
    parser.add_argument("point", type=Path)
    parser.add_argument(
        "--milliseconds", type=float, default=0.0, help="time of a pretended minute"
    )
    given = parser.parse_args()
    blocks = read(given.point)
    time.sleep(given.milliseconds / 1000)
    values = [blocks["MASS"][(1000022,)], *(blocks["NMIX"][1, place] for place in range(1, 5))]
    named = {name: np.array([value]) for name, value in zip(PAIR.columns, values, strict=True)}
    beams = luminosities(MSTW2008_NLO, 13_000.0, "invariant_mass", THREE_POINTS)
    squarks = np.array([blocks["MASS"][(1000001,)]])
    lo, nlo, *_ = by_exchange(pair_at(PAIR, named), squarks, beams, THREE_POINTS).sum(axis=1)
    print(f"sigma_LO  = {1000 * lo[0]:.4e} fb")
    print(f"sigma_NLO = {1000 * nlo[0]:.4e} fb")


if __name__ == "__main__":
    main()
