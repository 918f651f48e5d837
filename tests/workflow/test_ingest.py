"""A folder of SLHA files, from the real Snakefile to a dataset: made again when a file changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.records import read_record

if TYPE_CHECKING:
    from tests.conftest import Point
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

DATASET = "results/data/tiny.nc"
FAILED = (7, 19)
BOTH = {"ingest": 1, "prepare": 1}
SOURCE: dict[str, Any] = {"kind": "slha", "folder": "data/scan", "pair": [2, 1]}
TINY: dict[str, Any] = {
    "source": SOURCE,
    "features": {
        "columns": ["m1", "n11", "n12", "n13", "n14", "m2", "n21", "n22", "n23", "n24"],
        "map": "raw",
        "units": {"m1": "GeV", "m2": "GeV"},
    },
    "target": {"relative_error": "rel_error", "scale_variations": ["scale_up", "scale_down"]},
    "split": {"train": 16, "validation": 6, "test": 6},
    "reference_points": 6,
}


@pytest.fixture(scope="module")
def ingested(
    unbuilt: Project, make_point: Callable[[int], Point], tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """The dataset of 30 files, two of which failed; tests do not write into it."""
    project = unbuilt.copy_to(tmp_path_factory.mktemp("ingest") / "project")
    (project.root / "data/scan").mkdir(parents=True)
    for number in range(30):
        failed = [(1, 2)] if number in FAILED else []
        text = make_point(number).text(failed=failed)
        (project.root / f"data/scan/{number:02d}.slha").write_text(text)
    project.configure({"datasets": {"tiny": TINY}})
    assert project.built(DATASET) == BOTH
    return project


def test_the_dataset_holds_the_points_and_their_errors(
    ingested: Project, make_point: Callable[[int], Point]
) -> None:
    dataset = read_dataset(ingested.root / DATASET)
    points = [make_point(number) for number in range(30) if number not in FAILED]
    rows = [point.rows[1, 2] for point in points]
    assert dataset.inputs[:, 0].tolist() == [point.masses[0] for point in points]
    assert dataset.inputs[:, 6:].tolist() == [point.mixings[1].tolist() for point in points]
    assert dataset.observed.tolist() == [row["nlo_ms"] / 1000 for row in rows]
    expected = np.array([row["nlo_relnumerr"] for row in rows]) / np.log(10)
    assert dataset.error is not None
    np.testing.assert_allclose(dataset.error, expected, rtol=1e-14)
    record = read_record(ingested.root / "results/records/ingest/tiny.json")
    assert record["account"]["failed"]["1000022 1000023"] == {
        "count": 2,
        "files": ["07.slha", "19.slha"],
    }
    assert len(record["inputs"]) == 30
    assert "points from 28 of 30 files" in (ingested.root / "logs/ingest/tiny.log").read_text()


def test_nothing_is_made_again_without_cause(ingested: Project, tmp_path: Path) -> None:
    project = ingested.copy_to(tmp_path / "project")
    for path in (project.root / "data/scan").iterdir():
        os.utime(path)
    os.utime(project.root / "data/scan")
    (project.root / "data/scan/notes.txt").write_text("not of the scan")
    assert project.planned(DATASET) == {}


@pytest.mark.parametrize("change", ["added", "changed", "removed", "renamed"])
@pytest.mark.by_day(1)
def test_another_file_is_ingested_anew(ingested: Project, tmp_path: Path, change: str) -> None:
    """Whatever its time says: the change keeps those of the file and the folder."""
    project = ingested.copy_to(tmp_path / "project")
    folder = project.root / "data/scan"
    path, before = folder / "03.slha", folder.stat()
    text, times = path.read_text(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    if change == "added":
        (folder / "30.slha").write_text(text)
    elif change == "changed":
        path.write_text(text.replace("2765.25", "2765.26"))
        os.utime(path, ns=times)
    elif change == "removed":
        path.unlink()
    else:
        path.rename(folder / "003.slha")
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.planned(DATASET) == BOTH


@pytest.mark.parametrize(
    ("dataset", "planned"),
    [
        ({"source": {"pattern": "0*"}}, BOTH),
        ({"source": {"masses": "absolute"}}, BOTH),
        ({"source": {"cross_section": "nlo"}}, BOTH),
        ({"split": {"train": 15}}, {"prepare": 1}),
    ],
)
@pytest.mark.by_day(2)
def test_other_settings_are_ingested_anew(
    ingested: Project, dataset: dict[str, Any], planned: dict[str, int]
) -> None:
    assert ingested.planned(DATASET, changes={"datasets": {"tiny": dataset}}) == planned


def test_a_chain_of_custody_reaches_the_files(ingested: Project) -> None:
    told = ingested.run("nlobayes", "verify", DATASET).stdout
    assert "results/tables/tiny.parquet <- ingest of data/scan/00.slha to data/scan/29.slha" in told
    assert "data/scan/29.slha <- given by the user\nand 28 more given by the user" in told
    shown = ingested.run("nlobayes", "show", "results/tables/tiny.parquet").stdout
    assert "30 files, data/scan/00.slha to data/scan/29.slha" in shown


def test_a_folder_that_is_not_there_is_named(unbuilt: Project, tmp_path: Path) -> None:
    project = unbuilt.copy_to(tmp_path / "project")
    project.configure({"datasets": {"tiny": {**TINY, "source": {**SOURCE, "folder": "nowhere"}}}})
    done = project.snakemake("--dry-run", DATASET, status=2)
    assert "datasets.tiny.source.folder: no SLHA file of nowhere matches '*'" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
