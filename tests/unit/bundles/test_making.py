"""`nlobayes bundle` makes a complete folder or none, and the folder must match its index."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from nlobayes import Bundle
from nlobayes.artifacts.seals import digest
from nlobayes.commands.tools.bundle import bundle
from tests.refusals import refused

NAMES = [
    "13000GeV_1000022_1000022.nc",
    "13000GeV_1000022_1000023.nc",
    "13600GeV_1000022_1000022.nc",
]


def test_the_folder_holds_the_files_and_what_they_are_of(folder: Path, files: list[Path]) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [*NAMES, "bundle.json"]
    assert [digest(folder / name) for name in NAMES] == [digest(path) for path in files]
    index = json.loads((folder / "bundle.json").read_text())
    assert index["nlobayes_bundle"] == 2
    assert [one["name"] + ".nc" for one in index["surrogates"]] == NAMES
    assert index["surrogates"][1] == {
        "name": "13000GeV_1000022_1000023",
        "process": "p p -> chi0_2 chi0_1",
        "incoming": [2212, 2212],
        "outgoing": [1000022, 1000023],
        "sqrt_s_gev": 13000.0,
        "order": "NLO QCD",
        "inclusive": "",
        "doubt": "",
        "inputs": ["m1", "n11", "n12", "n13", "n14"],
        "fixed": "msq = 3000 GeV (2970 to 3030)",
        "sha256": digest(files[1]),
        "converged": True,
        "failed_checks": {"convergence": [], "calibration": ["coverage_95"]},
    }


def test_an_index_of_earlier_has_no_shared_rows(folder: Path, tmp_path: Path) -> None:
    copytree(folder, tmp_path / "copy")
    change(tmp_path / "copy", lambda index: index.pop("shared_rows"))
    assert Bundle.load(tmp_path / "copy").shared == ()
    wrong: Any
    for wrong in ("much", [{}]):
        change(tmp_path / "copy", partial(dict.update, shared_rows=wrong))
        with refused("bundles.shared_rows", where=tmp_path / "copy/bundle.json"):
            Bundle.load(tmp_path / "copy")


def test_what_cannot_be_bundled_leaves_nothing(
    folder: Path, files: list[Path], surrogate_path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new/bundle"
    with refused("bundles.twice", path=files[0], first=files[0]):
        bundle([*files, files[0]], out)
    with refused("surrogate.no_process", where=surrogate_path):
        bundle([*files, surrogate_path], out)
    with refused("artifacts.unreadable_artifact"):
        bundle([tmp_path / "missing.nc"], out)
    assert [*tmp_path.iterdir()] == []
    before = digest(folder / "bundle.json")
    with refused("artifacts.folder_exists", path=folder):
        bundle(files[:1], folder)
    assert digest(folder / "bundle.json") == before
    (tmp_path / "file").write_text("")
    with refused("artifacts.not_written_here"):
        bundle(files, tmp_path / "file/bundle")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(copytree(folder, tmp_path / "copy"))


def change(copy: Path, edit: Callable[[Any], object]) -> None:
    index = json.loads((copy / "bundle.json").read_text())
    edit(index)
    (copy / "bundle.json").write_text(json.dumps(index))


def test_a_damaged_file_is_refused(copy: Path, files: list[Path]) -> None:
    content = bytearray((copy / NAMES[1]).read_bytes())
    content[1000] ^= 1
    (copy / NAMES[1]).write_bytes(content)
    name = NAMES[1].removesuffix(".nc")
    with refused("bundles.other_file", where=copy / NAMES[1]):
        Bundle.load(copy).surrogates[name]
    (copy / NAMES[1]).unlink()
    with refused("artifacts.unreadable", path=copy / NAMES[1]):
        Bundle.load(copy).surrogates[name]


ENTRY = "bundle.json: surrogate 1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "../secret"),
        ("name", "/etc/secret"),
        ("name", ".."),
        ("name", "a" * 201),
        ("name", 1),
        ("inclusive", "a\nb"),
        ("inputs", []),
        ("inputs", "m1"),
        ("inputs", [1]),
        ("fixed", "a" * 5000),
        ("sha256", "0" * 63),
        ("sha256", 0),
        ("incoming", "2212 2212"),
        ("outgoing", [1.5, 2]),
        ("outgoing", [1000022]),
        ("sqrt_s_gev", 0),
        ("sqrt_s_gev", True),
        ("process", "a\nb"),
        ("order", 1),
        ("converged", "yes"),
        ("failed_checks", []),
        ("failed_checks", {"convergence": "rhat"}),
    ],
)
def test_an_index_of_anybody_is_checked(copy: Path, name: str, value: object) -> None:
    change(copy, lambda index: index["surrogates"][0].update({name: value}))
    with refused("bundles.not_allowed", where=f"{copy}/{ENTRY}", name=name):
        Bundle.load(copy)


def test_an_index_is_whole(copy: Path) -> None:
    change(copy, lambda index: index["surrogates"][0].update(more=1))
    with refused("bundles.entry", where=f"{copy}/{ENTRY}"):
        Bundle.load(copy)
    change(copy, lambda index: index["surrogates"].__setitem__(0, index["surrogates"][1]))
    with refused("bundles.index_twice"):
        Bundle.load(copy)
    nothing: list[object] = [[], {}, None]
    for listed in nothing:
        change(copy, partial(dict.update, surrogates=listed))
        with refused("bundles.no_list"):
            Bundle.load(copy)
    for version in (1, 3, "2"):
        change(copy, partial(dict.update, nlobayes_bundle=version))
        with refused("bundles.version", received=version):
            Bundle.load(copy)
    for text, code in (("{}", "no_key"), ("[]", "no_json_object"), ("{", "not_json")):
        (copy / "bundle.json").write_text(text)
        with refused(f"artifacts.{code}"):
            Bundle.load(copy)


def test_a_file_of_another_process_is_refused(copy: Path) -> None:
    index = copy / "bundle.json"
    before, other = index.read_bytes(), [1000025, 1000025]
    for stated in ({"outgoing": other}, {"inputs": ["m1"]}, {"fixed": "none"}, {"order": "LO"}):
        change(copy, lambda index, stated=stated: index["surrogates"][0].update(stated))  # type: ignore[misc]
        with refused("bundles.other_process", where=copy / NAMES[0]):
            Bundle.load(copy).surrogates[NAMES[0].removesuffix(".nc")]
        index.write_bytes(before)
