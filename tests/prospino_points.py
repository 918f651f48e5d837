"""SLHA files of neutralinos with a row of Prospino for each pair: every number is its own."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

SHARED = Path(os.environ.get("NLOBAYES_SHARED", Path(__file__).parents[2] / "shared"))
PROSPINO = SHARED / "data/prospino_chi1chi1.csv.gz"
"""The public points of Prospino, where they are on this machine."""
PIDS = (1000022, 1000023, 1000025, 1000035)
SQUARKS = (*range(1000001, 1000007), *range(2000001, 2000007))
HEADER = (
    "PID PID COM-energy [GeV] LO [fb] LO_relnumerr NLO [fb] NLO_relnumerr NLO_ms [fb]"
    " NLO_ms_scale05 [fb] NLO_ms_scale2 [fb] NLO_ms_PDFerr [fb] NLO_ms_aup [fb] NLO_ms_adn [fb]"
)
COLUMNS = (
    *("lo", "lo_relnumerr", "nlo", "nlo_relnumerr", "nlo_ms", "nlo_ms_scale05", "nlo_ms_scale2"),
    *("nlo_ms_pdferr", "nlo_ms_aup", "nlo_ms_adn"),
)
AROUND = """\
# a spectrum of numbers that mean nothing
BLOCK SPINFO
     1   nobody's generator
     2   1.0
Block MODSEL  # model
    1     1   # sugra
BLOCK SMINPUTS
   4   9.11876000e+01   # mZ
Block GAUGE Q= 2.5e+03
   1   3.6e-01
"""
DECAYS = """\
DECAY 1000023 2.1e-02 # width
#    BR       NDA   ID1   ID2
   1.0e+00     2    1000022   23
"""


@dataclass(frozen=True)
class Point:
    """Four neutralinos, and the columns of Prospino in fb for each pair."""

    masses: tuple[float, ...]
    mixings: np.ndarray
    rows: Mapping[tuple[int, int], Mapping[str, float]]

    def text(
        self,
        *,
        header: str | None = HEADER,
        names: Sequence[str] = COLUMNS,
        energy: str = "13000",
        failed: Sequence[tuple[int, int]] = (),
        without: str = "",
        squarks: Sequence[int] = SQUARKS,
    ) -> str:
        """Write SLHA: these columns; -1 in all of those that failed; one block left out."""
        values = {**dict(zip(PIDS, self.masses, strict=True)), **dict.fromkeys(squarks, 2765.25)}
        mass = [f"   {pid}   {value!r}   # mass" for pid, value in values.items()]
        mixing = [
            f"  {row}  {column}   {value!r}"
            for row, line in enumerate(self.mixings.tolist(), start=1)
            for column, value in enumerate(line, start=1)
        ]
        lines = []
        for (i, j), columns in self.rows.items():
            written = ["-1" if (i, j) in failed else repr(columns[name]) for name in names]
            lines.append(f"  {PIDS[i - 1]} {PIDS[j - 1]} {energy} {' '.join(written)}")
        comment = f"   # {header}" if header else ""
        blocks = {
            "MASS": ["BLOCK MASS   # pole masses", *mass],
            "NMIX": ["Block nmix Q= 1.0e+03  # mixing", *mixing],
            "PROSPINO_OUTPUT": [f"BLOCK PROSPINO_OUTPUT{comment}", *lines],
        }
        kept = ["\n".join(block) for name, block in blocks.items() if name != without]
        return "\n".join([AROUND.rstrip(), *kept[:-1], DECAYS.rstrip(), kept[-1], ""])


def make_point(number: int) -> Point:
    """The point of a number: every number of it is its own."""
    rng = np.random.default_rng([11, number])
    masses = np.sort(rng.uniform(60, 900, 4)) * [1, -1, 1, 1] * rng.choice([-1, 1])
    mixings, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    rows = {
        pair: _columns(rng, sum(abs(masses[n - 1]) for n in pair))
        for pair in combinations_with_replacement(range(1, 5), 2)
    }
    return Point(tuple(masses.tolist()), mixings, rows)


def _columns(rng: np.random.Generator, mass: float) -> dict[str, float]:
    lo = float(1e3 * np.exp(-mass / 150) * rng.uniform(0.5, 1.5))
    factors = (1, 0, 1.2, 0, 1.25, 1.28, 1.21, 0.03, 1.27, 1.23)
    columns = {name: lo * factor for name, factor in zip(COLUMNS, factors, strict=True)}
    return columns | {"lo_relnumerr": 1e-4, "nlo_relnumerr": float(rng.uniform(1e-4, 1e-2))}
