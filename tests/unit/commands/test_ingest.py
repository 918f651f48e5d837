"""Conversion of a folder of SLHA files to a table, by options or specification, in processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.pipeline import ingest as verb
from nlobayes.commands.pipeline.ingest import ingest
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.data.table_files import read_table
from nlobayes.errors import InputError
from nlobayes.study.jobs import IngestJob
from nlobayes.study.read_jobs import read_job

if TYPE_CHECKING:
    from tests.conftest import Point

Make = Callable[[int], "Point"]
PREPARE = {
    "features": {},
    "target": {"relative_error": "rel_error", "scale_variations": ["scale_up", "scale_down"]},
    "split": {"train": 7, "validation": 4, "test": 4},
    "reference_points": 4,
    "units": {},
}


@pytest.fixture(scope="module")
def folder(make_point: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """18 files, of which two failed for the lightest pair and one is a copy."""
    folder = tmp_path_factory.mktemp("scan")
    for number in range(18):
        failed = [(1, 1)] if number in (4, 5) else []
        text = make_point(16 if number == 17 else number).text(failed=failed)
        (folder / f"point_{number:02d}.slha").write_text(text)
    (folder / "notes.txt").write_text("not a spectrum")
    (folder / "below").mkdir()
    (folder / "below" / "one.slha").write_text(make_point(99).text())
    return folder


def table(tmp_path: Path, folder: Path, **options: Any) -> dict[str, Any]:
    out = tmp_path / "table.parquet"
    ingest(folder, out, **options)
    return read_table(out).columns


def nlobayes(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from nlobayes.cli import main; main()"]
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=False)


def test_by_hand_and_by_specification(folder: Path, tmp_path: Path) -> None:
    spec = '{"spectra": {"pair": [3, 1], "masses": "absolute", "pattern": "point_*"}}'
    one, two, three = (tmp_path / f"{name}.csv" for name in "abc")
    ingest(folder, one, spec)
    words = ["--pair", "3", "1", "--masses", "absolute", "--pattern", "point_*"]
    done = nlobayes("ingest", folder, *words, "--out", two)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert one.read_text() == two.read_text()
    ingest(folder, three, pair=(1, 3), masses="absolute")
    assert one.read_text() == three.read_text()


def test_rows_are_in_the_order_of_names_and_patterns_choose(folder: Path, tmp_path: Path) -> None:
    names = table(tmp_path, folder)["file"].tolist()
    assert names == sorted(names)
    assert len(names) == 15
    names = table(tmp_path, folder, pattern="**/*.slha")["file"].tolist()
    assert names[0] == "below/one.slha"
    assert len(names) == 16


def test_processes_are_started_for_many_files_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class Pool(verb.ProcessPoolExecutor):
        def __init__(self, processes: int, **options: Any) -> None:
            started.append(processes)
            super().__init__(processes, **options)

    monkeypatch.setattr(verb, "ProcessPoolExecutor", Pool)
    ingest(folder, tmp_path / "t.csv", workers=2)
    assert started == []
    monkeypatch.setattr(verb, "CHUNK", 9)
    ingest(folder, tmp_path / "t.csv", workers=8)
    assert started == [2]


def test_the_record_names_every_file_and_has_the_account(folder: Path, tmp_path: Path) -> None:
    out, record = tmp_path / "table.parquet", tmp_path / "record.json"
    ingest(folder, out, record=record)
    made = read_record(record)
    files = sorted(folder.glob("*.slha"))
    assert made["verb"] == "ingest"
    assert made["inputs"] == digests(files)
    assert made["outputs"] == digests([out])
    assert read_job(IngestJob, json.dumps(made["spec"])) == IngestJob.model_validate(
        {"spectra": {}}
    )
    assert made["account"] == {
        "files": 18,
        "points": 15,
        "failed": {"1000022 1000022": {"count": 2, "files": ["point_04.slha", "point_05.slha"]}},
        "absent": {"count": 0, "files": []},
        "repeated": {"count": 1, "files": ["point_17.slha"]},
        "doubtful": {},
    }


def test_files_without_a_row_or_with_a_doubtful_one_are_reported(
    folder: Path, tmp_path: Path, make_point: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    light = make_point(30)
    (tmp_path / "scan").mkdir()
    for path in folder.glob("*.slha"):
        (tmp_path / "scan" / path.name).write_bytes(path.read_bytes())
    text = light.text().replace(repr(light.masses[0]), "45.5")
    (tmp_path / "scan" / "light.slha").write_text(text)
    ingest(tmp_path / "scan", tmp_path / "t.csv")
    message = capsys.readouterr().err.replace(str(tmp_path), "")
    assert message == (
        "warning: /scan: no usable cross section of 1000022 1000022: 2 of 19 files, "
        "point_04.slha, point_05.slha\n"
        "warning: /scan: left out, repeats an earlier file: 1 of 19 files, point_17.slha\n"
        "warning: /scan: |m1| + |m1| below the Z mass, 91.1876 GeV: 1 of 19 files, light.slha\n"
        "/scan: points from 16 of 19 files\n"
    )


def test_the_table_is_prepared_with_its_errors(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.parquet"
    ingest(folder, out)
    prepare(json.dumps(PREPARE), out, tmp_path / "data.nc")
    dataset = read_dataset(tmp_path / "data.nc")
    errors = read_table(out).columns["rel_error"]
    assert dataset.error is not None
    assert dataset.error == pytest.approx(0.4342944819 * errors, rel=1e-9)
    assert dataset.scale_uncertainty is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pair", "1", "5"], "spectra.pair.1: must be at most 4, got 5"),
        (["--sqrt-s-tev", "nan"], "spectra.sqrt_s_tev"),
        (["--sqrt-s-tev", "7"], "none of 18 files has a usable cross section of 1000022 1000022"),
        (["--cross-section", "nlo_xy"], "'nlo_ms' or 'nlo', got 'nlo_xy'"),
        (["--masses", "none"], "'signed' or 'absolute', got 'none'"),
        (["--pattern", "*.spc"], InputError("commands.no_spectrum", pattern="*.spc").reason),
        (["--pattern", "../*"], "without climbing out by '..', got '../*'"),
        (["--pattern", "/*"], "must be relative to the folder"),
        (["--pattern", "**.slha"], "with ** alone as a part, got '**.slha'"),
        (["--pattern", ""], "spectra.pattern"),
        (["--pattern", "*.txt"], "no SLHA file there matches '*.txt'"),
        (["--layout", "lo,nlo_ms"], "layout: 'lo' is no column; write lo:fb or lo:pb"),
        (["--layout", "lo:fb,nlo_ms:fb"], "and the 2 columns lo, nlo_ms"),
        (
            ["--spec", "{}", "--pair", "1", "1"],
            InputError("commands.spec_and_options", options=["pair"]).reason,
        ),
        (["--spec", '{"spectra": {"pairs": 1}}'], "unknown key 'pairs'"),
        (["--spec", "nowhere.json"], "--spec: cannot read nowhere.json"),
    ],
)
@pytest.mark.by_day(6)
def test_what_cannot_be_done_is_refused_in_one_line(
    folder: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    done = nlobayes("ingest", folder, "--out", tmp_path / "t.parquet", *words)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("nlobayes: error: ")
    assert message in done.stderr
    assert [*tmp_path.iterdir()] == []


def prepared(tmp_path: Path, text: str, **changes: Any) -> None:
    path = tmp_path / "points.csv"
    path.write_text(text)
    spec = {
        "features": {
            "columns": ["m1", "n11", "n12", "n13", "n14"],
            "map": "raw",
            "standardise": False,
        },
        "target": {"column": "sigma"},
        "split": {"train": 3, "validation": 1, "test": 1},
        "reference_points": 1,
        "units": {},
    }
    prepare(json.dumps(spec | changes), path, tmp_path / "out.nc")


ROWS = [
    *("100,0.6,0.8,0,0,1e-2,1e-3", "-200,0,0.6,-0.8,0,2e-3,3e-3", "300,0,0,0.8,0.6,3e-4,2e-3"),
    *("-45,1,0,0,0,1e-1,4e-3", "400,0.9,0.9,0,0.01,4e-5,1e-4"),
]
HEADER = "m1:GeV,n11,n12,n13,n14,sigma:pb,delta\n"


def test_doubtful_rows_of_a_table_are_pointed_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepared(tmp_path, HEADER + "\n".join(ROWS) + "\n")
    message = capsys.readouterr().err.replace(f"{tmp_path}/", "")
    assert message == (
        "warning: points.csv: mixings of neutralino 1 outside [-1, 1] or not of length 1 in 1 of 5 "
        "rows, first row 5\n"
        "warning: points.csv: |m1| + |m1| below the Z mass, 91.1876 GeV in 1 of 5 rows, first row "
        "4\n"
    )
