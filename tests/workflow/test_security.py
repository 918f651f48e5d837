"""A study needs no network, tells no secrets, and takes names and paths for what they are."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.workflow.conftest import Once, Project

pytestmark = pytest.mark.workflow

CANARY = "canary5f1b"
HOST = f"host-{CANARY}"
SECRETS = {
    "AWS_ACCESS_KEY_ID": f"id-{CANARY}",
    "AWS_SECRET_ACCESS_KEY": f"key-{CANARY}",
    "GITHUB_TOKEN": f"token-{CANARY}",
    "SSH_AUTH_SOCK": f"/tmp/agent-{CANARY}",
    "USER": f"user-{CANARY}",
    "LOGNAME": f"user-{CANARY}",
}
ODD_FOLDER = f'{CANARY} it\'s "here" $(touch hacked) & `touch hacked`'
ODD_TABLE = 'data/a b\'s "$(touch hacked)"; touch hacked #.csv'
ALONE = ("unshare", "--map-root-user", "--net", "--uts")
NAMED = (*ALONE, "bash", "-c", 'hostname "$0" && exec "$@"', HOST)
SECONDS = 7200
WATCH = """
import os, sys

def watch(event, words):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        if event != "socket.connect" or words[0].family != 1:  # 1: to a file of this machine
            with open(os.environ["CALLS_OUT"], "a") as log:
                print(event, words, sys.argv, file=log)

sys.addaudithook(watch)
"""
CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"


def alone() -> tuple[str, ...]:
    """Words that run a command without a network and under another host name, where permitted."""
    tried = subprocess.run([*NAMED, "true"], capture_output=True, check=False)
    return NAMED if tried.returncode == 0 else ()


def skip_unless_alone() -> None:
    if not alone():
        pytest.skip("this machine permits no network namespaces (unshare --map-root-user --net)")


def run_alone(project: Project, *commands: tuple[str, ...]) -> None:
    """Run commands without a network, with secrets around, and note every call to the outside."""
    watch = project.root.parent / "watch"
    watch.mkdir(exist_ok=True)
    (watch / "sitecustomize.py").write_text(WATCH)
    environment = {
        **SECRETS,
        "HOME": str(project.root.parent),
        "PYTHONPATH": f"{watch}:{project.source}",
        "CALLS_OUT": str(project.root.parent / "calls_out.txt"),
    }
    for number, command in enumerate(commands):
        log = project.root.parent / f"{number}.log"
        started = project.start(*alone(), *command, log=log, **environment)
        assert started.wait(SECONDS) == 0, log.read_text()[-8000:]


def tiny_table(project: Project) -> dict[str, Any]:
    """The tiny study, its points from a table of an odd name."""
    study: dict[str, Any] = yaml.safe_load((project.root / "config/config.yaml").read_text())
    dataset = study["datasets"]["tiny"]
    spec = json.dumps({"source": dataset["source"]})
    (project.root / ODD_TABLE).parent.mkdir()
    project.run("nlobayes", "simulate", "--spec", spec, "--out", ODD_TABLE)
    dataset["source"] = {"kind": "table", "path": ODD_TABLE}
    return study | {"execution": {"chains_per_job": "all"}}


@pytest.fixture(scope="module")
def odd(once: Once, unbuilt: Project) -> Project:
    """The tiny study of a table, both under odd names, run and reported all alone."""

    def build(folder: Path) -> None:
        project = unbuilt.copy_to(folder / ODD_FOLDER)
        (project.root / "config/config.yaml").write_text(yaml.safe_dump(tiny_table(project)))
        run_alone(project, ("snakemake",), ("snakemake", "--report", "report.html"))

    parent = once("odd", build)
    root = parent.root / ODD_FOLDER
    return type(parent)(root, root / "src")


def files_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_odd_names_are_names_and_no_commands(odd: Project) -> None:
    assert (odd.root / "results/metrics/tiny/n4/fan_in/tolerance_10/tiny/tiny/s1").is_dir()
    assert [*odd.root.parents[1].rglob("hacked*")] == []


@pytest.mark.slow
def test_nothing_called_out(odd: Project) -> None:
    """Neither a connection nor the address of a host was asked for, not even in vain."""
    calls = odd.root.parent / "calls_out.txt"
    assert not calls.exists(), calls.read_text()


def test_calls_to_the_outside_are_seen(unbuilt: Project, tmp_path: Path) -> None:
    project = type(unbuilt)(tmp_path / "project", unbuilt.source)
    project.root.mkdir()
    run_alone(project, (sys.executable, "-c", f"try: {CONNECT}\nexcept OSError: pass", "9"))
    assert "socket.connect" in (tmp_path / "calls_out.txt").read_text()


@pytest.mark.slow
def test_the_study_ran_where_no_connection_is_possible(odd: Project) -> None:
    """Not even with a server on this machine, which answers outside."""
    skip_unless_alone()
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = [sys.executable, "-c", CONNECT, str(server.getsockname()[1])]
        assert subprocess.run(connect, check=False).returncode == 0
        cut_off = subprocess.run([*NAMED, *connect], capture_output=True, text=True, check=False)
    assert cut_off.returncode == 1
    assert "OSError: [Errno 101] Network is unreachable" in cut_off.stderr
    assert (odd.root / "report.html").stat().st_size > 1e6


@pytest.mark.slow
def test_the_default_study_needs_no_network(pristine: Project, tmp_path: Path) -> None:
    skip_unless_alone()
    project = pristine.copy_to(tmp_path / "project")
    run_alone(project, ("snakemake",), ("snakemake", "--report", "report.html"))
    assert not (tmp_path / "calls_out.txt").exists()
    assert (project.root / "report.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", ["results", "logs", "timings", ".snakemake/metadata", "report.html"]
)
def test_no_secret_host_user_or_home_is_told(odd: Project, place: str) -> None:
    top = odd.root / place
    paths = [*files_below(top)] if top.is_dir() else [top]
    assert paths
    guilty = [path for path in paths if CANARY in str(path.relative_to(odd.root))]
    guilty += [path for path in paths if CANARY.encode() in path.read_bytes()]
    assert guilty == []


@pytest.mark.slow
def test_canaries_are_found_where_they_are(odd: Project) -> None:
    """Snakemake's own log names host and folder: it stays on the machine, Git ignores it."""
    logs = [path.read_text() for path in (odd.root / ".snakemake/log").glob("*.log")]
    assert any(HOST in log for log in logs) or not alone()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '__use_yte__: true\nseeds: ?__import__("os").system("touch hacked")',
            "makes the file a pr",
        ),
        ("seeds: !!python/object/apply:os.system ['touch hacked']", "tags are not read"),
        ("targets: [tiny]\ntargets: [ci]", "key 'targets' is given twice"),
    ],
    ids=["template", "tag", "twice"],
)
@pytest.mark.by_day(1)
def test_a_hostile_default_study_is_refused_before_snakemake_reads_it(
    unbuilt: Project, tmp_path: Path, text: str, said: str
) -> None:
    project = unbuilt.copy_to(tmp_path / "project")
    (project.root / "config/config.yaml").write_text(text)
    refused = project.snakemake("--dry-run", status=2).stderr.splitlines()[-1]
    assert refused.startswith("nlobayes: error: config/config.yaml: ")
    assert said in refused
    assert not (project.root / "hacked").exists()


def test_a_hostile_configfile_is_refused(unbuilt: Project, tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text("targets: [tiny]\ntargets: [ci]\n")
    words = ("--dry-run", "--configfile", str(tmp_path / "twice.yaml"))
    refused = unbuilt.snakemake(*words, status=2).stderr.splitlines()[-1]
    assert refused.startswith(f"nlobayes: error: {tmp_path}/twice.yaml: ")


@pytest.mark.parametrize(
    "target", ["results/metrics/../../etc/x", "../x.nc", "results/data/$(touch hacked).nc"]
)
@pytest.mark.by_day(1)
def test_a_target_outside_the_study_is_no_target(unbuilt: Project, target: str) -> None:
    refused = unbuilt.snakemake("--dry-run", target, status=1)
    assert "is no grid and no file of this study" in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stdout + refused.stderr


def test_a_dot_in_a_name_is_a_dot(unbuilt: Project) -> None:
    """Were it any character, a misspelt target would be a dataset that the study does not have."""
    study = yaml.safe_load((unbuilt.root / "config/config.yaml").read_text())
    dataset = study["datasets"]["tiny"]
    changes = {"datasets": {"t.y": dataset}, "grids": {"tiny": {"dataset": "t.y"}}}
    assert unbuilt.planned("results/data/t.y.nc", changes=changes)["prepare"] == 1
    words = ("--dry-run", "results/data/tXy.nc")
    refused = unbuilt.snakemake(*words, changes=changes, status=1)
    assert "is no grid and no file of this study" in refused.stdout + refused.stderr
