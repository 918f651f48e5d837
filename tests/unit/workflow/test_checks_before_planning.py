"""Checks before planning: files that are no plain study, and results without records."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlobayes.errors import InputError
from nlobayes.workflow.planning import check_study_files, refuse_results_without_records

RESULT = Path("results/data/tiny.nc")
RECORD = Path(".snakemake/metadata/abc")


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_results_without_records_stop_the_planning(
    in_project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse_results_without_records([])
    write(Path("results/.gitignore"))
    refuse_results_without_records([])
    write(RESULT)
    with pytest.raises(SystemExit):
        refuse_results_without_records(["--dry-run"])
    message = capsys.readouterr().err
    assert message == f"nlobayes: error: {InputError('workflow.no_records', result=RESULT)}\n"
    refuse_results_without_records(["--touch"])
    write(RECORD)
    refuse_results_without_records(["--dry-run"])


def test_a_file_that_is_no_plain_study_stops_the_planning(
    in_project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("config/config.yaml"), "targets: [a]\n")
    check_study_files([])
    write(Path("twice.yaml"), "seeds: [1]\nseeds: [2]\n")
    with pytest.raises(SystemExit):
        check_study_files([Path("twice.yaml")])
    assert "twice.yaml" in capsys.readouterr().err
    Path("config/config.yaml").unlink()
    write(Path("alone.yaml"), "seeds: [1]\n")
    check_study_files([Path("alone.yaml")])
    with pytest.raises(SystemExit):
        check_study_files([])
    assert "config/config.yaml: there is no such file; give" in capsys.readouterr().err
