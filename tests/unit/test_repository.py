"""The files around the code agree with each other and name no machine."""

import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from nlobayes.code_digest import CHOSEN_BY, FOUND_BY_NAME

ROOT = Path(__file__).parents[2]
CONDA_NAMES = {"matplotlib-base": "matplotlib"}
OF_WORKFLOW = ("train", "workflow", "dvc", "audit")
"""Extras that rules and their audit need."""
OURS = "nlobayes"
MACHINES = {"cd |home|x": True, "'|work|x'": True, "..|home|x": False, "https:||a|home|x": False}
MACHINE_PATH = re.compile(r"(?<![\w.~:/-])/(?:root|home|Users|work)/")


def read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text())


def read_yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def specifiers(requirements: Iterable[str]) -> dict[str, SpecifierSet]:
    """Join what is asked of the versions of each package; our own extras are none."""
    found: dict[str, SpecifierSet] = {}
    for requirement in map(Requirement, requirements):
        found[requirement.name] = (
            found.get(requirement.name, SpecifierSet()) & requirement.specifier
        )
    return {name: asked for name, asked in found.items() if name != OURS}


def declared(*extras: str) -> list[str]:
    """List the requirements of the base install and of extras."""
    project = read_toml("pyproject.toml")["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *chain(*(optional[extra] for extra in extras))]


def test_conda_twin_has_the_same_dependencies() -> None:
    project = read_toml("pyproject.toml")["project"]
    expected = specifiers(declared(*OF_WORKFLOW)) | {
        "python": SpecifierSet(project["requires-python"])
    }
    *conda, with_pip = read_yaml("environment.yml")["dependencies"]
    twin = specifiers([text for text in conda if text != "pip"] + with_pip["pip"])
    found = {CONDA_NAMES.get(name, name): versions for name, versions in twin.items()}
    assert {name: allowed(versions) for name, versions in found.items()} == {
        name: allowed(versions) for name, versions in expected.items()
    }


def allowed(versions: SpecifierSet) -> tuple[Version, Version | None]:
    """Give the lowest version that is allowed, and where they end."""
    assert {each.operator for each in versions} <= {">=", "<"}, versions
    low, end = ([Version(v.version) for v in versions if v.operator == o] for o in (">=", "<"))
    return max(low), min(end, default=None)


def test_conda_recipe_is_of_the_base_install() -> None:
    project, recipe = read_toml("pyproject.toml")["project"], read_yaml("recipe/recipe.yaml")
    context, about = recipe["context"], recipe["about"]
    assert context["version"] == project["version"]
    (python, *run) = recipe["requirements"]["run"]
    lowest = python.replace("${{ python_min }}", context["python_min"])
    assert SpecifierSet(lowest.removeprefix("python ")) == SpecifierSet(project["requires-python"])
    assert specifiers(run) == specifiers(declared())
    (script,) = recipe["build"]["python"]["entry_points"]
    assert script == f"nlobayes = {project['scripts']['nlobayes']}"
    assert (about["summary"], about["license"]) == (project["description"], project["license"])
    build = read_toml("pyproject.toml")["build-system"]["requires"]
    assert specifiers(build).items() <= specifiers(recipe["requirements"]["host"][1:]).items()


def test_what_only_the_owner_knows_is_marked_and_nothing_is_published_before() -> None:
    """The names of people and of the repository."""
    for name in ("pyproject.toml", "CITATION.cff", "recipe/recipe.yaml"):
        text = (ROOT / name).read_text()
        assert "OWNER" in text or "The nlobayes developers" not in text
    recipe = re.search(r"^publish:.*?(?=^\S)", (ROOT / "Makefile").read_text(), re.M | re.S)
    assert recipe is not None
    assert "grep -n OWNER pyproject.toml CITATION.cff" in recipe.group()
    jobs = read_yaml(".github/workflows/release.yml")["jobs"]
    publishing = jobs["pypi"]
    assert publishing["steps"][-1]["run"] == "make publish"
    assert publishing["permissions"] == {"contents": "read", "id-token": "write"}
    assert publishing["needs"] == "test"
    assert "permissions" not in jobs["test"]


def test_citation_and_change_log_have_the_version_of_the_project() -> None:
    project, citation = read_toml("pyproject.toml")["project"], read_yaml("CITATION.cff")
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    released = re.findall(
        r"^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
    assert released[0] == project["version"]
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License\n")


def test_actions_of_continuous_integration_are_pinned_by_commit() -> None:
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for used in re.findall(r"uses: *(.+)", path.read_text()):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), path


@pytest.mark.parametrize("name", ["uv", "audit"])
def test_what_make_installs_itself_is_pinned_by_hash(name: str) -> None:
    """The programs outside of uv.lock: one version of each, and the SHA-256 of every file of it."""
    text = (ROOT / f".ci/{name}.txt").read_text()
    packages = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert packages
    hashed = r"[\w-]+==[\w.]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    assert [package for package in packages if not re.fullmatch(hashed, package)] == []
    installs = rf"--require-hashes (--requirement )?\.ci/{name}\.txt"
    assert re.search(installs, (ROOT / "Makefile").read_text())


def test_every_test_that_the_list_of_faults_names_exists() -> None:
    page = (ROOT / "tests/workflow/faults/README.md").read_text()
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?[^`]*`", page)
    assert len(named) > 50
    for path, test in named:
        (found,) = [
            place / path
            for place in (ROOT / "tests", ROOT / "tests/workflow/faults")
            if (place / path).is_file()
        ]
        assert not test or f"def {test}(" in found.read_text(), (path, test)


def test_a_file_name_occurs_once_outside_families_and_folders_named_by_subject() -> None:
    package = ROOT / "src/nlobayes"
    may_repeat = (
        *CHOSEN_BY,
        *FOUND_BY_NAME,
        "nlobayes.study",
        "nlobayes.commands",
        "nlobayes.estimators",
    )
    folders = [ROOT / "src" / name.replace(".", "/") for name in may_repeat]
    assert all(folder.is_dir() for folder in folders)
    paths = [
        path
        for path in package.rglob("*.py")
        if path.name[0] != "_" and not any(path.is_relative_to(folder) for folder in folders)
    ]
    assert len(paths) > 200
    counts = Counter(path.name for path in paths)
    assert [path for path in paths if counts[path.name] > 1] == []


def test_no_file_names_a_machine() -> None:
    """The first lines are written with bars, or this file would name a machine itself."""
    seen = {text: bool(MACHINE_PATH.search(text.replace("|", "/"))) for text in MACHINES}
    assert seen == MACHINES
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: which files belong to the repository is not known")
    listing = ["git", "-c", "safe.directory=*", "ls-files", "-coz", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    guilty = [
        name
        for name in filter(None, names.split("\0"))
        if (ROOT / name).is_file()
        and MACHINE_PATH.search((ROOT / name).read_bytes().decode(errors="replace"))
    ]
    assert guilty == []
