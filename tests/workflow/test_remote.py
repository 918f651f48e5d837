"""An S3-compatible remote on this machine: results travel, and no fault on the way loses any."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

SECRET = secrets.token_hex()
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": SECRET}


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve an empty bucket in a process of its own, and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (tmp_path_factory.mktemp("server") / "log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}/results"
    try:
        create(address)
        yield address
    finally:
        server.kill()
        server.wait()


def create(address: str) -> None:
    """Create the bucket as soon as the server answers."""
    for _ in range(600):
        try:
            urllib.request.urlopen(urllib.request.Request(address, method="PUT")).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server does not answer")


def stored(address: str, prefix: str) -> int:
    """Count the objects below a prefix."""
    with urllib.request.urlopen(f"{address}?list-type=2&prefix={prefix}/") as answer:
        return int(answer.read().count(b"<Key>"))


def with_remote(published: Project, folder: Path, address: str, name: str) -> Project:
    """Copy the published study, and replace its remote by a folder of the bucket."""
    project = published.copy_to(folder)
    endpoint, _, bucket_name = address.rpartition("/")
    project.run("dvc", "remote", "add", "--force", "store", f"s3://{bucket_name}/{name}")
    project.run("dvc", "remote", "modify", "store", "endpointurl", endpoint)
    project.run("git", "commit", "--quiet", "--all", "--message=Remote")
    return project


def outside(tmp_path: Path, **known: str) -> list[str]:
    """Begin a command that knows these credentials, and finds no others on this machine."""
    (tmp_path / "none").touch()
    nothing = {
        name: str(tmp_path / "none") for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
    }
    variables = {**nothing, "AWS_EC2_METADATA_DISABLED": "true", **known}
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


@pytest.mark.slow
def test_results_travel(published: Project, bucket: str, tmp_path: Path) -> None:
    project = with_remote(published, tmp_path / "project", bucket, "travel")
    signed = outside(tmp_path, **CREDENTIALS)
    project.run(*signed, "dvc", "push")
    cloned = project.clone_to(tmp_path / "clone")
    cloned.run(*signed, "dvc", "pull")
    assert cloned.digests() == published.digests()
    assert cloned.planned() == {}
    assert "up to date" in cloned.run("dvc", "status", "dvc.yaml").stdout
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]


def test_missing_credentials_are_told_and_cost_nothing(
    published: Project, bucket: str, tmp_path: Path
) -> None:
    project = with_remote(published, tmp_path / "project", bucket, "unsigned")
    refused = project.run(*outside(tmp_path), "dvc", "push", status=255)
    assert "Unable to locate credentials" in refused.stderr
    assert stored(bucket, "unsigned") == 0
    assert project.digests() == published.digests()
    assert "up to date" in project.run("dvc", "status", "dvc.yaml").stdout


@pytest.mark.slow
def test_killed_push_is_completed_by_the_next(
    published: Project, bucket: str, tmp_path: Path
) -> None:
    project = with_remote(published, tmp_path / "project", bucket, "killed")
    signed = outside(tmp_path, **CREDENTIALS)
    push = project.start(*signed, "dvc", "push", "--jobs", "1", log=tmp_path / "log")
    while not stored(bucket, "killed"):
        assert push.poll() is None, (tmp_path / "log").read_text()
    os.killpg(push.pid, signal.SIGKILL)
    push.wait()
    arrived = stored(bucket, "killed")
    project.run(*signed, "dvc", "push")
    assert stored(bucket, "killed") > arrived
    assert "in sync" in project.run(*signed, "dvc", "status", "--cloud").stdout
    assert project.digests() == published.digests()
