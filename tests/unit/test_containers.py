"""Container recipes: pinned, alike, of files that are there; built where a builder is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.documented import ROOT

DOCKER = (ROOT / "container/Dockerfile").read_text()
APPTAINER = (ROOT / "container/nlobayes.def").read_text()
BUILD_SECONDS = 3600


def test_recipes_are_alike_pinned_and_of_files_that_are_there() -> None:
    (image,) = re.findall(r"^FROM (python:3\.\d+\.\d+-slim-[a-z]+)$", DOCKER, re.M)
    assert re.findall(r"^From: (.+)$", APPTAINER, re.M) == [image]
    copied = {
        name for line in re.findall(r"^COPY (.+) \S+$", DOCKER, re.M) for name in line.split()
    }
    assert {"Makefile", "uv.lock", "pyproject.toml", "README.md", "src"} <= copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    (part,) = re.findall(r"^%files\n((?: +.+\n)+)", APPTAINER, re.M)
    assert dict(line.split() for line in part.splitlines()) == {
        name: f"/opt/nlobayes/{name}" for name in copied
    }
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    commands = re.findall(r"^(?:RUN |    )(make .+)$", DOCKER + APPTAINER, re.M)
    assert commands == ["make setup EXTRAS=all"] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "build"),
    [
        ("docker info", "docker build --file container/Dockerfile ."),
        ("apptainer --version", "apptainer build {out} container/nlobayes.def"),
    ],
    ids=["docker", "apptainer"],
)
def test_an_image_is_built_where_a_builder_is(asked: str, build: str, tmp_path: Path) -> None:
    builder, *option = asked.split()
    if (
        not shutil.which(builder)
        or subprocess.run([builder, *option], capture_output=True).returncode
    ):
        pytest.skip(f"no builder: {builder}")
    words = build.format(out=tmp_path / "nlobayes.sif").split()
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr[-4000:]
