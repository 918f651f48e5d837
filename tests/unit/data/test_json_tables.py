"""Tables in JSON: grids of cross sections and records, their columns, units and statements."""

import json
from pathlib import Path

import numpy as np
import pytest

from nlobayes.data.table_files import read_table
from nlobayes.types import Table

LEAF = '{"xsec_pb": 6.05e-2, "unc_pb": 8e-3}'
HEAD = {
    "initial state": "pp",
    "Ecom [GeV]": "13000",
    "order": "NNLOapprox+NNLL",
    "PDF set": "PDF4LHC21_40",
    "tool": "Resummino 3.1.1",
    "source": "hepi-0.2.5",
    "process_id": "pp_13000_1000022_-1000024",
}


def grid(parameters: object, data: str) -> str:
    head = json.dumps({**HEAD, "parameters": parameters})
    return f'{head[:-1]}, "data": {data}}}'


def read(folder: Path, text: str, name: str = "grid.json") -> Table:
    (folder / name).write_text(text)
    return read_table(folder / name)


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ([["gl"], ["sq"]], ["gl", "sq"]),
        ([["MASS_1000022", "MASS_1000024"]], ["mass_1000022", "mass_1000024"]),
        (
            ["mass_1000022", ["mass_1000023", "mass_1000024"]],
            ["mass_1000022", "mass_1000023_1000024"],
        ),
    ],
    ids=["a list a level", "one list, as HEPi", "equal masses"],
)
def test_a_plane_has_a_row_for_each_leaf_though_keys_repeat(
    tmp_path: Path, parameters: object, names: list[str]
) -> None:
    data = f'{{"1250": {{"3000": {LEAF}}}, "1250": {{"4e3": {LEAF}}}, "900.5": {{"10": {LEAF}}}}}'
    table = read(tmp_path, grid(parameters, data))
    assert [*table.columns] == [*names, "xsec_pb", "unc_pb"]
    assert table.units == dict.fromkeys(names, "GeV") | {"xsec_pb": "pb", "unc_pb": "pb"}
    np.testing.assert_array_equal(table.columns[names[0]], [1250, 1250, 900.5])
    np.testing.assert_array_equal(table.columns[names[1]], [3000, 4000, 10])
    np.testing.assert_array_equal(table.columns["xsec_pb"], [0.0605] * 3)


def test_a_grid_states_its_process(tmp_path: Path) -> None:
    assert read(tmp_path, grid([["m"]], f'{{"90": {LEAF}}}')).metadata == {
        "order": "NNLOapprox+NNLL",
        "parton_distributions": "PDF4LHC21_40",
        "engine": "Resummino 3.1.1",
        "source": "hepi-0.2.5",
        "sqrt_s_tev": "13.0",
        "process": "p p -> chi0_1 chi-_1",
        "incoming": "2212 2212",
        "outgoing": "1000022 -1000024",
    }


def test_a_number_that_a_leaf_or_record_lacks_is_nan(tmp_path: Path) -> None:
    columns = read(tmp_path, '[{"m": 1, "s": 2.5}, {"m": 3}]').columns
    np.testing.assert_array_equal(columns["m"], [1, 3])
    np.testing.assert_array_equal(columns["s"], [2.5, np.nan])
