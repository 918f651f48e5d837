"""What a user gives is looked at whenever it is planned, before a run and after it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

DATASET = "results/data/tiny.nc"
TABLE = "data/mine.csv"
MINE: dict[str, Any] = {
    "source": {"kind": "table", "path": TABLE},
    "features": {"columns": ["a", "b"], "map": "raw", "units": {}},
    "target": {"column": "y", "unit": "", "scale": "identity"},
    "split": {"train": 30, "validation": 15, "test": 15},
    "reference_points": 6,
}


@pytest.fixture(scope="module")
def prepared(unbuilt: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The dataset of a table, beside one whose table is not there; tests do not write into it."""
    project = unbuilt.copy_to(tmp_path_factory.mktemp("sources") / "project")
    (project.root / "data").mkdir(exist_ok=True)
    rows = "".join(f"{n},{n * n},{n % 7}\n" for n in range(60))
    (project.root / TABLE).write_text(f"a,b,y\n{rows}")
    absent = {**MINE, "source": {"kind": "table", "path": "data/absent.csv"}}
    project.configure({"datasets": {"tiny": MINE, "absent": absent}})
    assert project.built(DATASET) == {"prepare": 1}
    return project


def refusal(project: Project, wanted: str = DATASET, /, **dataset: Any) -> str:
    changes = {"datasets": {"tiny": dataset}} if dataset else None
    done = project.snakemake("--dry-run", wanted, changes=changes, status=2)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("nlobayes: error: ")]
    assert "Traceback" not in done.stderr
    return line


def test_a_table_that_is_not_there_stops_the_plan(prepared: Project, tmp_path: Path) -> None:
    """Of a finished run whose table was deleted since."""
    project = prepared.copy_to(tmp_path / "project")
    (project.root / TABLE).unlink()
    assert f"datasets.tiny.source.path: {TABLE} is not there" in refusal(project)


@pytest.mark.slow
def test_a_first_run_without_its_table_is_not_planned(prepared: Project) -> None:
    """Nor a finished one that names another table."""
    assert "data/typo.csv is not there" in refusal(prepared, source={"path": "data/typo.csv"})
    assert "datasets.absent.source.path: data/absent.csv is not there; put it there" in refusal(
        prepared, "results/data/absent.nc"
    )


@pytest.mark.slow
def test_a_folder_without_files_stops_the_plan(prepared: Project) -> None:
    source = {"kind": "slha", "folder": "data/scan"}
    preset = {"source": source, "split": {"train": 5, "validation": 2, "test": 2}}
    changes = {"datasets": {"scanned": preset}}
    done = prepared.snakemake("--dry-run", "results/data/scanned.nc", changes=changes, status=2)
    assert "datasets.scanned.source.folder: no SLHA file of data/scan matches '*'" in done.stderr


@pytest.mark.slow
def test_a_dataset_that_a_table_cannot_give_stops_the_plan(prepared: Project) -> None:
    line = refusal(prepared, target={"column": "z", "unit": "", "scale": "identity"})
    assert (
        "datasets.tiny: data/mine.csv: target.column: no column 'z'; known columns: a, b, y" in line
    )


def test_content_counts_and_not_dates(prepared: Project, tmp_path: Path) -> None:
    project = prepared.copy_to(tmp_path / "project")
    table = project.root / TABLE
    os.utime(table)
    assert project.planned(DATASET) == {}
    before = table.stat()
    table.write_text(table.read_text().replace("59,3481,3", "59,3481,4"))
    os.utime(table, (1e9, 1e9))
    assert table.stat().st_size == before.st_size
    assert project.planned(DATASET) == {"prepare": 1}
