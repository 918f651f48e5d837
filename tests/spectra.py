"""SLHA text of neutralinos, charginos and their cross sections: every number is its own."""

from collections.abc import Iterable
from itertools import combinations_with_replacement

import numpy as np

from nlobayes.physics.processes import CHARGINOS, NEUTRALINOS

PROCESSES = (
    *combinations_with_replacement(NEUTRALINOS, 2),
    *((n, sign * c) for n in NEUTRALINOS for c in CHARGINOS for sign in (1, -1)),
    *((1000024, -1000024), (1000024, -1000037), (-1000024, 1000037), (1000037, -1000037)),
)
"""Ten pairs of neutralinos, sixteen with a chargino, four pairs of charginos."""
LAYOUT = (
    *("lo", "lo_relnumerr", "nlo", "nlo_relnumerr", "nlo_ms", "nlo_ms_scale05", "nlo_ms_scale2"),
    *("nlo_ms_pdferr", "nlo_ms_aup", "nlo_ms_adn"),
)


def spectrum_of(number: int) -> dict[str, float]:
    """Masses and mixings of a point by the names of the columns."""
    rng = np.random.default_rng([12, number])
    columns = {f"m{i}": float(rng.uniform(100, 900)) * (-1) ** i for i in range(1, 5)}
    columns |= {f"mc{i}": float(rng.uniform(100, 900)) for i in (1, 2)}
    for letter, size in (("n", 4), ("u", 2), ("v", 2)):
        rows, _ = np.linalg.qr(rng.normal(size=(size, size)))
        for (i, j), value in np.ndenumerate(rows):
            columns[f"{letter}{i + 1}{j + 1}"] = float(value)
    return columns


def cross_sections_of(number: int, process: tuple[int, int]) -> dict[str, float]:
    """Columns of Prospino in fb."""
    rng = np.random.default_rng([13, number, PROCESSES.index(process)])
    lo = float(rng.uniform(1, 900))
    factors = (1, 1e-4, 1.2, 1e-3, 1.25, 1.28, 1.21, 0.03, 1.27, 1.23)
    errors = ("lo_relnumerr", "nlo_relnumerr")
    return {
        name: factor if name in errors else lo * factor
        for name, factor in zip(LAYOUT, factors, strict=True)
    }


def spectrum_text(number: int) -> str:
    """Write MASS, NMIX, UMIX and VMIX of a point."""
    columns = spectrum_of(number)
    masses = {particle: columns[f"m{i}"] for i, particle in enumerate(NEUTRALINOS, start=1)}
    masses |= {particle: columns[f"mc{i}"] for i, particle in enumerate(CHARGINOS, start=1)}
    blocks = {"MASS": [f"  {particle}  {mass!r}" for particle, mass in masses.items()]}
    for letter in "nuv":
        blocks[f"{letter.upper()}MIX"] = [
            f"  {name[1]} {name[2]}  {value!r}"
            for name, value in columns.items()
            if name[0] == letter
        ]
    return "".join("\n".join([f"BLOCK {name}", *lines, ""]) for name, lines in blocks.items())


def all_processes(number: int) -> str:
    """Write a point with PROSPINO_OUTPUT of all processes."""
    rows = [
        f"  {first} {second} 13000 "
        + " ".join(repr(value) for value in cross_sections_of(number, (first, second)).values())
        for first, second in PROCESSES
    ]
    return spectrum_text(number) + "\n".join(["BLOCK PROSPINO_OUTPUT", *rows, ""])


def xsection(
    process: Iterable[int],
    entries: Iterable[tuple[int, str, float]],
    energy: str = "1.30E+04",
) -> str:
    """Write a block XSECTION as SModelS does: entries of an order, a factor and a value in pb."""
    lines = [f" 0  {order}  0  {factor}  {factor}  0    {v!r} Made" for order, factor, v in entries]
    particles = " ".join(map(str, process))
    return "\n".join([f"XSECTION  {energy}  2212 2212 2 {particles} # 13 TeV", *lines, ""])
