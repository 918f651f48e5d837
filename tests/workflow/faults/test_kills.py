"""Every verb killed as it puts a result into place: nothing is half there, the next is whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project
    from tests.workflow.faults.conftest import Verbs, Workbench

pytestmark = pytest.mark.workflow

FILES = {  # that a verb writes
    "simulate": 2,
    "prepare": 1,
    "pretrain": 1,
    "warmup": 1,
    "draw": 1,
    "check_convergence": 2,
    "assemble": 1,
    "diagnose": 2,
    "thin": 3,
    "posterior_predictive": 1,
    "evaluate": 2,
    "export": 2,
    "describe": 4,
    "tabulate": 24,
    "landscape": 5,
    "prior_predictive": 5,
    "agree": 2,
    "compare": 5,
    "plot": 5,
}
BY_DAY = ("simulate", "warmup", "export", "plot")


def hidden(project: Project) -> list[Path]:
    """Find the temporary files that killed verbs left."""
    return [*project.root.glob("results/**/.*")]


def visible(project: Project) -> dict[str, str]:
    """Digest all results."""
    found = project.digests()
    return {path: found[path] for path in found if not Path(path).name.startswith(".")}


def strike(workbench: Workbench, verbs: Verbs, folder: Path, verb: str, renames: list[int]) -> None:
    """Kill a verb again and again, each time as it renames another file, then let it end."""
    project = workbench.copy_without_results_of(verb, folder)
    command, whole = workbench.commands[verb], workbench.project.digests()
    for rename in renames:
        status, said = verbs.run(project, command, rename)
        assert status == -9, said
        assert len(hidden(project)) == 1
        assert visible(project).items() <= whole.items()
    status, said = verbs.run(project, command)
    assert status == 0, said
    assert hidden(project) == []
    found = project.digests()
    assert found.items() <= whole.items()
    assert workbench.made_by(verb) <= found.keys()


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=() if verb in BY_DAY else pytest.mark.slow) for verb in FILES]
)
@pytest.mark.by_day(1)
def test_a_verb_killed_as_it_puts_its_first_and_its_last_file_into_place(
    workbench: Workbench, verbs: Verbs, tmp_path: Path, verb: str
) -> None:
    assert len(workbench.made_by(verb)) == FILES[verb]
    strike(workbench, verbs, tmp_path / "project", verb, sorted({1, FILES[verb]}))


@pytest.mark.slow
@pytest.mark.parametrize("verb", [verb for verb, files in FILES.items() if files > 2])
def test_a_verb_killed_between_any_two_of_its_files(
    workbench: Workbench, verbs: Verbs, tmp_path: Path, verb: str
) -> None:
    strike(workbench, verbs, tmp_path / "project", verb, [*range(2, FILES[verb])])
