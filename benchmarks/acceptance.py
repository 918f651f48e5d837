"""How often more accepted points exceed the largest error than stated, in simulated data sets.

    python -m benchmarks.acceptance --sets 1000

The laws of stated errors and of errors are those of the tests: honest ones, and others. Then follow
infinitely wide networks that learn train rows or all rows, conditioned directly (200 data sets).
`too many` is the share of data sets in which more than 5 % of accepted points exceed; at most 5 %
is stated. `accepted` is the mean share of accepted points, 0 without a threshold.
"""

from __future__ import annotations

import argparse

import numpy as np

from nlobayes.surrogate.acceptance import threshold
from tests.statistical.test_acceptance import CASES, of_networks
from tests.unit.surrogate.test_acceptance import MAX_ERROR, SHARE, TRUTHS, Truth


def of_law(truth: Truth, rows: int, sets: int) -> tuple[float, float]:
    """Return the share of data sets with too many, and the mean share of accepted points."""
    rng = np.random.default_rng(rows)
    points = np.sort(truth.draw(rng, 200_000))
    shares = np.cumsum(truth.exceeds(points)) / np.arange(1, len(points) + 1)
    above, accepted = 0, 0.0
    for _ in range(sets):
        stated = truth.draw(rng, rows)
        error = np.where(rng.random(rows) < truth.exceeds(stated), 1.0, 0.0)
        found = threshold(stated, error, MAX_ERROR).value
        if found is not None:
            last = int(np.searchsorted(points, found, "right"))
            above += shares[last - 1] > SHARE
            accepted += last / len(points)
    return above / sets, accepted / sets


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000, help="data sets of each law")
    sets = parser.parse_args().sets
    print("| errors | held-out rows | too many | accepted |\n|---|---|---|---|")
    for name, law in TRUTHS.items():
        for rows in (80, 400, 1200):
            too_many, accepted = of_law(law, rows, sets)
            print(f"| {name} | {rows} | {too_many:.1%} | {accepted:.1%} |", flush=True)
    for case in CASES:
        above, mean = of_networks(*case)
        print(f"| network, {', '.join(map(str, case))} | 120 | {above:.1%} | {mean:.1%} |")
