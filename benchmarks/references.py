"""Score grids of study `lhc` with and without the reference of their target, over random splits.

    python -m benchmarks.references --csv docs/results/tables/lhc_references.csv

One row for each grid that is relative to the embedded engine: the median, 95 % and largest relative
error in percent of rows that are held out, a fifth in each of five splits, `alone` and relative to
the NLO. Networks of infinite width stand at the mode of their scales (`mode_of_scales`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.common import Row, print_rows, write_csv
from benchmarks.mode_of_scales import Model
from benchmarks.rounds import prepared_pool
from nlobayes import runtime
from nlobayes.data.table_files import read_table

STUDY = Path("config/studies/lhc.yaml")
SPLITS, HELD_OUT = 5, 0.2
SCORES = {"p50 %": 0.5, "p95 %": 0.95, "largest %": 1.0}
KINDS = ("alone", "NLO")
COLUMNS = ("grid", "rows", *(f"{kind} {score}" for kind in KINDS for score in SCORES))


def main() -> None:
    """Print a row for each grid, then how many have smaller errors with the reference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=Path, help="file for the rows")
    given = parser.parse_args()
    runtime.configure("float64", threads=None)
    rows = print_rows(_rows(), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)
    for score in SCORES:
        ratios = [row[f"NLO {score}"] / row[f"alone {score}"] for row in rows]
        smaller = sum(ratio < 1 for ratio in ratios)
        print(f"{score} is smaller for {smaller} of {len(rows)}, by {np.median(ratios):.2g}")


def _rows() -> Iterator[Row]:
    for name, settings in yaml.safe_load(STUDY.read_text("utf-8"))["datasets"].items():
        target = settings["target"]
        if "relative_to" not in target:
            continue
        column = {key: target[key] for key in ("column", "unit")}
        errors = {
            "alone": _errors(settings | {"target": column}),
            "NLO": _errors(settings | {"target": column | {"relative_to": target["relative_to"]}}),
        }
        yield {
            "grid": name,
            "rows": len(errors["alone"]),
            **{
                f"{kind} {score}": 100 * float(np.nanquantile(errors[kind], share))
                for kind in KINDS
                for score, share in SCORES.items()
            },
        }


def _errors(settings: Mapping[str, Any]) -> np.ndarray:
    """Return relative errors (row, split), which are NaN for the rows that were learned."""
    path = Path(settings["source"]["path"])
    pool = prepared_pool(dict(settings), read_table(path), path)
    model, rows = Model(pool), len(pool.dex)
    errors = np.full((rows, SPLITS), np.nan)
    for seed in range(SPLITS):
        mixed = np.random.default_rng(seed).permutation(rows)
        learned, held_out = np.split(mixed, [round((1 - HELD_OUT) * rows)])
        mode = model.fit(np.sort(learned), None, seed)
        errors[held_out, seed] = model.errors(mode, np.sort(learned))[held_out]
    return errors


if __name__ == "__main__":
    main()
