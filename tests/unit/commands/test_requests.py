"""What a dataset asks of a table, held against its header before anything is run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from nlobayes.commands.shared.requests import preview
from nlobayes.data.tables import PREVIEWED_ROWS, preview_table, read_table, to_arrow
from nlobayes.errors import InputError
from nlobayes.study.job_builder import prepare_job
from nlobayes.study.presets import DatasetPreset
from nlobayes.types import Table

OWN: dict[str, dict[str, Any]] = {
    "features": {"columns": ["a", "b", "c"], "map": "raw", "units": {}},
    "target": {"column": "y", "unit": "", "scale": "identity"},
}
LINES = "".join(f"{n},{n * n},{-n},{n - 3}\n" for n in range(1, 11))


def write(folder: Path, header: str = "a,b,c,y", lines: str = LINES, end: str = ".csv") -> Path:
    path = folder / "mine.csv"
    path.write_text(f"{header}\n{lines}")
    if end == ".parquet":
        table = read_table(path)
        path = path.with_suffix(end)
        pq.write_table(to_arrow(table), path)
    return path


def look(path: Path, changes: Mapping[str, Any]) -> None:
    preset = {
        "source": {"kind": "table", "path": str(path), **changes.get("source", {})},
        "split": changes.get("split", {"train": 6, "validation": 2, "test": 2}),
        **{key: changes[key] for key in ("features", "target") if key in changes},
    }
    preview(prepare_job(DatasetPreset.model_validate(preset)), path)


def refusal(path: Path, changes: Mapping[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        look(path, changes)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_a_table_that_fits_is_let_through(tmp_path: Path, end: str) -> None:
    look(write(tmp_path, end=end), OWN)
    in_pb = {"column": "y", "unit": "pb", "scale": "identity"}
    look(write(tmp_path, "a,b,c,y:fb", end=end), OWN | {"target": in_pb})


CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "a,b,c,y",
        {},
        [
            "features.columns: no column 'm1', 'n11', 'n12', 'n13', 'n14' (the default; name yours",
            "with `map: raw`); target.column: no column 'sigma_pb' (the default; name yours)",
            "known columns: a, b, c, y",
        ],
    ),
    (
        "a,b,c,y",
        {"features": OWN["features"], "target": {"column": "y"}},
        [
            "target.unit: column 'y' is wanted in 'pb' but names no unit; write its header as",
            'or want none by ""',
            "target.scale: log10 takes positive targets, 3 of 10 values of 'y' are not above 0,",
            "first in row 1; remove these rows, or set `scale: identity`",
        ],
    ),
    (
        "a,b,c,y",
        OWN | {"features": {"columns": ["a", "b", "c"]}},
        ["features.map: 'invariants' takes 5 columns", "names 3: set `map: raw`"],
    ),
    ("a;b;c;y", OWN, ["known columns: a;b;c;y (one column: separate cells by commas)"]),
    ("A,b,c,y", OWN, ["features.columns: no column 'a' (did you mean 'A'?)"]),
    ("n1,n2,n3,y", OWN | {"features": {"columns": ["n1", "n4"], "map": "raw"}}, ["column 'n4'; k"]),
    (
        "a:GeV,b,c,y",
        OWN | {"features": {**OWN["features"], "units": {"a": "pb", "b": "GeV"}}},
        [
            "features.units: column 'a': cannot convert 'GeV'",
            "features.units: column 'b' is wanted",
        ],
    ),
    (
        "a,b,c,y:pb",
        OWN | {"target": {"column": "y", "unit": "GeV", "scale": "identity"}},
        ["target.unit: column 'y': cannot convert 'pb' (cross section) to 'GeV' (energy)"],
    ),
    (
        "a,b,c,y:pb",
        OWN | {"source": {"units": {"y": "fb", "z": "pb"}}},
        ["source.units: column 'y' is in 'pb' by its header but declared in 'fb'"],
    ),
    (
        "a,b,c,y",
        OWN | {"target": {**OWN["target"], "scale_variations": ["up"], "relative_error": "d"}},
        ["target.scale_variations: no column 'up'", "target.relative_error: no column 'd'"],
    ),
    (
        "a,b,c,y",
        OWN | {"split": {"train": 9, "validation": 2, "test": 2}},
        ["split: splits of 13 rows (train 9, val 2, test 2) do not fit 10 rows"],
    ),
]


@pytest.mark.parametrize(("header", "changes", "said"), CASES)
@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_every_fault_is_named_with_its_key(
    tmp_path: Path, header: str, changes: dict[str, Any], said: list[str], end: str
) -> None:
    if ";" in header and end == ".parquet":
        pytest.skip("parquet has no separators")
    lines = LINES.replace(",", ";") if ";" in header else LINES
    message = refusal(write(tmp_path, header, lines, end), changes)
    for part in said:
        assert part in message


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (LINES.replace("10,100,-10,7", "10,100,-10,x"), "column 'y' is not numeric, row 10 holds"),
        (LINES.replace("10,100,-10,7", "10,100,-10,١٥٠"), "column 'y' is not numeric, row 10"),
        (LINES.replace("10,100,-10,7", "10,100,-10,inf"), "1 of 10 values are not finite, first"),
        (LINES.replace("10,100,-10,7", "10,100,-10"), "row 10 has 3 cells where the header has 4"),
    ],
)
def test_cells_of_the_target_are_looked_at(tmp_path: Path, lines: str, said: str) -> None:
    assert said in refusal(write(tmp_path, lines=lines), OWN)


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_of_a_table_little_is_read(tmp_path: Path, end: str) -> None:
    """The header, and of the columns wanted the first rows."""
    rows = PREVIEWED_ROWS + 5
    columns = {name: np.arange(rows, dtype=np.float64) for name in ("a", "y")}
    path = tmp_path / f"long{end}"
    if end == ".parquet":
        pq.write_table(to_arrow(Table(columns, {"a": "GeV"}, {})), path)
    else:
        path.write_text("a:GeV,y\n" + "".join(f"{n},{n}\n" for n in range(rows)))
    table = preview_table(path, ["y", "z"])
    assert table.units["a"] == "GeV"
    assert len(table.columns["a"]) == 0
    np.testing.assert_array_equal(table.columns["y"], np.arange(PREVIEWED_ROWS))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"features": {"columns": ["a", "a"], "map": "raw"}}, "column 'a' is asked for twice"),
        ({"target": {"column": "a"}}, "column 'a' is asked for twice in features.columns and"),
        ({"features": {"columns": ["a"], "units": {"b": "GeV"}}}, "units: 'b' is not among col"),
    ],
)
def test_what_needs_no_table_is_refused_without_one(changes: dict[str, Any], said: str) -> None:
    preset = {"source": {"kind": "table", "path": "gone.csv"}, "split": "thesis", **OWN, **changes}
    with pytest.raises(ValueError, match=said):
        DatasetPreset.model_validate(preset)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"kind": "simulate"}, "target.column: 'y' is no column of source 'simulate' with pair"),
        ({"kind": "toy", "name": "xor"}, "target.column: 'y' is no column of source 'toy'; colu"),
        ({"kind": "slha", "folder": "scan"}, "target.column: 'y' is no column of source 'slha' w"),
    ],
)
def test_a_table_that_is_made_here_is_known_beforehand(source: dict[str, Any], said: str) -> None:
    columns = ["x1", "x2"] if source["kind"] == "toy" else ["m1"]
    features = {"columns": columns, "map": "raw"}
    preset = {"source": source, "split": "thesis", "features": features, "target": OWN["target"]}
    with pytest.raises(ValueError, match=said):
        DatasetPreset.model_validate(preset)
