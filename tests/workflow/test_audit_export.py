"""A finished study is told to others completely: every file, every job, every input."""

from __future__ import annotations

import json
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prov.model import ProvActivity, ProvDerivation, ProvDocument, ProvEntity, ProvGeneration
from rocrate.rocrate import ROCrate

from nlobayes.artifacts.audit.origins import Project as Files

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

VERBS = {
    *("simulate", "prepare", "pretrain", "warmup", "draw", "assemble", "diagnose", "thin"),
    *("posterior_predictive", "evaluate", "export", "tabulate", "tabulate_chains", "plot"),
    "describe",
}
SHOW_EACH = """
import sys
from pathlib import Path
from nlobayes.commands.audit.show import show
for name in sys.argv[1:]:
    show(Path(name), json=True)
    print("---")
"""


def edges(project: Project) -> set[tuple[str, str]]:
    """Every result and every file that it was made from."""
    walked = Files(project.root).ancestors(project.digests())
    return {(name, source) for name, origin in walked if origin for source in origin.inputs}


def test_the_whole_study_is_a_prov_document(tiny: Project, tmp_path: Path) -> None:
    out = tmp_path / "prov.json"
    said = tiny.run("nlobayes", "provenance", "--out", out).stdout
    assert "made by none" not in said
    document = ProvDocument.deserialize(str(out), format="json")
    assert isinstance(document, ProvDocument)

    def path_of(identifier: object) -> str:
        (path,) = document.get_record(identifier)[0].get_attribute("term:path")  # type: ignore[arg-type]
        return str(path)

    files = {path_of(file.identifier) for file in document.get_records(ProvEntity)}
    assert files == {*tiny.digests()}
    made = [path_of(one.formal_attributes[0][1]) for one in document.get_records(ProvGeneration)]
    assert sorted(made) == sorted(files)
    derived = {
        (path_of(one.formal_attributes[0][1]), path_of(one.formal_attributes[1][1]))
        for one in document.get_records(ProvDerivation)
    }
    assert derived == edges(tiny)
    graph: dict[str, set[str]] = {}
    for result, source in derived:
        graph.setdefault(result, set()).add(source)
    TopologicalSorter(graph).prepare()
    jobs = [job.get_attribute("term:verb") for job in document.get_records(ProvActivity)]
    assert {verb for (verb,) in jobs} == VERBS


def test_the_whole_study_is_a_crate_that_the_workflow_does_not_mind(
    tiny: Project, tmp_path: Path
) -> None:
    project = tiny.copy_to(tmp_path / "project")
    words = ("--format", "ro-crate", "--out", ".", "--published", "2026-01-31")
    project.run("nlobayes", "provenance", *words)
    crate = ROCrate(project.root)
    workflow = {"workflow/Snakefile", "workflow/stages.svg"}
    workflow |= {file.id for file in crate.data_entities if file.get("isPartOf")}
    assert {file.id for file in crate.data_entities} == {*tiny.digests(), "LICENSE", *workflow}
    found = {
        (result["name"], source["name"])
        for action in crate.get_by_type("CreateAction")
        if action["instrument"] != crate.mainEntity
        for result in action["result"]
        for source in action.get("object", [])
    }
    assert found == edges(tiny)
    assert {step["name"] for step in crate.mainEntity["step"]} == VERBS
    assert project.digests() == tiny.digests()
    assert project.planned() == {}


def test_every_result_is_shown(tiny: Project) -> None:
    digests = tiny.digests()
    done = tiny.run(sys.executable, "-c", SHOW_EACH, *digests)
    shown = {said["path"]: said for said in map(json.loads, done.stdout.split("---\n")[:-1])}
    assert {path: said["sha256"] for path, said in shown.items()} == digests
    for said in shown.values():
        assert said["made"]["verb"] in VERBS
        assert said["made"]["installed_code"]
        assert said["made"]["same_lock"]
        assert {said["made"]["since"], *said["made"]["inputs"].values()} == {"the same"}
