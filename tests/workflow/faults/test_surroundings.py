"""Clocks, environments, caches, pipes: the bytes are the same, and nobody sees a traceback."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project
    from tests.workflow.faults.conftest import Workbench

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
POSTERIOR, DIAGNOSTICS = f"results/posterior/{RUN}.nc", f"results/metrics/{RUN}/diagnostics.json"
IN_2106 = 2**32 + 1
FIFTY_YEARS = 50 * 365 * 86400
STRANGE = {
    "LC_ALL": "C",
    "TZ": "Asia/Kathmandu",
    "PYTHONHASHSEED": "7",
    "HOME": "/proc/nowhere",
    "TMPDIR": "/proc/nowhere",
    "COLUMNS": "20",
}
Sabotage = Callable[..., dict[str, str]]
Change = Callable[[Path], object]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [-FIFTY_YEARS, FIFTY_YEARS])
def test_a_wrong_clock_changes_nothing(
    tiny: Project, sabotage: Sabotage, tmp_path: Path, seconds: int
) -> None:
    project, log = tiny.copy_to(tmp_path / "project"), tmp_path / "log"
    (project.root / DIAGNOSTICS).unlink()
    clock = sabotage(project.source, clock=seconds)
    running = project.start("snakemake", DIAGNOSTICS, log=log, **clock)
    assert running.wait(600) == 0, log.read_text()
    assert project.digests() == tiny.digests()
    assert project.planned() == {}


@pytest.mark.slow
def test_an_input_from_the_future_is_refused_until_it_is_touched(
    tiny: Project, tmp_path: Path
) -> None:
    """Snakemake takes a result that is older than what it was made from for a wrong clock."""
    project = tiny.copy_to(tmp_path / "project")
    (project.root / DIAGNOSTICS).unlink()
    os.utime(project.root / POSTERIOR, times=(IN_2106, IN_2106))
    failed = project.snakemake(DIAGNOSTICS, status=1)
    assert f"than input {POSTERIOR} (2106" in failed.stdout + failed.stderr
    os.utime(project.root / POSTERIOR)
    project.snakemake(DIAGNOSTICS)
    assert project.digests() == tiny.digests()
    assert project.planned() == {}


@pytest.mark.parametrize("verb", [pytest.param("draw", marks=pytest.mark.slow), "plot"])
def test_a_strange_environment_changes_no_byte(
    workbench: Workbench, tmp_path: Path, verb: str
) -> None:
    project = workbench.copy_without_results_of(verb, tmp_path / "project")
    strange = [f"{name}={value}" for name, value in STRANGE.items()]
    script = "umask 077; " + workbench.commands[verb]
    project.run("env", *strange, "bash", "-c", script)
    for path in workbench.made_by(verb):
        if path.endswith((".svg", ".json")):  # said line by line, where one is another
            lines, expected = ((p.root / path).read_text() for p in (project, workbench.project))
            assert lines.splitlines() == expected.splitlines()
    whole = workbench.project.digests()
    assert project.digests().items() <= whole.items()
    assert workbench.made_by(verb) <= project.digests().keys()
    for path in workbench.made_by(verb):
        assert (project.root / path).stat().st_mode & 0o777 == 0o600


def flip_all(cache: Path) -> None:
    """Change a bit in the middle of every compiled function."""
    entries = [path for path in cache.iterdir() if path.name.endswith("-cache")]
    assert entries
    for entry in entries:
        content = bytearray(entry.read_bytes())
        content[len(content) // 2] ^= 4
        entry.write_bytes(content)


def take_place(cache: Path) -> None:
    """Put a file where the folder should be."""
    shutil.rmtree(cache)
    cache.write_text("")


@pytest.mark.slow
@pytest.mark.parametrize("change", [flip_all, take_place])
def test_a_broken_cache_of_compiled_functions_changes_nothing(
    workbench: Workbench, tmp_path: Path, change: Change
) -> None:
    project = workbench.copy_without_results_of("draw", tmp_path / "project")
    cache = shutil.copytree(os.environ["JAX_COMPILATION_CACHE_DIR"], tmp_path / "cache")
    change(cache)
    setting = f"export JAX_COMPILATION_CACHE_DIR={cache}"
    project.run("bash", "-c", f"{setting}; {workbench.commands['draw']}")
    assert project.digests() == workbench.project.digests()


@pytest.mark.parametrize(
    ("script", "statuses"),
    [
        ("nlobayes --help | true", {0, 1}),
        ("nlobayes summary | head -n 1", {0, 1}),
        ("nlobayes summary >&-", {0}),
        ("nlobayes summary > /dev/full", {1}),
        ("nlobayes summary --metrics nowhere 2>&-", {2}),
        ("nlobayes summary --metrics nowhere 2> /dev/full", {2}),
        ("nlobayes summary --metrics nowhere 2>&1 | true", {2}),
    ],
)
@pytest.mark.by_day(2)
def test_nobody_reads_what_is_printed(
    workbench: Workbench, script: str, statuses: set[int]
) -> None:
    """The status is that of nlobayes; at most one line is said, and no traceback."""
    ended = f"( {script}; exit ${{PIPESTATUS[0]}} ); echo status $?"
    done = workbench.project.run("bash", "-c", ended)
    assert int(done.stdout.rsplit("status ", 1)[1]) in statuses
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1
