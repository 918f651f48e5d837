"""Draw the picture of the README: published grids, their surrogates, and what was checked.

    python -m benchmarks.hero docs/images/hero

Writes hero-light.png and hero-dark.png from bundle `lhc` of the package alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from nlobayes import Bundle
from nlobayes.surrogate.consistency import read_exported
from nlobayes.types import SurrogateContent

CURVES = {
    "gluinos": "pp13_gluino_NNLO_NNLL",
    "stops": "pp13_stopsbottom_NNLO_NNLL",
    "winos $χ^0_2 χ^+_1$": "13000_wino_1000023_1000024_NNLL",
    "higgsinos $χ^0_1 χ^+_1$": "13000_hino_deg_1000022_1000024_NNLL",
    "sleptons": "13000_sleptons_1000011_-1000011_NNLL",
}
ZOOMED = "winos $χ^0_2 χ^+_1$"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
INK = {"light": ("#1a1a1a", "#ffffff"), "dark": ("#e6e6e6", "#0d1117")}
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
PAPERED = ("axes.facecolor", "figure.facecolor", "savefig.facecolor")
SHOWN_ROWS = 40


def main() -> None:
    """Draw the picture for both themes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="path without -light.png and -dark.png")
    out = parser.parse_args().out
    bundle = Bundle.load("lhc")
    for theme, (ink, paper) in INK.items():
        settings: Any = dict.fromkeys(INKED, ink) | dict.fromkeys(PAPERED, paper)
        with plt.rc_context(settings | {"font.size": 11, "axes.titlesize": 11}):
            draw(bundle, ink).savefig(f"{out}-{theme}.png", dpi=160)


def draw(bundle: Bundle, ink: str) -> Any:
    """Draw curves, one residual, convergence and coverage."""
    figure = plt.figure(figsize=(10, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(1.7, 1, 1))
    left, zoom = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[:, 1])
    above, below = figure.add_subplot(grid[0, 2]), figure.add_subplot(grid[1, 2])
    for (label, name), colour in zip(CURVES.items(), COLOURS, strict=True):
        curve(left, bundle, name, label, colour)
    left.set(yscale="log", xlim=(50, 3000), ylim=(1e-7, 1e3), xlabel="mass (GeV)")
    left.set(ylabel="σ (pb), 13 TeV", title="grids (points), surrogates with theory errors")
    left.legend(frameon=False)
    residuals(zoom, bundle, CURVES[ZOOMED], COLOURS[[*CURVES].index(ZOOMED)], ink)
    zoom.set(xlabel="mass (GeV)", ylabel="grid over surrogate − 1 (%)", ylim=(-0.06, 0.06))
    zoom.set_title(ZOOMED + ", intervals\nof the interpolation")
    stored = [read_exported(bundle.surrogates.paths[one.name]) for one in bundle.entries]
    convergence(above, stored, ink)
    coverage(below, stored, ink)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def curve(axes: Axes, bundle: Bundle, name: str, label: str, colour: str) -> None:
    """Draw the median of a surrogate, its total error, and some of the rows of its grid."""
    surrogate = bundle.surrogates[name]
    [(low, high)] = surrogate.limits.values()
    masses = np.geomspace(low, high, 200)
    middle, errors = surrogate.predict(masses[:, None]).median, surrogate.errors(masses[:, None])
    sides = [middle * (1 + errors[f"total_{side}"]) for side in ("down", "up")]
    axes.fill_between(masses, *sides, color=colour, alpha=0.35, linewidth=0)
    axes.plot(masses, middle, color=colour, label=label)
    at, value = rows_of(bundle, name)
    every = slice(None, None, max(1, len(at) // SHOWN_ROWS))
    axes.plot(at[every], value[every], ".", color=colour, markersize=5)


def residuals(axes: Axes, bundle: Bundle, name: str, colour: str, ink: str) -> None:
    """Draw the rows of a grid over its surrogate, with the surrogate's intervals."""
    surrogate = bundle.surrogates[name]
    at, value = rows_of(bundle, name)
    masses = np.linspace(at.min(), at.max(), 300)
    found = surrogate.predict(masses[:, None], quantiles=(0.025, 0.16, 0.84, 0.975))
    ends = 100 * (found.quantiles / found.median - 1)
    for low, high, alpha, share in ((0, 3, 0.2, "95 %"), (1, 2, 0.4, "68 %")):
        axes.fill_between(
            masses, ends[low], ends[high], color=colour, alpha=alpha, linewidth=0, label=share
        )
    axes.axhline(0, color=ink, linewidth=0.8)
    left = 100 * (value / surrogate.predict(at[:, None]).median - 1)
    axes.plot(at, left, ".", color=ink, markersize=4)
    axes.legend(frameon=False, loc="upper left", ncols=2)


def rows_of(bundle: Bundle, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return mass and cross section of the rows that a surrogate of one mass learned."""
    surrogate, content = bundle.surrogates[name], read_exported(bundle.surrogates.paths[name])
    known, target = content.facts["transforms"]["features"], content.facts["transforms"]["target"]
    masses = content.rows["features"][:, 0] * known["scale"][0] + known["mean"][0]
    learned = content.rows["target"].reshape(len(masses), -1)[:, 0]
    values, reference = (
        10 ** (learned * target["sd"] + target["mean"]),
        surrogate.reference(masses[:, None]),
    )
    order = np.argsort(masses)
    return masses[order], (values if reference is None else values * reference)[order]


def convergence(axes: Axes, stored: Sequence[SurrogateContent], ink: str) -> None:
    """Draw the largest R-hat of each surrogate beside the limit."""
    largest = [
        max(v["value"] for n, v in each.facts["verdict"]["convergence"].items() if "rhat" in n)
        for each in stored
    ]
    axes.hist(largest, np.linspace(1, 1.0125, 26).tolist(), color=COLOURS[0])
    axes.axvline(1.01, color=ink, linestyle="--", linewidth=1)
    axes.text(1.0101, axes.get_ylim()[1] * 0.95, "limit", va="top")
    axes.set(xlabel="largest R-hat", ylabel="surrogates", title=f"all {len(stored)} have converged")


def coverage(axes: Axes, stored: Sequence[SurrogateContent], ink: str) -> None:
    """Draw the share of test rows within the intervals of each surrogate, sized by its rows."""
    rows = np.array([len(each.rows["target"]) for each in stored])
    for place, (level, colour) in enumerate(zip(("68", "95"), COLOURS, strict=False)):
        share = [100 * each.facts["scores"]["test"][f"coverage_{level}"] for each in stored]
        jitter = np.random.default_rng(place).uniform(-0.3, 0.3, len(share))
        axes.scatter(share, place + jitter, rows / 8, color=colour, alpha=0.5, linewidth=0)
        axes.plot([int(level)] * 2, [place - 0.4, place + 0.4], color=ink, linewidth=1.5)
        axes.plot(np.average(share, weights=rows), place, "D", color=ink, markersize=6)
    axes.set(yticks=(0, 1), yticklabels=("68 %", "95 %"), xlim=(30, 103))
    axes.set(xlabel="test rows inside (%)", title="coverage: ◆ all, | goal")


if __name__ == "__main__":
    main()
