"""The export has the origin of every file, in standard terms, and nothing else."""

from __future__ import annotations

import getpass
import json
import shutil
import socket
from collections.abc import Callable
from datetime import UTC, datetime
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
from nlobayes.artifacts.netcdf import read_attrs, read_groups, write_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.audit.provenance import Format, provenance
from nlobayes.commands.pipeline.prepare import prepare
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
    """Return every file with its inputs, by the actions of a crate."""
    return {
        (result["name"], source["name"])
        for action in described.get_by_type("CreateAction")
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


def test_every_file_is_the_one_on_disk(here: Path) -> None:
    for file in export().get_records(ProvEntity):
        path = Path(value(file, "term:path"))
        assert value(file, "term:sha256") == sha256(path.read_bytes()).hexdigest()
        assert value(file, "term:size") == path.stat().st_size


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


def test_one_artifact_comes_with_its_ancestors_alone(here: Path) -> None:
    document = export(PREDICTIONS)
    files = {value(one, "term:path") for one in document.get_records(ProvEntity)}
    assert files == {PREDICTIONS, DATA, TABLE, SIMULATED}
    assert paths(document, ProvDerivation) == {(PREDICTIONS, DATA), (DATA, TABLE)}


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
    groups, attrs = read_groups(Path(PREDICTIONS), "predictions"), read_attrs(Path(PREDICTIONS))
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


@pytest.mark.parametrize("format", Format)
def test_equal_projects_give_equal_bytes_wherever_they_are(
    here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, format: Format
) -> None:
    def written() -> bytes:
        place = Path("out") if format == Format.PROV_JSON else Path()
        provenance(place, format=format, published=PUBLISHED)
        out = place if format == Format.PROV_JSON else place / "ro-crate-metadata.json"
        content = out.read_bytes()
        out.unlink()
        return content

    first = written()
    moved = shutil.copytree(here, tmp_path / "elsewhere", copy_function=shutil.copy)
    monkeypatch.chdir(moved)
    assert written() == first == written()
    now = datetime.now(UTC)
    hidden = [str(here), socket.gethostname(), f"{now:%Y-%m-%d}", f"{getpass.getuser()}@"]
    assert not [word for word in hidden if word in first.decode()]


def test_a_file_that_was_changed_is_not_the_one_that_was_used(here: Path) -> None:
    """The dataset is prepared anew with other splits; the predictions are of the one before."""
    before = sha256(Path(DATA).read_bytes()).hexdigest()
    spec = {**read_attrs(Path(DATA))["spec"], "reference_points": 3}
    prepare(json.dumps(spec), Path(TABLE), Path(DATA))
    document = export()
    versions = [f for f in document.get_records(ProvEntity) if value(f, "term:path") == DATA]
    assert len(versions) == 2
    (used,) = (s for r, s in ends(document, ProvDerivation) if value(r, "term:path") == PREDICTIONS)
    assert value(used, "term:sha256") == before
    assert not used.get_attribute("term:size")
    (new,) = (f for f in versions if f != used)
    assert value(new, "term:sha256") == sha256(Path(DATA).read_bytes()).hexdigest()
    assert {value(f, "term:sha256") for f, _ in ends(document, ProvGeneration)} >= {
        value(new, "term:sha256")
    }
    assert used not in [f for f, _ in ends(document, ProvGeneration)]


def test_a_result_that_was_changed_was_not_made_by_its_job(here: Path) -> None:
    Path(SCORES).write_text("{}")
    document = export()
    versions = [f for f in document.get_records(ProvEntity) if value(f, "term:path") == SCORES]
    made = [f for f, _ in ends(document, ProvGeneration) if f in versions]
    assert len(versions) == 2
    assert [bool(f.get_attribute("term:size")) for f in made] == [False]


def test_files_that_no_job_made_are_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(7):
        (here / f"results/x{number}.csv").write_text("a\n")
    export()
    printed = capsys.readouterr().out
    assert "13 files, 4 jobs; made by none of them: results/x0.csv, " in printed
    assert "results/x4.csv and 2 more" in printed


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


def test_a_crate_states_what_it_must(here: Path) -> None:
    root = crate().root_dataset
    assert root["license"].id == "LICENSE"
    assert root["conformsTo"].id == "https://w3id.org/ro/wfrun/process/0.6"
    assert root.datePublished == datetime.fromisoformat(PUBLISHED)
    assert root["name"]
    assert root["description"]


def test_the_workflow_is_the_main_entity_where_it_lies(here: Path) -> None:
    """Snakefile, rules and graph, as the profile Workflow RO-Crate 1.1 requires."""
    assert "mainEntity" not in crate().root_dataset
    shutil.copytree(ROOT / "workflow", "workflow")
    described = crate()
    main = described.mainEntity
    assert main.id == "workflow/Snakefile"
    assert main.type == ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
    assert main["programmingLanguage"]["name"] == "Snakemake"
    assert f'min_version("{main["programmingLanguage"]["version"]}")' in Path(main.id).read_text()
    assert main["license"].id == "LICENSE"
    assert main["image"].id == "workflow/stages.svg"
    assert main["image"].type == ["File", "ImageObject"]
    rules = {path.as_posix() for path in Path("workflow/rules").iterdir()}
    assert {part.id for part in main["hasPart"]} == rules
    profiles = described.root_dataset["conformsTo"]
    assert {profile.id.rsplit("/", 2)[1] for profile in profiles} == {
        "process",
        "workflow-ro-crate",
    }
    assert all("Profile" in profile.type for profile in profiles)


def test_a_crate_mentions_what_is_no_longer_there(here: Path) -> None:
    Path(TABLE).unlink()
    described = crate()
    assert TABLE not in {file.id for file in described.data_entities}
    (gone,) = (one for one in described.contextual_entities if one.get("name") == TABLE)
    assert gone.type == "CreativeWork"
    assert crate_edges(described) == EDGES


def test_a_crate_mentions_a_table_that_lies_elsewhere(here: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.parquet"
    shutil.copy(TABLE, table)
    prepare(json.dumps(read_attrs(Path(DATA))["spec"]), table, Path("results/data/b.nc"))
    described = crate()
    assert ("results/data/b.nc", str(table)) in crate_edges(described)
    assert {file.id for file in described.data_entities} == {
        *MADE_BY,
        "results/data/b.nc",
        "LICENSE",
    }


def test_odd_names_and_odd_facts_are_exported(here: Path) -> None:
    odd = Path("results/data/ä b #1?.nc")
    groups, attrs = read_groups(Path(PREDICTIONS), "predictions"), read_attrs(Path(PREDICTIONS))
    odd_facts = {"versions": [1], "spec": "text", "inputs": {"../x y": ["z"], "/abs": 1}}
    write_groups(odd, "predictions", groups, {**attrs, **odd_facts})
    assert {(str(odd), "../x y"), (str(odd), "/abs")} <= paths(export(), ProvDerivation)
    described = crate()
    assert {(str(odd), "../x y"), (str(odd), "/abs")} <= crate_edges(described)
    assert "results/data/%C3%A4%20b%20%231%3F.nc" in {one.id for one in described.data_entities}


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
