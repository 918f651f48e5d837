"""`nlobayes verify` passes what is honest, and finds everything that is not."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import netCDF4
import pytest

from nlobayes.artifacts.seals import seal
from nlobayes.artifacts.temporaries import create
from nlobayes.commands.audit.verify import verify

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
MODEL = "tiny/n4/fan_in/tolerance_10/tiny/s1"
DATASET = "results/data/tiny.nc"
DIAGNOSTICS = f"results/metrics/{RUN}/diagnostics.json"
SEGMENT = f"results/chains/{RUN}/1/segment_0.nc"
CORRUPTIONS = 200
CHANGED = "has changed since results/records/"


@pytest.fixture(scope="module")
def audited(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the finished study, put right again by each test that spoils it."""
    return tiny.copy_to(tmp_path_factory.mktemp("audited") / "project")


@pytest.fixture
def here(audited: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(audited.root)
    return audited.root


def problems(capsys: pytest.CaptureFixture[str], path: str = "results") -> list[str]:
    """Verify and list the problems; the exit status says whether there are any."""
    capsys.readouterr()
    status = 0
    try:
        verify(Path(path))
    except SystemExit as stopped:
        status = int(str(stopped.code))
    *told, total = capsys.readouterr().out.splitlines()
    found = [line for line in told if " <- " not in line]
    assert status == bool(found)
    assert total.endswith(f"{len(found) or 'no'} problem{'s' * (len(found) != 1)}")
    return found


def test_an_honest_study_passes(tiny: Project) -> None:
    done = tiny.run("nlobayes", "verify")
    assert done.stdout == f"{len(tiny.digests())} files verified, no problems\n"
    assert done.stderr == ""


def test_custody_leads_from_a_score_to_the_table(tiny: Project) -> None:
    told = tiny.run("nlobayes", "verify", DIAGNOSTICS).stdout.splitlines()
    assert told[0] == f"{DIAGNOSTICS} <- diagnose of results/posterior/{RUN}.nc"
    assert f"{DATASET} <- prepare of results/tables/tiny.parquet" in told
    assert "results/tables/tiny.parquet <- simulate of its settings alone" in told
    assert f"{SEGMENT} <- draw of results/chains/{RUN}/1/warmup_0.nc, {DATASET}" in told
    assert told[-1].endswith(" files verified, no problems")


def test_custody_says_where_it_ends(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An intermediate that is gone was not given by the user."""
    kept = (here / SEGMENT).read_bytes()
    (here / SEGMENT).unlink()
    with pytest.raises(SystemExit):
        verify(Path(DIAGNOSTICS))
    (here / SEGMENT).write_bytes(kept)
    assert f"{SEGMENT} <- not known" in capsys.readouterr().out.splitlines()


def test_an_edited_artifact_that_was_sealed_again_is_found(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thinned = f"results/thinned/{RUN}.nc"
    kept = (here / thinned).read_bytes()
    with netCDF4.Dataset(here / thinned, "a") as file:
        file.device = "another"
    seal(here / thinned)
    found = problems(capsys)
    (here / thinned).write_bytes(kept)
    assert any(line.startswith(f"{thinned}: {CHANGED}thin/") for line in found), found
    predicted = f"results/predictions/{RUN}.nc: was made from another {thinned} than the present"
    assert any(line.startswith(predicted) for line in found), found


def test_every_corrupted_byte_is_found(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of payload, attributes and what holds them together, in artifacts of every kind."""
    rng = random.Random(2026)
    paths = [path.relative_to(here).as_posix() for path in sorted(here.glob("results/**/*.nc"))]
    assert {path.split("/")[1] for path in paths} == {
        *("data", "pretrain", "chains", "posterior", "thinned", "predictions", "surrogates")
    }
    for number in range(CORRUPTIONS):
        path = paths[number % len(paths)]
        whole = (here / path).read_bytes()
        place = rng.randrange(len(whole))
        spoilt = bytearray(whole)
        spoilt[place] = rng.choice([b for b in range(256) if b != whole[place]])
        (here / path).write_bytes(spoilt)
        found = problems(capsys, path)
        (here / path).write_bytes(whole)
        assert found, (path, place)
        assert found[0].startswith(f"{path}: its ")
    assert problems(capsys) == []


def remove(path: Path) -> None:
    path.unlink()


def change_last_digit(path: Path) -> None:
    text = path.read_text()
    place = max(text.rindex(digit) for digit in "0123456789" if digit in text)
    path.write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])


def relabel(path: Path) -> None:
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "code_digest": "0" * 16}, indent=2) + "\n")


def pretend(path: Path) -> None:
    path.write_text("{}")


@pytest.mark.parametrize(
    ("path", "spoil", "said"),
    [
        (
            SEGMENT,
            remove,
            f"is missing, though others were made from it; `dvc checkout --force {SEGMENT}`",
        ),
        (f"results/pretrain/{MODEL}/0.nc", remove, "is missing, though others"),
        (f"results/plots/{RUN}/predictions.csv", change_last_digit, CHANGED),
        (f"results/figures/{RUN}/pulls.svg", change_last_digit, CHANGED),
        (DIAGNOSTICS, change_last_digit, f"{CHANGED}diagnose"),
        (f"results/records/plot/{RUN}.json", relabel, "it is not what was written; restore it"),
        (f"results/records/evaluate/{RUN}.json", remove, "no attribute and no record below"),
        ("results/metrics/extra/scores.json", pretend, "no attribute and no record below"),
    ],
)
@pytest.mark.by_day(3)
def test_what_was_tampered_with_is_found(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    path: str,
    spoil: Callable[[Path], None],
    said: str,
) -> None:
    kept = (here / path).read_bytes() if (here / path).exists() else None
    (here / path).parent.mkdir(exist_ok=True)
    spoil(here / path)
    found = problems(capsys)
    if kept is None:
        shutil.rmtree((here / path).parent)
    else:
        (here / path).write_bytes(kept)
    assert any(said in line for line in found), found
    assert problems(capsys) == []


def test_what_was_made_from_another_dataset_is_found(tiny: Project, tmp_path: Path) -> None:
    """The dataset is made anew with another seed, and what was made from it is not."""
    project = tiny.copy_to(tmp_path / "project")
    project.snakemake(DATASET, changes={"datasets": {"tiny": {"split": {"seed": 9}}}})
    told = project.run("nlobayes", "verify", status=1).stdout
    assert not [line for line in told.splitlines() if line.startswith((DATASET, "results/tables"))]
    for path in (SEGMENT, f"results/posterior/{RUN}.nc", f"results/records/evaluate/{RUN}.json"):
        assert f"{path}: was made from another {DATASET} than the present one; run the" in told


def test_other_code_is_found_and_can_be_accepted(tiny: Project, tmp_path: Path) -> None:
    other = type(tiny)(tiny.root, tmp_path / "src")
    shutil.copytree(tiny.source, other.source)
    with (other.source / "nlobayes/commands/pipeline/thin.py").open("a") as file:
        file.write("CHANGED = 1\n")
    told = other.run("nlobayes", "verify", status=1).stdout.splitlines()
    assert len(told) == 3
    for path in (f"results/thinned/{RUN}.nc", f"results/records/thin/{RUN}.json"):
        assert any(line.startswith(f"{path}: was made by other code of `thin` (") for line in told)
    assert "no problems" in other.run("nlobayes", "verify", "--other-code").stdout


def test_what_a_killed_writer_left_is_noted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        left = create(Path(DATASET))
    left = left.rename(str(left).replace(f"-{os.getpid()}-", f"-{ended.pid}-"))
    verify(Path("results"))
    left.unlink()
    assert f"note: {left} was left behind by a killed writer" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["results/nothing", "results/empty"])
def test_nothing_to_verify_is_told(tiny: Project, tmp_path: Path, path: str) -> None:
    (tmp_path / "results/empty").mkdir(parents=True)
    failed = type(tiny)(tmp_path, tiny.source).run("nlobayes", "verify", path, status=2)
    assert failed.stderr.startswith("nlobayes: error: verify: ")
    assert "Traceback" not in failed.stderr
