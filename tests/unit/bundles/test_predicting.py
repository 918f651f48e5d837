"""`nlobayes predict` with a bundle: rows equal those of `Bundle`, blocks are written at once."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyslha
import pytest

from nlobayes import Bundle
from nlobayes.commands.tools.bundle import bundle
from nlobayes.commands.tools.predict import predict
from nlobayes.data.table_files import read_table
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED, spectrum_of, write

ONE, TWO = (1000022, 1000022), (1000022, 1000023)
COLUMNS = ["file", "process", "entry", "order", "sigma_pb_median", "sigma_pb_q16", "sigma_pb_q84"]
ERRORS = [f"{of}_{side}_rel" for of in ("regression", "total") for side in ("down", "up")]


@pytest.fixture(scope="module")
def spectrum(files: list[Path]) -> str:
    return spectrum_of(Surrogate.load(files[0]))


@pytest.fixture
def slha(spectrum: str, tmp_path: Path) -> Path:
    path = tmp_path / "a.spc"  # recognised by its content
    path.write_text(spectrum)
    return path


def rows(folder: Path, points: Path, out: Path, **options: Any) -> dict[str, list[Any]]:
    options = {"energy": 13000.0, **options}
    predict(folder, str(points), str(out), **options)
    return {name: cells.tolist() for name, cells in read_table(out).columns.items()}


def test_rows_are_what_the_bundle_predicts(folder: Path, slha: Path, tmp_path: Path) -> None:
    """This holds for each process and the sum, in the requested order."""
    loaded = Bundle.load(folder)
    found = rows(folder, slha, tmp_path / "out.csv", total=True)
    assert [*found] == [*COLUMNS, *ERRORS, "domain", "reason"]
    assert found["process"] == ["1000022 1000022", "1000022 1000023", "sum"]
    expected = [*loaded.predict(slha, energy=13000).values(), loaded.total(slha, energy=13000)]
    assert found["sigma_pb_median"] == [one.median for one in expected]
    assert found["sigma_pb_q84"] == [one.high for one in expected]
    assert found["total_up_rel"] == [one.errors["total_up"] for one in expected]
    assert found["domain"] == [one.domain for one in expected]
    requested = ["1000023 1000022", "1000022, 1000022"]
    found = rows(folder, slha, tmp_path / "out.csv", process=requested, unit="fb")
    assert found["process"] == ["1000022 1000023", "1000022 1000022"]
    assert found["sigma_fb_median"] == [1000 * one.median for one in expected[1::-1]]


def test_a_folder_of_files_is_read_file_by_file(
    folder: Path, slha: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/c.slha").write_text(slha.read_text())
    (tmp_path / "bad.slha").write_text("Block MASS\n")
    with refused("slha.no_block", where=str(tmp_path / "bad.slha")):
        rows(folder, tmp_path, tmp_path / "out.csv", strict=True)
    assert not (tmp_path / "out.csv").exists()
    with refused("slha.no_block", where=str(tmp_path / "bad.slha")):
        rows(folder, tmp_path / "bad.slha", tmp_path / "out.csv")
    for skip_bad, files, how in (
        (True, ["a.spc", "b/c.slha"], "left out"),
        (False, ["a.spc", "b/c.slha", "bad.slha"], "columns domain, reason"),
    ):
        out = tmp_path / "o.jsonl"
        predict(folder, str(tmp_path), str(out), energy=13600.0, skip_bad=skip_bad)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        assert [*dict.fromkeys(line["file"] for line in lines)] == files
        assert [line["process"] for line in lines[:2]] == ["1000022 1000022", "1000022 1000023"]
        messages = capsys.readouterr().err
        assert f"warning: 1 of 5 points have no prediction ({how}), the first: " in messages
    assert (lines[-1]["sigma_pb_median"], lines[-1]["domain"]) == (None, "outside")
    assert "there is no block" in lines[-1]["reason"]
    assert "calibration of 13600GeV_1000022_1000022 failed: coverage_95" in messages


def test_every_process_gets_a_block_at_once(folder: Path, slha: Path, tmp_path: Path) -> None:
    """A second call does not change the file; a call at the other energy adds blocks."""
    before = slha.read_bytes()
    found = rows(folder, slha, tmp_path / "out.csv", slha_out=slha)
    after = slha.read_bytes()
    assert after.startswith(before)
    read = pyslha.read(str(slha)).xsections
    pairs = [(2212, 2212, *ONE), (2212, 2212, *TWO)]
    assert [*read] == pairs
    values = [read[pair].xsecs[0].value for pair in pairs]
    np.testing.assert_allclose(values, found["sigma_pb_median"], rtol=1e-8)
    rows(folder, slha, tmp_path / "out.csv", slha_out=slha)
    assert slha.read_bytes() == after
    rows(folder, slha, tmp_path / "out.csv", slha_out=slha, energy=13600.0)
    assert slha.read_bytes().startswith(after)
    assert len(pyslha.read(str(slha)).xsections[pairs[0]].xsecs) == 2


def test_a_process_that_is_outside_has_no_block(
    folder: Path,
    exported: SurrogateContent,
    dataset: Dataset,
    slha: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first process is inside; the surrogate of the second is for lighter squarks.

    Of all processes it is left out; if it is requested, the file is left alone.
    """
    light = STATED | {"outgoing": "1000023 1000023", "fixed": "msq = 100 GeV (99 to 101)"}
    of = [
        write(tmp_path / "1.nc", exported, dataset),
        write(tmp_path / "2.nc", exported, dataset, light),
    ]
    bundle(of, tmp_path / "two")
    before, other = slha.read_bytes(), ["1000023 1000023"]
    with refused("commands.outside_of_xsection", where=f"{slha}: 1000023 1000023"):
        requested = ["1000022 1000022", *other]
        rows(tmp_path / "two", slha, tmp_path / "out.csv", slha_out=slha, process=requested)
    bundle(of[1:], tmp_path / "none")
    with refused("commands.no_xsection", left_out=other):
        rows(tmp_path / "none", slha, tmp_path / "out.csv", slha_out=slha)
    assert slha.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()
    rows(tmp_path / "two", slha, tmp_path / "out.csv", slha_out=tmp_path / "new.slha")
    assert [*pyslha.read(str(tmp_path / "new.slha")).xsections] == [(2212, 2212, *ONE)]
    assert "new.slha has no block of 1 processes: 1000023 1000023" in capsys.readouterr().err
    for taken in (tmp_path / "out.csv", folder / "13000GeV_1000022_1000022.nc"):
        with refused("commands.out_is_read", where="--slha-out"):
            rows(folder, slha, tmp_path / "out.csv", slha_out=taken)


@pytest.mark.parametrize(
    ("options", "code", "where"),
    [
        ({"energy": None}, "bundles.energies", None),
        ({"energy": 8000.0}, "bundles.no_energy", None),
        ({"process": ["1000025 1000025"]}, "bundles.lacks", None),
        ({"process": ["1000022 1000022"] * 2}, "bundles.requested_twice", None),
        ({"process": ["1000022"]}, "commands.no_process", "--process"),
        ({"process": ["a b"]}, "commands.no_process", "--process"),
        ({"unit": "GeV"}, "data.unit_of_another_kind", "--unit"),
        ({"quantiles": "0.5"}, "commands.option_of_one", "--quantiles"),
        ({"scale": "log10"}, "commands.option_of_one", "--scale log10"),
        ({"keep": ["a"]}, "commands.option_of_one", "--keep"),
        ({"draws": 3}, "commands.option_of_one", "--draws"),
        ({"engine": "jax"}, "commands.option_of_one", "--engine"),
    ],
)
def test_what_a_bundle_cannot_predict_is_refused(
    folder: Path, slha: Path, tmp_path: Path, options: dict[str, Any], code: str, where: str | None
) -> None:
    before = slha.read_bytes()
    with refused(code, where=where):
        rows(folder, slha, tmp_path / "out.csv", **{"slha_out": slha, **options})
    assert slha.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()


def test_what_is_of_bundles_and_of_surrogates_alone(
    folder: Path, files: list[Path], slha: Path, tmp_path: Path
) -> None:
    out = str(tmp_path / "out.csv")
    given: dict[str, Any] = {"--process": {"process": ["1 2"]}, "--energy": {"energy": 13000.0}}
    for option, words in (given | {"--total": {"total": True}}).items():
        with refused("commands.option_of_bundle", where=option):
            predict(files[0], str(slha), out, **words)
    for points in ("points.csv", "-"):
        with refused("commands.bundle_reads_slha", where=points):
            predict(folder, points, out, energy=13000.0)
    with refused("artifacts.not_json"):
        predict(tmp_path, str(slha), out)
