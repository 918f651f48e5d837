"""Seconds of each stage of a run on one device, and the share of them in which a GPU is busy.

    python -m benchmarks.devices --device gpu --csv gpu.csv
    python -m benchmarks.devices --device cpu --csv cpu.csv

A run of four chains: a MAP of each, one after the other; their draws, vectorised on a GPU and by a
core each otherwise; predictions. Seconds are without compilation, on a GPU of the wall and on a
CPU of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common import (
    Case,
    Row,
    isolated,
    make_embedded,
    parse_case,
    print_rows,
    simulate_rows,
    write_csv,
)

CASES = ("5-32-1@1000", "5-20-20-1@12000", "5-50-50-50-50-50-1@12000")
COLUMNS = ("case", "stage", "seconds", "busy")


def main() -> None:
    """Print one row per case and stage."""
    given = _arguments()
    rows = print_rows(_rows(given.device, given.cases), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)


def _rows(device: str, cases: list[Case]) -> Iterator[Row]:
    table = simulate_rows(max(case.rows for case in cases))
    for case in cases:
        dataset = make_embedded(table, case.rows)
        yield from isolated(
            "benchmarks.measure_stages:stages", dataset, case, device, device=device
        )


def _arguments() -> argparse.Namespace:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--device", choices=("cpu", "gpu"), default="cpu")
    add("--cases", type=parse_case, nargs="+", default=[*map(parse_case, CASES)])
    add("--csv", type=Path, help="file to write the rows to")
    return parser.parse_args()


if __name__ == "__main__":
    main()
