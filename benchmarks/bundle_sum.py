"""Compare a bundle with the embedded engine at new spectra: coverage of each process and of sums.

    python -m benchmarks.bundle_sum pairs --points 500

For each energy it draws spectra with a seed of its own, computes every process by the engine, and
prints the coverage of the 68 and 95 % intervals of each, with its standard error. Sums are the
bundle's, with the factor on its intervals, those of independent draws, and those with quadrature
and linear addition of the intervals of their parts. Three further rows show why a sum may cover
otherwise than its parts:

- `largest part`: the process whose interval is the widest in pb at each spectrum;
- `shuffled`: the sum of errors of processes at different spectra, in units of their intervals, so
  that errors are independent and their sizes as predicted;
- `correlation`: the mean rank correlation of the errors of two processes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from nlobayes import Bundle
from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import luminosities
from nlobayes.physics.mssm import neutralinos
from nlobayes.physics.partonic import make_pair
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.processes import NEUTRALINOS, columns_of, make_process
from nlobayes.physics.scans import Parameters, sample_parameters
from nlobayes.surrogate.cross_section import sum_of_draws
from nlobayes.surrogate.surrogate import Surrogate

PROBABILITIES = (0.025, 0.16, 0.5, 0.84, 0.975)
INTERVALS = {68: (1, 3), 95: (0, 4)}
"""Positions of the ends among `PROBABILITIES`."""
SQUARKS_GEV = 3000.0
TRAINED_ON = 20240101
"""Seed of the study `bundle`, whose spectra are not new."""


class Part(NamedTuple):
    """A process at every spectrum, in pb: the engine's (point,), and quantiles (5, point)."""

    engine: np.ndarray
    quantiles: np.ndarray


def columns(parameters: Parameters) -> dict[str, np.ndarray]:
    """Give masses and mixings of all neutralinos (point,), by the names of columns."""
    made = neutralinos(parameters)
    found = {}
    for number, particle in enumerate(NEUTRALINOS):
        mass, *mixings = columns_of(particle)
        found[mass] = made.masses_gev[:, number]
        found |= dict(zip(mixings, made.mixings[:, number].T, strict=True))
    return found


def part(surrogate: Surrogate, parameters: Parameters, named: Mapping[str, np.ndarray]) -> Part:
    """Compute a process by the engine and by its surrogate."""
    process = surrogate.process
    assert process is not None
    beams = luminosities(MSTW2008_NLO, process.sqrt_s_gev)
    pair = make_pair(parameters, make_process(*process.outgoing))
    points = np.column_stack([named[name] for name in surrogate.inputs])
    return Part(
        cross_sections(pair, SQUARKS_GEV, beams).nlo_pb,
        surrogate.quantiles(points, PROBABILITIES)[surrogate.target],
    )


def covered(engine: np.ndarray, quantiles: np.ndarray) -> str:
    """Give the share of the engine's values that lies within each interval."""
    said = []
    for ends in INTERVALS.values():
        low, high = quantiles[[*ends]]
        share = float(np.mean((engine >= low) & (engine <= high)))
        said.append(f"{100 * share:5.1f} +- {100 * math.sqrt(share * (1 - share) / len(low)):3.1f}")
    return "   ".join(said)


def of_draws(
    surrogates: Sequence[Surrogate],
    named: Mapping[str, np.ndarray],
    points: int,
) -> np.ndarray:
    """Give quantiles (5, point) of sums of draws."""
    spectra = ({name: float(of[row]) for name, of in named.items()} for row in range(points))
    drawn = [
        np.quantile(sum_of_draws([(each, one) for each in surrogates]), PROBABILITIES)
        for one in spectra
    ]
    return np.transpose(drawn)


def added(parts: Sequence[Part], power: int) -> np.ndarray:
    """Give quantiles (5, point) of sums whose intervals are added, linearly or in quadrature."""
    middle = sum(each.quantiles[2] for each in parts)
    widths = [np.abs(each.quantiles - each.quantiles[2]) for each in parts]
    width = sum(each**power for each in widths) ** (1 / power)
    signs = np.sign(np.array(PROBABILITIES) - 0.5)[:, np.newaxis]
    return np.asarray(middle + signs * width)


def largest(parts: Sequence[Part]) -> Part:
    """Take at each spectrum the process of the widest interval."""
    every = np.stack([each.quantiles for each in parts])
    widest = np.argmax(every[:, 3] - every[:, 1], axis=0)
    rows = np.arange(len(widest))
    engine = np.stack([each.engine for each in parts])[widest, rows]
    return Part(engine, every[widest, :, rows].T)


def pulls(each: Part) -> np.ndarray:
    """Give errors (point,) in units of the half interval to their side."""
    error, low, high = each.engine - each.quantiles[2], each.quantiles[1], each.quantiles[3]
    return np.asarray(
        error / np.where(error < 0, each.quantiles[2] - low, high - each.quantiles[2])
    )


def shuffled(parts: Sequence[Part], rng: np.random.Generator) -> np.ndarray:
    """Give sums (point,) of errors of other spectra, scaled to the intervals of each."""
    total = sum(each.quantiles[2] for each in parts)
    for each in parts:
        pull = rng.permutation(pulls(each))
        low, middle, high = each.quantiles[1:4]
        total = total + pull * np.where(pull < 0, middle - low, high - middle)
    return np.asarray(total)


def compare(bundle: Bundle, energy: float, count: int, seed: int) -> None:
    """Print the coverage of all processes at an energy, and of their sum."""
    names = {pair: entry.name for pair, (entry,) in bundle.offered(energy=energy).items()}
    chosen = {pair: bundle.surrogates[name] for pair, name in names.items()}
    parameters = sample_parameters(seed, count)
    named = columns(parameters) | {"msq": np.full(count, SQUARKS_GEV)}
    parts = {name: part(one, parameters, named) for name, one in chosen.items()}
    every = [*parts.values()]
    print(f"\n{energy:g} GeV, {count} spectra, seed {seed}: coverage of 68 and 95 % intervals")
    for name, one in parts.items():
        print(f"{name:24} {covered(*one)}")
    engine = np.sum([each.engine for each in every], axis=0)
    drawn = of_draws([*chosen.values()], named, count)
    factor = bundle.widening(names.values())
    rows = {
        "sum of the bundle": (engine, drawn[2] + factor * (drawn - drawn[2])),
        "sum, independent": (engine, drawn),
        "sum, in quadrature": (engine, added(every, 2)),
        "sum, linear": (engine, added(every, 1)),
        "largest part": largest(every),
        "sum, shuffled": (shuffled(every, np.random.default_rng(seed)), drawn),
    }
    for name, given in rows.items():
        print(f"{name:24} {covered(*given)}")
    print(f"{'factor on intervals':24} {factor:.3f}")
    ranks = [spearmanr(pulls(one), pulls(two))[0] for one, two in combinations(every, 2)]
    if ranks:
        print(f"{'correlation':24} {np.mean(ranks):+.3f}, {min(ranks):+.3f} to {max(ranks):+.3f}")


def main() -> None:
    """Compare at each energy of a bundle."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path, help="folder of a bundle of neutralino pairs")
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    if given.seed == TRAINED_ON:
        parser.error(f"the surrogates were trained on spectra of seed {TRAINED_ON}")
    bundle = Bundle.load(given.bundle)
    for energy in bundle.energies:
        compare(bundle, energy, given.points, given.seed)


if __name__ == "__main__":
    main()
