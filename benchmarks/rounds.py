"""How many points must be computed: chosen by the posterior, at random, and by a Sobol design.

    python -m benchmarks.rounds --pool PROSPINO.csv.gz --seeds 3 --out rounds

Two pools, whose targets are bought row by row: the K-factor of Prospino's table (`prospino_k` of
config/studies/prospino.yaml), and the embedded cross section without a reference. Each round of
the posterior buys a fifth of its rows at random, which a permutation fixes before the first round,
and chooses the others (`choosing.batch`). All random rows, each given all other rows, are judged
(`choosing.stopping`). Errors are those of all rows of the pool; a bought row has none.

The model is an infinitely wide network at the mode of its scales, not its posterior. A Sobol design
takes the free row of the pool that is nearest to each Sobol point, in ranks of the features.
`--repeats` repeats the rounds of the posterior alone, until the rule stops.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.spatial import cKDTree
from scipy.stats import qmc, rankdata

from benchmarks.mode_of_scales import Model, Pool, pool_of
from nlobayes import runtime
from nlobayes.choosing.stopping import Verdict, judge
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.table_files import read_table
from nlobayes.prepared import prepared
from nlobayes.study.accuracy import Accuracy
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job
from nlobayes.types import Table

STUDY, SEED = Path("config/studies/prospino.yaml"), 20240101
START, BATCH, SHARE = 100, 50, 0.2
POSTERIOR, RANDOM, SOBOL, RULE = "posterior", "random", "sobol", "rule"
COLOURS = {POSTERIOR: "#0072b2", RANDOM: "#d55e00", SOBOL: "#009e73"}
GOALS = {"prospino": 0.011, "embedded": 0.02}
"""Error of 95 % of all rows."""
COLUMNS = (
    *("pool", "design", "seed", "rows", "random", "p50 %", "p95 %", "bound of p95 %", "met"),
    "CPU s",
)
Row = dict[str, Any]


def prospino(path: Path) -> Pool:
    """Make the pool of Prospino's rows relative to our NLO."""
    settings = yaml.safe_load(STUDY.read_text("utf-8"))["datasets"]["prospino_k"]
    settings["source"]["path"] = str(path)
    return prepared_pool(settings, read_table(path), path)


def embedded() -> Pool:
    """Make the pool of the embedded cross section without a reference."""
    settings = {
        "source": {"kind": "simulate", "points": 4000, "seed": SEED},
        "features": {"map": "resolved_invariants"},
        "split": {"train": 1000, "validation": 500, "test": 2500},
    }
    return prepared_pool(settings, scan_table(SEED, 4000, Settings(13.0, 3000.0)), Path("embedded"))


def prepared_pool(settings: Row, table: Table, path: Path) -> Pool:
    """Prepare a table as a study does."""
    return pool_of(
        prepared(table, prepare_job(DatasetPreset.model_validate(settings)), path).dataset
    )


def sobol_order(features: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return rows in the order of the Sobol points to which they are nearest."""
    ranks = np.apply_along_axis(rankdata, 0, features) / len(features)
    sequence = qmc.Sobol(features.shape[1], rng=np.random.default_rng(seed))
    points = sequence.random(2 ** count.bit_length())
    taken: dict[int, None] = {}
    for near in cKDTree(ranks).query(points, k=64)[1].tolist():
        taken |= dict.fromkeys([row for row in near if row not in taken][:1])
    return np.array([*taken])[:count]


def rounds(
    model: Model, design: str, seed: int, wanted: Accuracy, most: int, *, until_met: bool = False
) -> Iterator[Row]:
    """Buy rows in rounds, and yield errors and the verdict of each."""
    pool, rng = model.pool, np.random.default_rng([seed, 7])
    order, looks, random = (
        rng.permutation(len(pool.dex)),
        (most - START) // BATCH + 1,
        SHARE * BATCH,
    )
    reserved = order[: START + looks * round(random)]  # validation rows of all rounds
    if design == SOBOL:
        order = sobol_order(pool.features, most, seed)
    mode, before, earlier, chosen = None, order, list[Verdict](), list[int]()
    for look in range(looks):
        begin = time.process_time()
        rows = validation = order[: START + look * BATCH]
        if design == POSTERIOR:
            validation = reserved[: START + look * round(random)]
            if mode is not None:
                free = np.setdiff1d(np.arange(len(pool.dex)), [*reserved, *chosen])
                chosen += model.choose(mode, before, free, BATCH - round(random), rng).tolist()
            rows = np.array([*validation, *chosen])
        mode = model.fit(rows, None if mode is None else mode.position, seed)
        before, errors = rows, model.errors(mode, rows)
        own = model.left_out(mode)[: len(validation)]
        verdict = judge(own, wanted, looks, len(rows), earlier)
        earlier.append(verdict)
        bound = verdict["p95"]["error_bound"]
        yield {
            "seed": seed,
            "rows": len(rows),
            "random": len(validation),
            "p50 %": 100 * float(np.median(errors)),
            "p95 %": 100 * float(np.quantile(errors, 0.95)),
            "bound of p95 %": None if bound is None else 100 * bound,
            "met": verdict["met"],
            "CPU s": time.process_time() - begin,
        }
        if until_met and verdict["met"]:
            return


def main() -> None:
    """Buy rows of both pools by each design, write a table and a figure, and print the goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pool", type=Path, help="table of Prospino; left out without it")
    parser.add_argument("--only", choices=[*GOALS], help="one pool")
    parser.add_argument("--seeds", type=int, default=3, help="repeats of each design")
    parser.add_argument("--repeats", type=int, default=0, help="repeats of the rule to stop")
    parser.add_argument("--p95", type=float, help="error of 95 %% of all rows that the rule wants")
    parser.add_argument("--most", type=int, default=800, help="most rows that are bought")
    parser.add_argument("--out", type=Path, default=Path("rounds"), help="names of the files")
    given = parser.parse_args()
    runtime.configure("float64", threads=None)
    pools: dict[str, Callable[[], Pool]] = {"embedded": embedded}
    if given.pool is not None and given.pool.is_file():
        pools["prospino"] = partial(prospino, given.pool)
    else:
        print(f"skipped: prospino, for there is no table {given.pool}")
    found: list[Row] = []
    for name in pools if given.only is None else {given.only} & {*pools}:
        model, p95 = Model(pools[name]()), given.p95 or GOALS[name]
        wanted = Accuracy(median=p95 / 2, p95=p95)
        cases = [(design, seed) for seed in range(given.seeds) for design in COLOURS]
        for design, seed in cases + [(RULE, seed) for seed in range(given.repeats)]:
            kind, stops = (POSTERIOR, True) if design == RULE else (design, False)
            for row in rounds(model, kind, seed, wanted, given.most, until_met=stops):
                found.append({"pool": name, "design": design, **row})
                print(*(_short(found[-1][column]) for column in COLUMNS), flush=True)
            write(given.out, found)
        report(name, [one for one in found if one["pool"] == name], p95)


def _short(value: object) -> object:
    return f"{value:.3g}" if isinstance(value, float) else value


def report(name: str, found: list[Row], p95: float) -> None:
    """Print the rows at which each repeat reaches the goal, and how often the rule is right."""
    for design in COLOURS:
        by_seed = [one for one in _by_seed(found, design) if one]
        first = [next((o["rows"] for o in one if o["p95 %"] <= 100 * p95), None) for one in by_seed]
        print(f"{name}, {design}: rows to p95 <= {100 * p95:g} %: {first}")
    last = [one[-1] for one in _by_seed(found, RULE) if one[-1]["met"]]
    right, at = sum(one["p95 %"] <= 100 * p95 for one in last), [one["rows"] for one in last]
    print(
        f"{name}: the rule stops {len(last)} of {len(_by_seed(found, RULE))} repeats at rows {at}"
    )
    print(f"{name}: it is right in {right} of them")


def _by_seed(found: list[Row], design: str) -> list[list[Row]]:
    own = [one for one in found if one["design"] == design]
    return [[o for o in own if o["seed"] == seed] for seed in sorted({o["seed"] for o in own})]


def write(out: Path, found: list[Row]) -> None:
    """Write the table, and the figure of p95 against rows."""
    from matplotlib.figure import Figure

    from nlobayes.plots.style import spread_log_labels

    with out.with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(found)
    names = sorted({one["pool"] for one in found})
    figure = Figure(figsize=(4 * len(names), 3), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for design, colour in COLOURS.items():
            for seed, line in enumerate(_by_seed([o for o in found if o["pool"] == name], design)):
                label = None if seed else design
                x, y = [one["rows"] for one in line], [one["p95 %"] for one in line]
                axes.loglog(x, y, color=colour, label=label)
        axes.axhline(100 * GOALS[name], color="0.5", linewidth=0.8)
        axes.set(xlabel="points bought", ylabel="95 % of errors within (%)", title=name)
        for axis in (axes.xaxis, axes.yaxis):
            spread_log_labels(axis)
        axes.legend(frameon=False)
    figure.savefig(out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
