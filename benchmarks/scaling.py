"""How cost grows with rows and parameters: gradients, memory, and effective draws of HMC.

    python -m benchmarks.scaling --csv scaling.csv --figure scaling.svg

Gradients are timed in a compiled loop (the fastest of several repetitions, CPU seconds), each size
in a process of its own. Effective draws come from short runs of HMC, as in `benchmarks.methods`,
once with the same sigma at every number of rows and once with the same tightness rows / sigma^2.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from math import nan, sqrt
from pathlib import Path

from benchmarks.common import (
    Case,
    Cell,
    Row,
    fit_slope,
    isolated,
    make_embedded,
    model_job,
    parse_case,
    parse_sampler,
    print_rows,
    simulate_rows,
    write_csv,
)
from nlobayes import runtime
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Table

GRADIENT_COLUMNS = ("series", "case", "parameters", "ms", "MiB-XLA", "MiB-peak")
DRAW_COLUMNS = ("series", "case", "sigma", "warm-up", "draws", "ESS", "R-hat", "s/ESS", "grad/ESS")
WIDE = (16, 64, 256, 1024, 4096, 16384)
DEEP = (8, 30, 100, 300)
"""Units of each of two hidden layers."""

SERIES: dict[str, tuple[str, str]] = {
    "rows": ("rows", "ms"),
    "wide": ("parameters", "ms"),
    "deep": ("parameters", "ms"),
    "same sigma": ("rows", "s/ESS"),
    "same tightness": ("rows", "s/ESS"),
}
"""What each series is over, and what is fitted."""


def main() -> None:
    """Print the tables and the fitted slopes; write them if requested."""
    given = _arguments()
    runtime.configure("float32")
    table = simulate_rows(max(*given.rows, *given.draw_rows, given.parameter_rows))
    rows = print_rows(_gradients(table, given), GRADIENT_COLUMNS)
    rows += print_rows(_effective_draws(table, given), DRAW_COLUMNS)
    slopes = {series: _slope(rows, series) for series in SERIES}
    for series, (x, y) in SERIES.items():
        print(f"{series}: {y} grows as {x}^{slopes[series]:.2f}")
    memory = [row for row in rows if row["series"] == "rows"]
    exponent = fit_slope([row["rows"] for row in memory], [row["MiB-XLA"] for row in memory])
    print(f"rows: MiB-XLA grows as rows^{exponent:.2f}")
    if given.csv:
        write_csv(given.csv, rows)
    if given.figure:
        _draw_figure(rows, slopes, given.figure)


def _gradients(table: Table, given: argparse.Namespace) -> Iterator[Row]:
    """Time gradients against rows, then against parameters."""
    series = {
        "rows": [Case(given.network.sizes, rows) for rows in given.rows],
        "wide": [Case((5, units, 1), given.parameter_rows) for units in given.wide],
        "deep": [Case((5, units, units, 1), given.parameter_rows) for units in given.deep],
    }
    for name, cases in series.items():
        for case in cases:
            job = model_job(case, given.sigma)
            dataset = make_embedded(table, case.rows)
            cost = isolated("benchmarks.measure:gradient_cost", dataset, job, given.repeats)
            yield _named(name, case) | {
                "ms": 1e3 * cost.seconds,
                "MiB-XLA": cost.xla_mib,
                "MiB-peak": cost.peak_mib,
            }


def _effective_draws(table: Table, given: argparse.Namespace) -> Iterator[Row]:
    """Run short HMC against rows, at one sigma, then at one tightness."""
    first = min(given.draw_rows, default=1)
    noises: dict[str, Callable[[int], float]] = {
        "same sigma": lambda rows: given.sigma,
        "same tightness": lambda rows: given.sigma * sqrt(rows / first),
    }
    for name, noise in noises.items():
        for rows in given.draw_rows:
            case = Case(given.draw_network.sizes, rows)
            found = _effective_draw(table, case, noise(rows), given)
            yield _named(name, case) | {"sigma": noise(rows)} | found


def _effective_draw(table: Table, case: Case, sigma: float, given: argparse.Namespace) -> Row:
    dataset, job = make_embedded(table, case.rows), model_job(case, sigma)
    sampler = parse_sampler("hmc")
    pretraining = Pretraining(epochs=given.epochs, batch=min(100, case.rows))
    find = "benchmarks.measure:find_starts"
    start = isolated(find, dataset, job, pretraining, sampler.chains, given.seed)["start"]
    cell = Cell(dataset, job, sampler, start, given.seconds, given.seed)
    outcome = isolated("benchmarks.measure:sample", cell)
    return {
        "warm-up": outcome.warmup_steps,
        "draws": outcome.draws,
        "ESS": outcome.ess,
        "R-hat": outcome.rhat,
        "s/ESS": outcome.seconds / (outcome.ess or nan),
        "grad/ESS": outcome.gradients / (outcome.ess or nan),
    }


def _named(series: str, case: Case) -> Row:
    return {
        "series": series,
        "case": str(case),
        "rows": case.rows,
        "parameters": case.parameters,
    }


def _points(rows: list[Row], series: str) -> tuple[list[float], list[float]]:
    x, y = SERIES[series]
    chosen = [row for row in rows if row["series"] == series]
    return [row[x] for row in chosen], [row[y] for row in chosen]


def _slope(rows: list[Row], series: str) -> float:
    return fit_slope(*_points(rows, series))


def _draw_figure(rows: list[Row], slopes: dict[str, float], path: Path) -> None:
    """Draw every series with its slope, log-log, in three panels."""
    import matplotlib.pyplot as plt

    panels = {
        "one gradient [ms]": ["rows"],
        "one gradient  [ms]": ["wide", "deep"],
        "one effective draw [CPU s]": ["same sigma", "same tightness"],
    }
    figure, axes = plt.subplots(1, len(panels), figsize=(11, 3.4), layout="constrained")
    for ax, (label, names) in zip(axes, panels.items(), strict=True):
        for name in names:
            ax.loglog(*_points(rows, name), "o-", label=f"{name}: slope {slopes[name]:.2f}")
        ax.set(xlabel="train rows" if SERIES[names[0]][0] == "rows" else "parameters", ylabel=label)
        ax.legend(frameon=False)
    figure.savefig(path)


def _arguments() -> argparse.Namespace:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--rows", type=int, nargs="*", default=[1000, 10_000, 100_000, 1_000_000])
    add("--network", type=parse_case, default=parse_case("5-20-20-1"), help="for --rows")
    add("--wide", type=int, nargs="*", default=WIDE, help="units of one hidden layer")
    add("--deep", type=int, nargs="*", default=DEEP, help="units of each of two hidden layers")
    add("--parameter-rows", type=int, default=10_000, help="rows of --wide and --deep (10000)")
    add("--repeats", type=int, default=10)
    add("--draw-rows", type=int, nargs="*", default=[300, 1000, 3000, 10_000], help="rows of HMC")
    add("--draw-network", type=parse_case, default=parse_case("5-32-1"), help="of HMC")
    add("--sigma", type=float, default=0.05, help="tolerance; at the fewest rows of --draw-rows")
    add("--seconds", type=float, default=120, help="CPU seconds of one HMC run (120)")
    add("--epochs", type=int, default=200, help="epochs of Adam before (200)")
    add("--seed", type=int, default=1)
    add("--csv", type=Path, help="file to write the rows to")
    add("--figure", type=Path, help="figure to write: .png or .svg")
    return parser.parse_args()


if __name__ == "__main__":
    main()
