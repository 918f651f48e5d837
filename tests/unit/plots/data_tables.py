"""Invented tables of the rows of a dataset: numbers with a reference, or classes."""

import numpy as np
import pandas as pd

ROWS = {"train": 60, "val": 20, "test": 30}


def data_tables() -> dict[str, pd.DataFrame]:
    """Two inputs, a cross section that is learned as log10, and its ratio to a reference."""
    rng = np.random.default_rng(11)
    rows = _rows(rng)
    cross_section = 10 ** rng.uniform(-4, 0, len(rows))
    rows = rows.assign(target_1=cross_section, ratio=rng.uniform(1.2, 1.4, len(rows)))
    columns = {
        "column": ["input_1", "input_2", "target_1", "ratio"],
        "name": ["m1", "n11", "sigma_pb", "sigma_pb / reference"],
        "unit": ["GeV", "1", "pb", ""],
        "scale": ["", "", "log10", ""],
    }
    return _tables(rows, columns)


def class_data_tables() -> dict[str, pd.DataFrame]:
    """Two inputs and a label of 0, 1 or 2, which moves the first input."""
    rng = np.random.default_rng(12)
    rows = _rows(rng)
    label = np.arange(len(rows)) % 3
    rows = rows.assign(input_1=label + rng.uniform(-0.1, 0.1, len(rows)), target_1=label)
    columns = {
        "column": ["input_1", "input_2", "target_1"],
        "name": ["x1", "x2", "digit"],
        "unit": ["", "", ""],
        "scale": ["", "", "classes"],
    }
    return _tables(rows, columns)


def _rows(rng: np.random.Generator) -> pd.DataFrame:
    split = np.repeat([*ROWS], [*ROWS.values()])
    rows = {"point": np.arange(len(split)), "split": split}
    rows |= {f"input_{k}": rng.uniform(-1, 1, len(split)) for k in (1, 2)}
    return pd.DataFrame(rows)


def _tables(rows: pd.DataFrame, columns: dict[str, list[str]]) -> dict[str, pd.DataFrame]:
    shown = [*ROWS.values()]
    splits = pd.DataFrame({"split": [*ROWS], "rows": [600, *shown[1:]], "shown": shown})
    return {"data_rows": rows, "data_columns": pd.DataFrame(columns), "data_splits": splits}


def rounds() -> pd.DataFrame:
    """Four rounds of a program, whose errors fall by half from one to the next."""
    p50 = 0.02 / 2 ** np.arange(4)
    table: dict[str, object] = {"round": range(4), "points": [40, 70, 100, 130]}
    for name, error, wanted in (("p50", p50, 0.005), ("p95", 5 * p50, 0.02)):
        table |= {name: error, f"{name}_high": 1.5 * error}
        table[f"{name}_wanted"] = wanted
    return pd.DataFrame(table)
