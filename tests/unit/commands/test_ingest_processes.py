"""Any process, from Prospino or blocks XSECTION, is converted to a table for a dataset."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nlobayes.artifacts.contents import read_dataset
from nlobayes.commands.pipeline.ingest import ingest
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.data.statements import PROTONS, state_process
from nlobayes.data.table_files import read_table
from nlobayes.physics.processes import make_process
from tests.spectra import PROCESSES, all_processes, cross_sections_of, spectrum_of, xsection

PAIR = (1000023, -1000024)
MAPS = {"nc": "chargino_neutralino_invariants", "cc": "chargino_pair_invariants"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scan")
    for number in range(12):
        entries = [(order, "0", 0.1 * (order + 1) + number) for order in (0, 1, 2)]
        text = all_processes(number) + xsection(PAIR, entries)
        (folder / f"point_{number:02d}.slha").write_text(text)
    return folder


def nlobayes(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from nlobayes.cli import main; main()"]
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("pair", PROCESSES, ids=str)
@pytest.mark.by_day(6)
def test_every_process_becomes_a_table(folder: Path, tmp_path: Path, pair: tuple[int, int]) -> None:
    ingest(folder, tmp_path / "t.parquet", process=pair)
    table = read_table(tmp_path / "t.parquet")
    process = make_process(*pair)
    assert tuple(table.columns)[: len(process.columns)] == process.columns
    assert table.metadata["process"] == state_process(PROTONS, process)["process"]
    assert table.columns["sigma_pb"][3] == cross_sections_of(3, pair)["nlo_ms"] / 1000
    for name in process.columns:
        assert table.columns[name][3] == spectrum_of(3)[name]
        assert table.units[name] == ("GeV" if name.startswith("m") else "1")


def test_by_hand_and_by_specification(folder: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    done = nlobayes("ingest", folder, "--process", "1000023", "-1000024", "--out", one)
    assert done.returncode == 0, done.stderr
    ingest(folder, two, '{"spectra": {"process": [-1000024, 1000023]}}')
    assert one.read_text() == two.read_text()


def test_a_pair_is_the_process_of_its_particles(folder: Path, tmp_path: Path) -> None:
    ingest(folder, tmp_path / "pair.csv", pair=(2, 1))
    ingest(folder, tmp_path / "process.csv", process=(1000022, 1000023))
    assert (tmp_path / "pair.csv").read_text() == (tmp_path / "process.csv").read_text()


@pytest.mark.parametrize("order", [0, 1, 2])
def test_xsections_train_at_once(folder: Path, tmp_path: Path, order: int) -> None:
    out = tmp_path / "t.parquet"
    ingest(folder, out, process=PAIR, order=order)
    columns = read_table(out).columns
    assert columns["sigma_pb"].tolist() == [0.1 * (order + 1) + number for number in range(12)]
    process = make_process(*PAIR)
    spec = {
        "features": {"columns": process.columns, "map": MAPS["nc"], "units": {}},
        "target": {},
        "split": {"train": 8, "validation": 2, "test": 2},
        "reference_points": 2,
        "units": {},
    }
    prepare(json.dumps(spec), out, tmp_path / "data.nc")
    dataset = read_dataset(tmp_path / "data.nc")
    assert len(dataset.feature_names) == 12
    assert dataset.observed.tolist() == columns["sigma_pb"].tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--process", "1000022", "1000021"], "1000021 is no particle number of a neutralino,"),
        (["--process", "1000024", "1000037"], "two quarks do not make the pair (1000024, 1000037)"),
        (["--process", "1000024", "1000022", "--pair", "1", "2"], "process: a pair is given too"),
        (["--order", "3", *["--process", "1000023", "-1000024"]], "has the QCD orders 0, 1, 2"),
        (["--order", "1", *["--process", "1000023", "1000024"]], "a usable cross section of 1000"),
        (
            ["--order", "1", "--sqrt-s-tev", "8", *["--process", "1000023", "-1000024"]],
            "blocks XSECTION of 1000023 -1000024 are at 13 TeV, 8 TeV is requested",
        ),
        (["--order", "1", "--cross-section", "nlo"], "order: an order reads blocks XSECTION"),
        (["--order", "-1"], "spectra.order"),
        (
            ["--sqrt-s-tev", "8", *["--process", "1000023", "1000024"]],
            "of 1000023 1000024 at 8 TeV",
        ),
    ],
)
@pytest.mark.by_day(4)
def test_what_cannot_be_done_is_refused_in_one_line(
    folder: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    done = nlobayes("ingest", folder, "--out", tmp_path / "t.parquet", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr
    assert [*tmp_path.iterdir()] == []
