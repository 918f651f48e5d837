"""A seal reveals every change of a file, and a record every change of its content."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import netCDF4
import pytest

from nlobayes.artifacts.contents import read_map, write_map
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.records import _digest, read_record, write_record
from nlobayes.artifacts.seals import LENGTH, MARK, SIGNATURE, check_seal, digest, digests
from nlobayes.types import MAPEstimate
from tests.refusals import refused

MADE = {"verb": "plot", "code_digest": "ab12", "spec": {"seed": 1}, "inputs": {"b": "c"}}


@pytest.fixture
def sealed(tmp_path: Path, make_start: Callable[..., MAPEstimate]) -> Path:
    path = tmp_path / "start.nc"
    write_map(path, make_start(0), {"spec": {"seed": 1}})
    return path


def test_a_digest_is_what_others_compute(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(range(256)) * 9000)
    output = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout
    assert digest(path) == output.split()[0]


def test_digests_are_named_by_paths_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/a").write_bytes(b"a")
    monkeypatch.chdir(tmp_path / "results")
    expected = hashlib.sha256(b"a").hexdigest()
    assert digests([tmp_path / "results/a", Path("a"), Path("../results/a")]) == {
        "a": expected,
        "../results/a": expected,
    }


def test_the_seal_is_the_digest_of_all_before(sealed: Path) -> None:
    content = sealed.read_bytes()
    expected = hashlib.sha256(content[:-LENGTH]).hexdigest()
    assert content[-LENGTH:] == b"\nnlobayes-sha256:" + expected.encode() + b"\n"
    check_seal(sealed)


def test_other_readers_open_a_sealed_file(sealed: Path) -> None:
    with netCDF4.Dataset(sealed) as file:
        assert file.kind == "start"
        assert len(file["history/loss"][:]) > 0


def test_every_changed_byte_is_seen(sealed: Path) -> None:
    content, rng = sealed.read_bytes(), random.Random(5)
    places = [0, len(content) - LENGTH, len(content) - 1, *rng.sample(range(len(content)), 200)]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        sealed.write_bytes(changed)
        of_mark = 0 <= place - (len(content) - LENGTH) < len(MARK)
        code = "artifacts.no_seal" if of_mark else "artifacts.changed_bytes"
        with refused(code, where=sealed):
            read_map(sealed)
        with refused(code, where=sealed):
            read_attrs(sealed)
    sealed.write_bytes(content)
    assert read_map(sealed).chain == 0


def test_what_was_appended_to_by_others_is_refused(sealed: Path) -> None:
    with netCDF4.Dataset(sealed, "a") as file:
        file.spec = "another"
    with refused("artifacts.no_seal", where=sealed):
        read_attrs(sealed)


def test_a_record_has_the_digests_of_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out.csv").write_text("a\n1\n")
    write_record(Path("record.json"), MADE, [Path("out.csv")])
    assert read_record(Path("record.json")) == {
        **MADE,
        "outputs": {"out.csv": hashlib.sha256(b"a\n1\n").hexdigest()},
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"seed": 1', '"seed": 2'),
        lambda text: text + "\n",
        lambda text: json.dumps(json.loads(text)),
    ],
)
def test_a_changed_record_is_refused(tmp_path: Path, change: Callable[[str], str]) -> None:
    """This includes a record with the same content in other bytes."""
    path = tmp_path / "results/records/record.json"
    write_record(path, MADE, [])
    path.write_text(change(path.read_text()))
    with refused("artifacts.changed_record", where=path) as caught:
        read_record(path)
    assert caught.value.fields["remedy"].startswith("restore it with `dvc checkout")


def test_results_state_their_place_and_files_elsewhere_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("results/records/a.json", str(tmp_path / "results/b.json")):
        write_record(Path(name), MADE, [])
        assert read_record(Path(name))["place"] == name.removeprefix(f"{tmp_path}/")
    write_record(Path("c.json"), MADE, [])
    assert "place" not in read_record(Path("c.json"))


def test_only_a_result_may_be_deleted(tmp_path: Path) -> None:
    """The remedy for a file of the user outside `results/` never contains its deletion."""
    (tmp_path / "results").mkdir()
    for name, code, deletable in (
        ("mine.csv", "artifacts.no_artifact", False),
        ("mine.nc", "artifacts.no_seal", False),
        ("results/a.nc", "artifacts.no_seal", True),
    ):
        path = tmp_path / name
        path.write_bytes(SIGNATURE if path.suffix == ".nc" else b"m1,sigma\n1,2\n")
        with refused(code) as caught:
            check_seal(path)
        assert ("delete it and call `snakemake " in caught.value.fields["remedy"]) == deletable


@pytest.mark.parametrize("outputs", [["out.csv"], {"out.csv": 1}, None])
def test_a_record_of_other_than_digests_is_refused(tmp_path: Path, outputs: object) -> None:
    path = tmp_path / "record.json"
    content = {**MADE, "outputs": outputs}
    write_json(path, {**content, "digest": _digest(content)})
    with refused("artifacts.no_digests", where=path, key="outputs"):
        read_record(path)
