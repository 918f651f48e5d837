"""The export has the origin of every file, in standard terms, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from graphlib import TopologicalSorter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from prov.model import (
    ProvActivity,
    ProvAgent,
    ProvAssociation,
    ProvDerivation,
    ProvDocument,
    ProvEntity,
    ProvGeneration,
    ProvUsage,
)
from rocrate.rocrate import ROCrate

from nlobayes.artifacts.audit.origins import Project
from nlobayes.artifacts.contents import write_map
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.audit.provenance import Format, provenance
from nlobayes.provenance import record
from nlobayes.types import MAPEstimate
from tests.refusals import refused

TABLE, DATA = "results/tables/a.parquet", "results/data/a.nc"
PREDICTIONS, SCORES = "results/predictions/a.nc", "results/metrics/a/diagnostics.json"
SIMULATED, DIAGNOSED = "results/records/simulate/a.json", "results/records/diagnose/a.json"
EDGES = {
    (DATA, TABLE),
    (PREDICTIONS, DATA),
    (SCORES, PREDICTIONS),
    (SCORES, DATA),
    (DIAGNOSED, PREDICTIONS),
    (DIAGNOSED, DATA),
}
MADE_BY = {
    TABLE: "simulate",
    SIMULATED: "simulate",
    DATA: "prepare",
    PREDICTIONS: "posterior_predictive",
    SCORES: "diagnose",
    DIAGNOSED: "diagnose",
}
PUBLISHED = "2026-01-31"
ROOT = Path(__file__).parents[3]
Edges = set[tuple[str, str]]


def export(path: str = "results") -> ProvDocument:
    """Export as PROV-JSON and read it back."""
    provenance(Path("prov.json"), Path(path))
    document = ProvDocument.deserialize("prov.json", format="json")
    assert isinstance(document, ProvDocument)
    return document


def crate(path: str = "results") -> ROCrate:
    """Describe the project as a crate and read it back."""
    provenance(Path(), Path(path), format=Format.RO_CRATE, published=PUBLISHED)
    return ROCrate(Path())


def value(record: Any, name: str) -> Any:
    """Return the only value of an attribute of a PROV record."""
    (found,) = record.get_attribute(name)
    return found


def ends(document: ProvDocument, kind: type) -> list[tuple[Any, Any]]:
    """Return the two ends of each relation of a kind."""
    found = []
    for relation in document.get_records(kind):
        one, two = (document.get_record(end)[0] for _, end in relation.formal_attributes[:2])
        found.append((one, two))
    return found


def paths(document: ProvDocument, kind: type) -> Edges:
    """Return the two ends of each relation of a kind, by paths of files."""
    return {(value(a, "term:path"), value(b, "term:path")) for a, b in ends(document, kind)}


def expected_edges(*names: str) -> Edges:
    """Return every file with its inputs, by the search for ancestors."""
    walked = Project(Path()).ancestors(names)
    return {(name, source) for name, origin in walked if origin for source in origin.inputs}


def crate_edges(described: ROCrate) -> Edges:
    """Return every file with its inputs, by the actions of the jobs of a crate."""
    return {
        (result["name"], source["name"])
        for action in described.get_by_type("CreateAction")
        if action["instrument"].type == "SoftwareApplication"
        for result in action["result"]
        for source in action.get("object", [])
    }


def test_every_file_and_every_input_is_there_and_nothing_comes_from_itself(here: Path) -> None:
    document = export()
    edges = paths(document, ProvDerivation)
    assert edges == EDGES
    assert edges == expected_edges(*MADE_BY)
    graph: dict[str, set[str]] = {}
    for result, source in edges:
        graph.setdefault(result, set()).add(source)
    assert next(iter(TopologicalSorter(graph).static_order())) == TABLE
    assert {value(one, "term:path") for one in document.get_records(ProvEntity)} == {*MADE_BY}


def test_every_file_was_made_by_its_job_which_used_its_inputs(here: Path) -> None:
    document = export()
    made = {
        value(file, "term:path"): value(job, "term:verb")
        for file, job in ends(document, ProvGeneration)
    }
    assert made == MADE_BY
    used = {
        (value(job, "term:verb"), value(file, "term:path"))
        for job, file in ends(document, ProvUsage)
    }
    assert used == {(MADE_BY[result], source) for result, source in EDGES}


def test_a_job_states_its_specification_and_its_software(here: Path) -> None:
    document = export()
    attrs = read_attrs(Path(PREDICTIONS))
    jobs = {value(job, "term:verb"): job for job in document.get_records(ProvActivity)}
    assert {*jobs} == {*MADE_BY.values()}
    recorded = {
        name: value(jobs["posterior_predictive"], f"term:{name}")
        for name in ("code_digest", "device", "precision")
    }
    assert recorded == {name: attrs[name] for name in recorded}
    assert json.loads(value(jobs["posterior_predictive"], "term:spec")) == attrs["spec"]
    assert value(jobs["posterior_predictive"], "term:exact") == "false"
    (agent,) = document.get_records(ProvAgent)
    assert value(agent, "term:lock_digest") == attrs["lock_digest"]
    for name, version in attrs["versions"].items():
        assert value(agent, f"package:{name}") == version
    assert {one for one, _ in ends(document, ProvAssociation)} == {*jobs.values()}


def test_calls_of_a_verb_are_jobs_of_their_own_and_what_one_made_is_of_one(
    here: Path, make_start: Callable[..., MAPEstimate]
) -> None:
    """Two chains, two specifications, two inputs; and an artifact with the table beside it."""
    for name, chain, spec, source in (
        ("a", 0, 1, DATA),
        ("b", 1, 1, DATA),
        ("c", 0, 2, DATA),
        ("d", 0, 1, PREDICTIONS),
    ):
        made = record("pretrain", {"seed": spec}, digests([Path(source)]))
        write_map(Path(f"results/pretrain/{name}.nc"), make_start(chain), made)
    groups, attrs = (
        open_artifact(Path(PREDICTIONS), "predictions").groups,
        read_attrs(Path(PREDICTIONS)),
    )
    del attrs["kind"]
    both = [Path("results/thinned/a.nc"), Path("results/plots/a.csv")]
    write_groups(both[0], "predictions", groups, {**attrs, "verb": "thin"})
    write_csv(both[1], {"x": [1]})
    write_record(Path("results/records/thin/a.json"), {**attrs, "verb": "thin"}, both)
    made_by = ends(export(), ProvGeneration)
    starts = [job for _, job in made_by if value(job, "term:verb") == "pretrain"]
    assert len(starts) == len({job.identifier for job in starts}) == 4
    thinned = [job for _, job in made_by if value(job, "term:verb") == "thin"]
    assert (len(thinned), len({job.identifier for job in thinned})) == (3, 1)


def test_a_result_that_was_changed_was_not_made_by_its_job(here: Path) -> None:
    Path(SCORES).write_text("{}")
    document = export()
    versions = [f for f in document.get_records(ProvEntity) if value(f, "term:path") == SCORES]
    made = [f for f, _ in ends(document, ProvGeneration) if f in versions]
    assert len(versions) == 2
    assert [bool(f.get_attribute("term:size")) for f in made] == [False]


def test_a_crate_describes_every_file_in_place(here: Path) -> None:
    before = {path for path in here.rglob("*")}
    described = crate()
    assert {path for path in here.rglob("*")} - before == {here / "ro-crate-metadata.json"}
    files = {file.id: file for file in described.data_entities}
    assert files.keys() == {*MADE_BY, "LICENSE"}
    for path in MADE_BY:
        assert files[path]["sha256"] == sha256(Path(path).read_bytes()).hexdigest()
        assert files[path]["contentSize"] == str(Path(path).stat().st_size)
    assert files[DATA]["encodingFormat"] == "application/x-netcdf"
    assert files[SCORES]["encodingFormat"] == "application/json"


def test_a_crate_has_every_job_and_is_read_by_other_software(here: Path) -> None:
    described = crate()
    assert crate_edges(described) == EDGES
    actions = described.get_by_type("CreateAction")
    assert {action.id for action in described.root_dataset["mentions"]} == {
        action.id for action in actions
    }
    assert sorted(action["name"] for action in actions) == sorted(
        f"nlobayes {verb}" for verb in {*MADE_BY.values()}
    )
    for action in actions:
        software = action["instrument"]
        assert software.type == "SoftwareApplication"
        assert software["name"] == action["name"]
        needed = {one["name"]: one["softwareVersion"] for one in software["softwareRequirements"]}
        versions = read_attrs(Path(PREDICTIONS))["versions"]
        assert needed | {"nlobayes": software["softwareVersion"]} == versions


def test_the_workflow_is_the_main_entity_where_it_lies(here: Path) -> None:
    """Snakefile, rules and graph, as the profile Workflow RO-Crate 1.1 requires."""
    assert "mainEntity" not in crate().root_dataset
    shutil.copytree(ROOT / "workflow", "workflow")
    described = crate()
    main = described.mainEntity
    assert main.id == "workflow/Snakefile"
    assert main.type == ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
    assert main["programmingLanguage"]["name"] == "Snakemake"
    assert f'min_version("{main["programmingLanguage"]["version"]}")' in Path(main.id).read_text()
    assert main["license"].id == "LICENSE"
    assert main["image"].id == "workflow/stages.svg"
    assert main["image"].type == ["File", "ImageObject"]
    rules = {path.as_posix() for path in Path("workflow/rules").iterdir()}
    parts = (file for file in described.data_entities if file.get("isPartOf") == main)
    assert {part.id for part in parts} == rules
    profiles = described.root_dataset["conformsTo"]
    assert sorted(profile.id.rsplit("/", 2)[1] for profile in profiles) == [
        *("process", "provenance", "workflow", "workflow-ro-crate"),
    ]
    assert all("Profile" in profile.type for profile in profiles)


def test_the_engine_called_every_job_as_a_step_of_the_workflow(here: Path) -> None:
    """By the profile Provenance Run Crate 0.6, read back by other software."""
    shutil.copytree(ROOT / "workflow", "workflow")
    described = crate()
    assert crate_edges(described) == EDGES
    (engine,) = described.get_by_type("OrganizeAction")
    (whole,) = engine["result"]
    assert (engine["instrument"]["name"], whole["instrument"]) == (
        "Snakemake",
        described.mainEntity,
    )
    assert {whole, engine} <= {*described.root_dataset["mentions"]}
    jobs = [job for job in described.get_by_type("CreateAction") if job != whole]
    assert [job for call in engine["object"] for job in call["object"]] == jobs
    for call in engine["object"]:
        step, (job,) = call["instrument"], call["object"]
        assert step in described.mainEntity["step"]
        assert (step.type, f"nlobayes {step['name']}") == ("HowToStep", job["name"])
        assert job["instrument"] in [*step["workExample"], *described.mainEntity["hasPart"]]
    steps = described.mainEntity["step"]
    assert steps == sorted(steps, key=lambda step: int(step["position"]))
    assert [step["name"] for step in steps] == [
        *("simulate", "prepare", "diagnose", "posterior_predictive"),
    ]
    assert "object" not in whole
    assert {file["name"] for file in whole["result"]} == {SCORES, DIAGNOSED, SIMULATED}


def test_a_workflow_of_which_no_step_ran_has_no_run(here: Path) -> None:
    shutil.copytree(ROOT / "workflow", "workflow")
    Path("results/notes.csv").write_text("x\n1\n")
    described = crate("results/notes.csv")
    assert not described.get_by_type("OrganizeAction")
    assert "step" not in described.mainEntity
    profiles = described.root_dataset["conformsTo"]
    assert {profile.id.rsplit("/", 2)[1] for profile in profiles} == {
        "process",
        "workflow-ro-crate",
    }


@pytest.mark.parametrize(
    ("spoil", "words", "code"),
    [
        (None, {"path": Path("nowhere")}, "no_path"),
        (lambda: Path("empty").mkdir(), {"path": Path("empty")}, "no_file_below"),
        (None, {"out": Path("results/prov.json")}, "describes_itself"),
        (None, {"out": Path("crate"), "format": Format.RO_CRATE}, "crate_outside_project"),
        (None, {"out": Path(), "format": Format.RO_CRATE, "published": ""}, "no_date"),
        (None, {"out": Path(), "format": Format.RO_CRATE, "published": "May"}, "no_date"),
        (Path("LICENSE").unlink, {"out": Path(), "format": Format.RO_CRATE}, "no_license"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_nothing_is_written(
    here: Path, spoil: Callable[[], Any] | None, words: dict[str, Any], code: str
) -> None:
    if spoil:
        spoil()
    before = {*here.rglob("*")}
    with refused(f"commands.{code}"):
        provenance(**{"out": Path("prov.json"), "published": PUBLISHED, **words})
    assert {*here.rglob("*")} == before
