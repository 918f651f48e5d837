"""Studies that run together share no dataset, and all but those whose tables are missing run."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from benchmarks import studies
from benchmarks.studies import datasets_of, first_outputs, main, run, run_all
from benchmarks.study_rows import runs_of
from tests.documented import ROOT

FOLDER = Path("config/studies")
NAMED = [FOLDER / f"{name}.yaml" for name in ("speed", "coverage", "width", "wine", "naval")]


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_make_runs_every_study_and_rivals_apart() -> None:
    asked = ["make", "--dry-run", "--no-print-directory", "studies"]
    printed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in printed.splitlines() if "benchmarks.studies" in line)
    named = {word for word in line.split() if word.endswith(".yaml")}
    assert named == {*map(str, FOLDER.glob("*.yaml"))} - {"config/studies/rivals.yaml"}


def test_the_first_run_of_a_study_is_one_of_its_targets() -> None:
    """A study with rounds has none, as only the whole knows how many; times are no scores."""
    first = first_outputs(FOLDER / "wine.yaml")
    assert [Path(path).parent.name for path in first] == ["s1", "s1"]
    assert Path(first[0]).parent == studies.METRICS / next(iter(runs_of("wine")))
    assert first_outputs(FOLDER / "program.yaml") == []
    assert first_outputs(FOLDER / "speed.yaml") == ["time_per_sample"]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_no_two_studies_make_the_same_files(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits, for half a second at most, until as many run beside it as may."""
    running, seen, most, enough = set[Path](), list[Path](), [0], threading.Event()

    def record(study: Path, cores: int, first: bool) -> bool:
        assert all(datasets_of(study).isdisjoint(datasets_of(other)) for other in running)
        assert not running or datasets_of(study)
        assert not any(not datasets_of(other) for other in running)
        running.add(study)
        seen.append(study)
        most[0] = max(most[0], len(running))
        if len(running) == at_once:
            enough.set()
        enough.wait(0.5)
        running.remove(study)
        return study.stem != "wine"

    monkeypatch.setattr(studies, "run", record)
    assert run_all(NAMED, at_once, first=True) == ["wine"]
    assert sorted(seen) == sorted(NAMED)
    assert most == [at_once]


def test_what_is_no_study_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["config/studies/wines.yaml"])
    assert end.value.code == 2
    assert "not a file of config/studies: config/studies/wines.yaml" in capsys.readouterr().err


def test_a_study_whose_table_is_missing_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(studies, "STUDIES", tmp_path)
    study = tmp_path / "own.yaml"
    study.write_text("# path: of/a/comment\nsource: {kind: table, path: data/none.csv}\n")
    main([str(study)])
    assert f"skipped: {study} needs data/none.csv (" in capsys.readouterr().out


def test_a_study_that_fails_is_named_and_writes_no_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Snakemake is replaced by a command that prints its words and ends as told."""
    tool = tmp_path / "snakemake"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(studies, "write", lambda study: f"rows of {study}")
    for status, succeeds in [(0, True), (1, False)]:
        tool.write_text(f'#!/bin/sh\necho "$@"\nexit {status}\n')
        tool.chmod(0o755)
        assert run(FOLDER / "speed.yaml", 3, first=True) is succeeds
        printed = capsys.readouterr().out
        command = "time_per_sample --cores 3 --nolock --configfile config/studies/speed.yaml"
        assert f"speed: {command}\n" in printed
        assert ("rows of speed" in printed) is succeeds
