"""Where a surrogate of neutralino pairs is wrong, and what its error costs an exclusion.

    python -m benchmarks.exclusion RUN --csv exclusion.csv

RUN names a finished run below `results/surrogates`, of a table with mass and mixings of the
lightest neutralino. Every test row is scored by region of the mass and the mixings. The exclusion
is that of one counting experiment, of 10 observed events and 10 +- 1 expected ones of the
background, by CLs: P(at most 10 events | signal and background) / P(at most 10 | background),
averaged over the background. The signal of each row is that which is excluded at exactly 95 %,
CLs = 0.05, with the row's own cross section. `shift` is how far CLs moves if the surrogate's
median replaces it, and `by errors` how far if the stated distribution of the surrogate does. So
each row is the case that its analysis finds hardest. `changed` counts rows that an analysis with
one limit, the median cross section of the rows, puts on the other side.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import poisson

from benchmarks.common import Row, print_rows, write_csv
from nlobayes import Surrogate
from nlobayes.artifacts.contents import read_dataset
from nlobayes.data.splits import TEST

COLUMNS = (
    *("region", "rows", "p50 %", "p95 %", "covers 68", "covers 95"),
    *("shift p50", "shift p95", "shift max", "by errors p95", "changed"),
)
OBSERVED, BACKGROUND, ERROR, LEVEL = 10, 10.0, 1.0, 0.05
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
PROBABILITIES = (0.025, 0.16, 0.5, 0.84, 0.975)
"""Of the intervals that are scored."""
OF_ERRORS = tuple(float(p) for p in np.arange(0.025, 1, 0.05))
"""Of equally probable values of the surrogate, over which CLs is averaged."""
REGIONS: dict[str, Callable[..., np.ndarray]] = {
    "all": lambda m1, n11, n12, n13, n14: np.full(len(m1), True),
    "m1 > 0": lambda m1, n11, n12, n13, n14: m1 > 0,
    "m1 < 0": lambda m1, n11, n12, n13, n14: m1 < 0,
    "N11, N12 near 0: sum of squares < 0.01": lambda m1, n11, n12, n13, n14: n11**2 + n12**2 < 0.01,
    "N13, N14 near 0: sum of squares < 0.01": lambda m1, n11, n12, n13, n14: n13**2 + n14**2 < 0.01,
    "mixed: both sums > 0.1": lambda m1, n11, n12, n13, n14: (
        (n11**2 + n12**2 > 0.1) & (n13**2 + n14**2 > 0.1)
    ),
    "coupling to Z near 0: |N13^2 - N14^2| < 0.001": lambda m1, n11, n12, n13, n14: (
        np.abs(n13**2 - n14**2) < 0.001
    ),
}
INPUTS = ("m1", "n11", "n12", "n13", "n14")


def main() -> None:
    """Print one row per region."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", help="path of a run below results/surrogates, without .nc")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--csv", type=Path, help="file for the rows")
    given = parser.parse_args()
    rows = print_rows(iter(score(given.results, given.run)), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)


def score(results: Path, run: str) -> list[Row]:
    """Score the test rows of a run by region, and by group if the table has groups."""
    surrogate = Surrogate.load(results / "surrogates" / f"{run}.nc")
    data = read_dataset(results / "data" / f"{run.split('/')[0]}.nc")
    test = data.split == TEST
    columns = dict(zip(data.input_names, data.inputs[test].T, strict=True))
    truth = data.observed[test]
    quantiles = surrogate.predict(columns, quantiles=PROBABILITIES).quantiles / truth
    values = surrogate.predict(columns, quantiles=OF_ERRORS).quantiles / truth
    found = scores_of_rows(quantiles, values)
    limit = np.median(truth)
    found["changed"] = (truth > limit) != (truth * quantiles[2] > limit)
    regions = {name: region(*map(columns.get, INPUTS)) for name, region in REGIONS.items()}
    if data.groups is not None:
        codes = data.groups.codes[test]
        regions |= {
            f"{data.groups.column} {label}": codes == code
            for code, label in enumerate(data.groups.labels)
        }
    return [{"region": name, **summary(found, rows)} for name, rows in regions.items()]


def scores_of_rows(quantiles: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    """Score rows (row,) by quantiles and values of the surrogate over the truth (quantile, row)."""
    signal = np.linspace(0, 60, 6001)
    at = cls(signal)
    excluded = brentq(lambda s: float(cls(np.array([s]))[0]) - LEVEL, 0.1, 50)
    low95, low68, median, high68, high95 = quantiles
    return {
        "error": np.abs(median - 1),
        "covers 68": (low68 <= 1) & (high68 >= 1),
        "covers 95": (low95 <= 1) & (high95 >= 1),
        "shift": np.abs(np.interp(excluded * median, signal, at) - LEVEL),
        "by errors": np.abs(np.interp(excluded * values, signal, at).mean(axis=0) - LEVEL),
    }


def cls(signal: np.ndarray) -> np.ndarray:
    """Compute CLs of numbers of signal events (signal,), averaged over the background."""
    background = BACKGROUND + ERROR * NODES[:, np.newaxis]
    both = WEIGHTS @ poisson.cdf(OBSERVED, background + signal)
    return np.asarray(both / (WEIGHTS @ poisson.cdf(OBSERVED, background)))


def summary(found: dict[str, np.ndarray], rows: np.ndarray) -> Row:
    """Summarise the rows of a region."""
    error, shift = found["error"][rows], found["shift"][rows]
    return {
        "rows": int(rows.sum()),
        "p50 %": 100 * np.median(error),
        "p95 %": 100 * np.quantile(error, 0.95),
        "covers 68": found["covers 68"][rows].mean(),
        "covers 95": found["covers 95"][rows].mean(),
        "shift p50": np.median(shift),
        "shift p95": np.quantile(shift, 0.95),
        "shift max": shift.max(),
        "by errors p95": np.quantile(found["by errors"][rows], 0.95),
        "changed": int(found["changed"][rows].sum()),
    }


if __name__ == "__main__":
    main()
