"""Seconds of one draw of HMC with 512 leapfrogs against the width of one hidden layer.

    python -m benchmarks.width --device gpu
    python -m benchmarks.width --device cpu --seconds 20

Beside it stands the share of the speed of a plain product of large matrices, measured in the same
process just before: a layer on five features has short products, so tanh and memory count, too.
A CPU is one core and its seconds are CPU seconds; a GPU's are wall seconds. Where 512 leapfrogs
take longer than `--seconds`, fewer are timed and the draw is EXTRAPOLATED from them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from benchmarks.common import (
    Case,
    Row,
    isolated,
    make_embedded,
    model_job,
    print_rows,
    simulate_rows,
    write_csv,
)
from nlobayes import runtime

LEAPFROGS = 512
COLUMNS = ("width", "s/draw", "timed-leapfrogs", "extrapolated", "GFLOP/s", "matmul", "share")


def main() -> None:
    """Print one row per width."""
    given = _arguments()
    runtime.configure("float32", given.device)
    rows = print_rows(_rows(given), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)


def _rows(given: argparse.Namespace) -> Iterator[Row]:
    dataset = make_embedded(simulate_rows(given.rows), given.rows)
    for width in given.widths:
        case = Case((5, width, 1), given.rows)
        [cost] = isolated(
            "benchmarks.measure:draw_costs",
            *(dataset, model_job(case, 0.05, given.device)),
            *([given.chains], LEAPFROGS, given.seconds),
            device=given.device,
        )
        speed = gradient_flops(case) / cost.seconds_per_leapfrog
        yield {
            "width": width,
            "s/draw": LEAPFROGS * cost.seconds_per_leapfrog,
            "timed-leapfrogs": cost.leapfrogs,
            "extrapolated": "yes" if cost.leapfrogs < LEAPFROGS else "no",
            "GFLOP/s": speed / 1e9,
            "matmul": cost.matmul_flops / 1e9,
            "share": speed / cost.matmul_flops,
        }


def gradient_flops(case: Case) -> float:
    """Count the operations in the products of matrices of one value and gradient.

    Each layer has three products, forward, for the weights and for its inputs; the first layer's
    inputs need no gradient. Activations and sums are not counted.
    """
    products = [fan_in * fan_out for fan_in, fan_out in pairwise(case.sizes)]
    return 2.0 * case.rows * (3 * sum(products) - products[0])


def _arguments() -> argparse.Namespace:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--device", choices=("cpu", "gpu"), default="cpu")
    add("--widths", type=int, nargs="+", default=[2**power for power in range(5, 14)])
    add("--rows", type=int, default=12_000, help="train rows (12000)")
    add("--chains", type=int, default=1, help="chains vectorised; seconds are per chain (1)")
    add("--seconds", type=float, default=60, help="seconds of timing per width (60)")
    add("--csv", type=Path, help="file to write the rows to")
    return parser.parse_args()


if __name__ == "__main__":
    main()
