"""Compare sources of cross sections process by process: each over the first one, against mass.

    python -m benchmarks.sources lhc --figure docs/studies/sources.svg

Sources are entries of a bundle of one energy, and the NLO of the embedded engine. Bands are their
total errors; the engine's are its scale variations. Prints the ratios at some masses.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes import Bundle
from nlobayes.physics.hadronic import of_process
from nlobayes.physics.processes import make_process

SQRT_S_TEV = 13.0
MASSES = np.geomspace(100.0, 1500.0, 80)
AT = (100, 200, 400, 700, 1000)
PURE = {"wino": ("n22", "u11", "v11"), "higgsino": ("u12", "v12")}
"""Mixings that are 1 in a pure state; a higgsino-like neutralino is not compared."""
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73")


class Comparison(NamedTuple):
    """A process: its title, entries by the name of their source, and the engine's particles."""

    title: str
    entries: Mapping[str, str]
    pair: tuple[int, int]
    state: str = ""


HEPI, GROUP, ENGINE = "HEPi, aNNLO+NNLL", "LHC group, NLO+NLL", "embedded engine, NLO"
COMPARISONS = (
    Comparison(
        "χ⁰₂ χ⁺₁, wino",
        {HEPI: "13000_wino_1000023_1000024_NNLL", GROUP: "pp13_winop_C1N2_NLO_NLL"},
        (1000023, 1000024),
        "wino",
    ),
    Comparison(
        "χ⁺₁ χ⁻₁, wino",
        {HEPI: "13000_wino_1000024_-1000024_NNLL", GROUP: "pp13_wino_C1C1_NLO_NLL"},
        (1000024, -1000024),
        "wino",
    ),
    Comparison(
        "χ⁺₁ χ⁻₁, higgsino",
        {HEPI: "13000_hino_deg_1000024_-1000024_NNLL", GROUP: "pp13_hinosplit_C1C1_NLO_NLL"},
        (1000024, -1000024),
        "higgsino",
    ),
    Comparison(
        "left-handed sleptons",
        {
            HEPI: "13000_sleptons_1000011_-1000011_NNLL",
            GROUP: "pp13_slep_L_NLO_NLL_PDF4LHC",
            "LHC group, CT10": "pp13_slep_L_NLO_NLL",
        },
        (1000011, -1000011),
    ),
    Comparison(
        "right-handed sleptons",
        {
            HEPI: "13000_sleptons_2000011_-2000011_NNLL",
            GROUP: "pp13_slep_R_NLO_NLL_PDF4LHC",
            "LHC group, CT10": "pp13_slep_R_NLO_NLL",
        },
        (2000011, -2000011),
    ),
    Comparison(
        "slepton⁺ sneutrino",
        {HEPI: "13000_sneutrinos_-1000011_1000012_NNLL", GROUP: "pp13_snuP-slep_NLO_NLL_PDF4LHC"},
        (-1000011, 1000012),
    ),
)


def main() -> None:
    """Print the ratios, and draw them if a figure is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle")
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    bundle = Bundle.load(given.bundle)
    found = {one.title: compare(bundle, one) for one in COMPARISONS}
    print(f"| process | source | {' | '.join(f'{mass} GeV' for mass in AT)} |")
    print(f"|{'---|' * (2 + len(AT))}")
    for title, curves in found.items():
        for source, (low, middle, high) in curves.items():
            cells = [_cell(*(np.interp(m, MASSES, c) for c in (low, middle, high))) for m in AT]
            print(f"| {title} | {source} | {' | '.join(cells)} |")
    if given.figure:
        draw(found, given.figure)


def compare(bundle: Bundle, one: Comparison) -> dict[str, tuple[np.ndarray, ...]]:
    """Return low, median and high of each source over the median of the first; NaN outside."""
    curves: dict[str, tuple[np.ndarray, ...]] = {}
    for source, name in one.entries.items():
        surrogate = bundle.surrogates[name]
        points = MASSES[:, np.newaxis]
        middle, errors = surrogate.predict(points).median, surrogate.errors(points)
        within = surrogate.domain(points) != "outside"
        sides = (errors["total_down"], 0.0, errors["total_up"])
        curves[source] = tuple(np.where(within, middle * (1 + side), np.nan) for side in sides)
    curves[ENGINE] = _engine(one)
    first = next(iter(curves.values()))[1]
    return {source: tuple(values / first for values in three) for source, three in curves.items()}


def _engine(one: Comparison) -> tuple[np.ndarray, ...]:
    """Compute equal masses in the pure state that the comparison names."""
    process = make_process(*one.pair)
    named = {name: MASSES if name[0] == "m" else 0.0 for name in process.columns}
    named |= dict.fromkeys(PURE.get(one.state, ()), 1.0)
    found = of_process(process, named, SQRT_S_TEV)
    return found.scale_down_pb, found.nlo_pb, found.scale_up_pb


def draw(found: Mapping[str, Mapping[str, Sequence[np.ndarray]]], path: Path) -> None:
    """Draw a panel for each process."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "nlobayes"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(11, 6.4), sharex=True, layout="constrained")
    for axis, (title, curves) in zip(axes.flat, found.items(), strict=True):
        for colour, (source, (low, middle, high)) in zip(COLOURS, curves.items(), strict=False):
            chosen = COLOURS[3] if source == ENGINE else colour
            axis.fill_between(MASSES, low, high, color=chosen, alpha=0.15, linewidth=0)
            axis.plot(MASSES, middle, color=chosen, label=source)
        axis.set(title=title, xscale="log", ylim=(0.65, 1.2))
        axis.set_xticks(AT, [str(mass) for mass in AT])
        axis.minorticks_off()
    for axis in axes[-1]:
        axis.set_xlabel("mean mass of the produced particles in GeV")
    for axis in axes[:, 0]:
        axis.set_ylabel("cross section over HEPi")
    axes[1, 0].legend(fontsize=8, loc="lower left")
    figure.savefig(path, metadata={"Date": None})


def _cell(low: float, middle: float, high: float) -> str:
    if not np.isfinite(middle):
        return "–"
    return f"{middle:.3f} ({100 * (high / middle - 1):+.1f} {100 * (low / middle - 1):+.1f} %)"


if __name__ == "__main__":
    main()
