"""Gradients per second of HMC against the number of chains that are vectorised in one job.

    python -m benchmarks.chains --device gpu
    python -m benchmarks.chains --device gpu --kernel chees --chains 16 64 256
    python -m benchmarks.chains --device cpu --chains 1

A CPU is one core, and its seconds are CPU seconds; those of a GPU are wall seconds. Every chain
makes as many leapfrog steps, so gradients per second of a GPU are to be compared with those of one
chain on a core, times the number of cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common import (
    Row,
    isolated,
    make_embedded,
    model_job,
    parse_case,
    print_rows,
    simulate_rows,
    write_csv,
)
from nlobayes import runtime

SIGMA, LEAPFROGS = 0.05, 512
CASES = ("5-32-1@1000", "5-20-20-1", "5-50-50-50-50-50-1", "5-2048-1")
COLUMNS = ("case", "parameters", "chains", "ms/leapfrog", "gradients/s", "timed-leapfrogs")


def main() -> None:
    """Print one row per case and number of chains."""
    given = _arguments()
    runtime.configure("float32", given.device)
    rows = print_rows(_rows(given), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)


def _rows(given: argparse.Namespace) -> Iterator[Row]:
    cases = given.cases or [parse_case(text) for text in CASES]
    table = simulate_rows(max(case.rows for case in cases))
    for case in cases:
        costs = isolated(
            "benchmarks.measure:draw_costs",
            *(make_embedded(table, case.rows), model_job(case, SIGMA, given.device)),
            *(given.chains, LEAPFROGS, given.seconds, given.kernel),
            device=given.device,
        )
        for chains, cost in zip(given.chains, costs, strict=True):
            yield {
                "case": str(case),
                "parameters": case.parameters,
                "chains": chains,
                "ms/leapfrog": 1e3 * chains * cost.seconds_per_leapfrog,
                "gradients/s": 1 / cost.seconds_per_leapfrog,
                "timed-leapfrogs": cost.leapfrogs,
            }


def _arguments() -> argparse.Namespace:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--device", choices=("cpu", "gpu"), default="cpu")
    add("--cases", type=parse_case, nargs="+", help="layers@rows; four cases where not given")
    add("--chains", type=int, nargs="+", default=[1, 4, 16, 64, 256], help="vectorised chains")
    add("--kernel", choices=("hmc", "chees"), default="hmc")
    add("--seconds", type=float, default=6, help="seconds of timing per row of the table (6)")
    add("--csv", type=Path, help="file to write the rows to")
    return parser.parse_args()


if __name__ == "__main__":
    main()
