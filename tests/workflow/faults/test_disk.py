"""Disks that are full or cannot be written, and places that others have taken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nlobayes.artifacts.temporaries import create

if TYPE_CHECKING:
    from tests.workflow.conftest import Project
    from tests.workflow.faults.conftest import Verbs, Workbench

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
POSTERIOR, SCORES = f"results/posterior/{RUN}.nc", f"results/metrics/{RUN}/evaluation.json"
TABLE = f"results/plots/{RUN}/predictions.csv"
NAMESPACE = ("unshare", "--map-root-user", "--mount")
SINCE_POSTERIOR = ("posterior", "metrics", "plots", "thinned", "predictions", "figures", "records")

# A disk without room for the posterior, then for all scores, then for a part of the tables.
FILL = f"""
export PYTHONDONTWRITEBYTECODE=1
home=$PWD disk=$(realpath $disk)
mount -t tmpfs -o size=64m tmpfs $disk
cp -a ../kept/. $disk/
cd / && cd $home
for rule in assemble tabulate; do
    mount -o remount,size=$(($(df -k --output=used $disk | tail -1) + 40))k $disk
    if snakemake {TABLE} > ../$rule.out 2>&1; then exit 9; fi
    find results -name '.*' -type f > ../$rule.hidden
    cat logs/$rule/{RUN}.log > ../$rule.log || true
    mount -o remount,size=64m $disk
    snakemake {SCORES}
done
snakemake {TABLE} && cp -a results ../after
"""
READ_ONLY = f"""
mount --bind results results && mount -o remount,bind,ro results
snakemake {POSTERIOR}
"""


def can_mount() -> bool:
    """Tell whether this user may mount file systems in a namespace of its own."""
    if shutil.which(NAMESPACE[0]) is None:
        return False
    mount = [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(mount, check=False, capture_output=True).returncode == 0


@pytest.fixture
def unassembled(tiny: Project, tmp_path: Path) -> Project:
    """The tiny study as it was when its last chain had ended."""
    if not can_mount():
        pytest.skip("needs root or user namespaces, to mount a small disk")
    project = tiny.copy_to(tmp_path / "project")
    for name in SINCE_POSTERIOR:
        shutil.rmtree(project.root / "results" / name)
    return project


def mounted(project: Project, script: str, status: int = 0) -> str:
    """Run a script that may mount, and give what it printed; its mounts end with it."""
    done = project.run(*NAMESPACE, "bash", "-euc", script, status=status)
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("disk", ["results", "."])
def test_a_full_disk_stops_the_run_and_room_lets_it_end_the_same(
    unassembled: Project, tiny: Project, disk: str
) -> None:
    """With all of the project on the full disk there is no room for the line in the log, either."""
    outside = unassembled.root.parent
    shutil.copytree(unassembled.root / disk, outside / "kept", symlinks=True)
    mounted(unassembled, f"disk={disk}" + FILL)
    whole = tiny.digests()
    after = type(tiny)(outside, tiny.source).digests("after")
    found = {path.replace("after/", "results/", 1): digest for path, digest in after.items()}
    assert found.items() <= whole.items()
    assert {POSTERIOR, SCORES, TABLE} <= found.keys()
    for rule in ("assemble", "tabulate"):
        assert (outside / f"{rule}.hidden").read_text() == ""
        said = (outside / f"{rule}.log").read_text()
        assert "Traceback" not in said
        if disk == "results":
            assert f"Error in rule {rule}" in (outside / f"{rule}.out").read_text()
            assert re.search(r"error: cannot write results/.* \(0\.\d MB are free there\);", said)


def test_a_read_only_disk_stops_the_run(unassembled: Project) -> None:
    before = unassembled.digests()
    said = mounted(unassembled, READ_ONLY, status=1)
    assert "Read-only file system" in said
    assert unassembled.digests() == before
    assert unassembled.planned(POSTERIOR) == {"assemble": 1}


def test_an_output_that_is_a_folder_is_refused(
    workbench: Workbench, verbs: Verbs, tmp_path: Path
) -> None:
    project = workbench.copy_without_results_of("assemble", tmp_path / "project")
    (project.root / POSTERIOR).mkdir()
    line = verbs.refuse(project, workbench.commands["assemble"])
    assert f"cannot write {POSTERIOR}: [Errno 21] Is a directory" in line
    assert list((project.root / POSTERIOR).parent.glob(".*")) == []


@pytest.mark.parametrize("verb", ["assemble", "agree", "compare", "plot"])
def test_a_file_where_a_folder_is_needed_is_refused(
    workbench: Workbench, verbs: Verbs, tmp_path: Path, verb: str
) -> None:
    project = workbench.copy_without_results_of(verb, tmp_path / "project")
    first = project.root / sorted(workbench.made_by(verb) - {*project.digests()})[0]
    shutil.rmtree(first.parent, ignore_errors=True)
    first.parent.write_text("a file of another")
    line = verbs.refuse(project, workbench.commands[verb])
    assert "nlobayes: error: cannot write results/" in line
    assert line.endswith("; free space or choose another place")
    assert first.parent.read_text() == "a file of another"


def test_what_others_left_is_written_over_or_left_alone(
    workbench: Workbench, verbs: Verbs, tmp_path: Path
) -> None:
    """A file of another where the posterior is due, one beside it, and a killed writer's rest."""
    project = workbench.copy_without_results_of("assemble", tmp_path / "project")
    out, other = project.root / POSTERIOR, project.root / "results/posterior/notes.txt"
    out.write_bytes(b"CDF\x01 of another")
    other.write_text("of another")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        rest = create(out)
    rest = rest.rename(str(rest).replace(f"-{os.getpid()}-", f"-{ended.pid}-"))
    status, said = verbs.run(project, workbench.commands["assemble"])
    assert status == 0, said
    assert project.digests()[POSTERIOR] == workbench.project.digests()[POSTERIOR]
    assert other.read_text() == "of another"
    assert not rest.exists()
