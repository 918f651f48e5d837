"""The real Snakefile and DVC, run as a user runs them, in copies of the project."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
import yaml

ROOT = Path(__file__).parents[2]
TINY = Path(__file__).with_name("tiny.yaml")
POSTERIOR = "results/posterior/tiny/n4/fan_in/tolerance_10/tiny/tiny/s1.nc"
TIMEOUT_SECONDS = 900
KEPT = ("HOME", "LANG", "TMPDIR", "JAX_COMPILATION_CACHE_DIR", "XLA_FLAGS")
JOB_COUNT = re.compile(r"^(\w+) +(\d+)$", re.MULTILINE)
IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "Tester", "EMAIL": "tester@example.org"}.items()
}


@dataclass(frozen=True)
class Project:
    """A copy of the project in a folder, and the source that it runs."""

    root: Path
    source: Path

    def run(self, *command: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command in an environment of its own and check its exit status."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        assert done.returncode == status, f"{command}\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
        return done

    def snakemake(
        self, *words: str, changes: Mapping[str, Any] | None = None, status: int = 0
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake on the default study with changes."""
        return self.run("snakemake", *words, *self._configfile(changes), status=status)

    def jobs(self, *command: str) -> dict[str, int]:
        """Run a command that runs Snakemake, and count the jobs of each rule."""
        done = self.run(*command)
        printed = done.stdout + done.stderr
        if "Nothing to be done" in printed:
            return {}
        table = printed.split("Job stats:")[1].split("total")[0]
        return {rule: int(count) for rule, count in JOB_COUNT.findall(table)}

    def built(self, *targets: str, changes: Mapping[str, Any] | None = None) -> dict[str, int]:
        """Run Snakemake and count the jobs of each rule."""
        return self.jobs("snakemake", *targets, *self._configfile(changes))

    def planned(self, *targets: str, changes: Mapping[str, Any] | None = None) -> dict[str, int]:
        """Count the jobs of each rule that Snakemake would run."""
        return self.built("--dry-run", *targets, changes=changes)

    def start(self, *command: str | Path, log: Path, **environment: str) -> subprocess.Popen[bytes]:
        """Start a command as the leader of its own session, its output in a log."""
        with log.open("wb") as output:
            return subprocess.Popen(
                [str(word) for word in command],
                cwd=self.root,
                env=self.environment() | environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def grow(self, folder: Path, target: str, changes: Mapping[str, Any]) -> Project:
        """Build a target with changes in a copy of a finished project: no other file changes."""
        copy = self.copy_to(folder)
        before, times = copy.digests(), copy.times()
        copy.snakemake(target, changes=changes)
        after, new_times = copy.digests(), copy.times()
        assert {path for path in before if before[path] != after[path]} <= {target}
        assert {path for path in before if times[path] != new_times[path]} == {target}
        return copy

    def copy_to(self, folder: Path) -> Project:
        """Copy everything, results and modification times included."""
        shutil.copytree(self.root, folder, symlinks=True)
        return Project(folder, folder / "src")

    def clone_to(self, folder: Path) -> Project:
        """Clone what is committed; results are not there yet."""
        self.run("git", "clone", "--quiet", self.root, folder)
        return Project(folder, folder / "src")

    def digests(self, folder: str = "results") -> dict[str, str]:
        """Digest every file below a folder."""
        return {
            path.relative_to(self.root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((self.root / folder).rglob("*"))
            if path.is_file()
        }

    def times(self) -> dict[str, int]:
        """Give the modification time of every result."""
        return {path: (self.root / path).stat().st_mtime_ns for path in self.digests()}

    def group(self, name: str, path: str) -> xr.Dataset:
        """Load a group of an artifact without its attributes."""
        with xr.open_dataset(self.root / path, group=name) as opened:
            return opened.load().drop_attrs()

    def configure(self, changes: Mapping[str, Any]) -> None:
        """Write changes into the default study."""
        path = self.root / "config/config.yaml"
        path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **changes}))

    def _configfile(self, changes: Mapping[str, Any] | None) -> list[str]:
        if changes is None:
            return []
        text = yaml.safe_dump(dict(changes))
        name = f"changes-{hashlib.sha256(text.encode()).hexdigest()[:8]}.yaml"
        path = self.root.parent / name
        path.write_text(text)
        return ["--configfile", str(path)]

    def environment(self) -> dict[str, str]:
        """Give the variables that every command of the project is run with, and no others."""
        programs = Path(sys.executable).parent
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return kept | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.source),
            "OMP_NUM_THREADS": "1",
            "JAX_PLATFORMS": "cpu",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "DVC_NO_ANALYTICS": "1",
            "DVC_GLOBAL_CONFIG_DIR": str(self.root.parent / "dvc-global"),
            "DVC_SYSTEM_CONFIG_DIR": str(self.root.parent / "dvc-system"),
            "DVC_SITE_CACHE_DIR": str(self.root.parent / "dvc-site"),
            **IDENTITY,
        }


def copy_project(folder: Path) -> Project:
    """Copy the files of the project that Git would keep, and give each run two cores."""
    ignoring = [f"--git-dir={folder}.git", f"--work-tree={ROOT}"]
    subprocess.run(["git", "init", "--quiet", "--bare", f"{folder}.git"], check=True)
    listing = ["git", *ignoring, "ls-files", "-oz", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    profile = folder / "profiles/default/config.yaml"
    profile.write_text(yaml.safe_dump({**yaml.safe_load(profile.read_text()), "cores": 2}))
    return Project(folder, folder / "src")


Once = Callable[[str, Callable[[Path], object]], Project]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Build a project once for all workers of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def build_once(name: str, build: Callable[[Path], object]) -> Project:
        place, done = base / "projects" / name, base / f"{name}.done"
        place.mkdir(parents=True, exist_ok=True)
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                build(place / "project")
                done.touch()
        return Project(place / "project", place / "project/src")

    return build_once


@pytest.fixture(scope="session")
def pristine(once: Once) -> Project:
    """The project as it is cloned; tests do not write into it. Copies find its code parsed."""

    def build(folder: Path) -> None:
        project = copy_project(folder)
        (project.root / ".cache").mkdir()
        project.planned("ci")

    return once("pristine", build)


@pytest.fixture(scope="session")
def unbuilt(once: Once, pristine: Project) -> Project:
    """The project with the tiny study as its default, not run; tests do not write into it."""

    def build(folder: Path) -> None:
        shutil.copy(TINY, pristine.copy_to(folder).root / "config/config.yaml")

    return once("unbuilt", build)


@pytest.fixture(scope="session")
def tiny(once: Once, unbuilt: Project) -> Project:
    """The finished tiny study; tests do not write into it. What was said is beside it."""

    def build(folder: Path) -> None:
        done = unbuilt.copy_to(folder).snakemake()
        folder.with_name("stdout").write_text(done.stdout)
        folder.with_name("stderr").write_text(done.stderr)

    return once("tiny", build)


@pytest.fixture(scope="session")
def ci(once: Once, pristine: Project) -> Project:
    """The finished `ci` grid and its report."""

    def build(folder: Path) -> None:
        project = pristine.copy_to(folder)
        project.configure({"execution": {"chains_per_job": "all"}})
        project.snakemake("ci")
        project.snakemake("ci", "--report", "report.html")

    return once("ci", build)


@pytest.fixture(scope="session")
def two_segments(once: Once, tiny: Project) -> Project:
    """The finished tiny study, its posterior extended by a second segment of 60 draws."""
    changes = {"methods": {"tiny": {"segments": 2}}}
    return once("two_segments", lambda folder: tiny.grow(folder, POSTERIOR, changes))


@pytest.fixture(scope="session")
def published(once: Once, tiny: Project) -> Project:
    """The finished tiny study recorded by DVC, committed, and pushed to a remote of its own."""

    def build(folder: Path) -> None:
        project = tiny.copy_to(folder)
        project.run("git", "init", "--quiet", "--initial-branch=main")
        project.run("dvc", "remote", "add", "--default", "store", folder.parent / "store")
        project.run("git", "add", "--all")
        project.run("git", "commit", "--quiet", "--message=Study")
        project.run("dvc", "repro")
        project.run("git", "add", "--all")
        project.run("git", "commit", "--quiet", "--message=Results")
        project.run("dvc", "push")

    return once("published", build)
