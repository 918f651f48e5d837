"""The workflow of a crate: its steps, and the run of its engine that made the results.

The profiles Workflow Run Crate and Provenance Run Crate 0.6 define the entities
(https://w3id.org/ro/wfrun/provenance/0.6). No entity has a time, because lineages have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from rocrate.model import ContextEntity, DataEntity, File, SoftwareApplication
from rocrate.rocrate import ROCrate

WORKFLOW = "workflow/Snakefile"
GRAPH = "workflow/stages.svg"
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
ENGINE = "https://snakemake.github.io"
PROFILES = "https://w3id.org/ro/wfrun"
VERSION = "0.6"

Actions = Sequence[tuple[str, ContextEntity]]
"""Actions of jobs with their verbs."""


class Workflow(NamedTuple):
    """Rules, steps and engine of the workflow, whose Snakefile and graph are in the folder."""

    rules: list[str]
    steps: list[str]
    """Verbs of all stages, in the order in which a run calls them."""
    snakemake: str
    """The oldest version of Snakemake that runs the workflow."""


def add_profile(crate: ROCrate, name: str) -> None:
    """State that the crate conforms to a profile of runs: process, workflow or provenance."""
    properties = {
        "@type": ["CreativeWork", "Profile"],
        "name": f"{name.capitalize()} Run Crate",
        "version": VERSION,
    }
    profile = ContextEntity(crate, f"{PROFILES}/{name}/{VERSION}", properties=properties)
    crate.root_dataset.append_to("conformsTo", crate.add(profile))


def add_workflow(crate: ROCrate, workflow: Workflow, license: str, actions: Actions) -> None:
    """Make the workflow the main entity, with its rules, the image of its graph and its run.

    `actions` are those of all jobs. The run consists of the ones whose verb is a step.
    """
    image = {
        "@type": ["File", "ImageObject"],
        "name": "What each stage of the workflow reads",
        "encodingFormat": "image/svg+xml",
    }
    properties = {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": "nlobayes",
        "conformsTo": {"@id": BIOSCHEMAS},
        "license": {"@id": license},
        "image": crate.add(File(crate, dest_path=GRAPH, properties=image)),
    }
    language = {"lang": "snakemake", "lang_version": workflow.snakemake}
    main = crate.add_workflow(dest_path=WORKFLOW, properties=properties, main=True, **language)
    for path in workflow.rules:
        rules = {
            "@type": ["File", "SoftwareSourceCode"],
            "name": PurePosixPath(path).name,
            "isPartOf": main,
        }
        crate.add(File(crate, dest_path=path, properties=rules))
    run = [(verb, action) for verb, action in actions if verb in workflow.steps]
    if run:
        add_profile(crate, "workflow")
        add_profile(crate, "provenance")
        _add_steps(crate, main, workflow.steps, run)
        _add_run(crate, main, workflow.snakemake, run)


def _add_steps(crate: ROCrate, main: DataEntity, order: list[str], run: Actions) -> None:
    """Add the steps that have run; each refers to its tools, one for each version."""
    main["hasPart"] = _each_once(action["instrument"] for _, action in run)
    for verb in (verb for verb in order if verb in dict(run)):
        properties = {
            "@type": "HowToStep",
            "name": verb,
            "position": str(order.index(verb)),
            "workExample": _each_once(action["instrument"] for name, action in run if name == verb),
        }
        main.append_to("step", crate.add(ContextEntity(crate, _step(verb), properties=properties)))


def _add_run(crate: ROCrate, main: DataEntity, oldest: str, run: Actions) -> None:
    """Add the run of the workflow and that of its engine, which called each job of a step."""
    read = _each_once(file for _, action in run for file in action.get("object", []))
    made = _each_once(file for _, action in run for file in action["result"])
    whole = crate.add_action(
        main,
        identifier="#run",
        object=[file for file in read if file not in made],
        result=[file for file in made if file not in read],
        properties={"@type": "CreateAction", "name": "Run of the workflow"},
    )
    about = {
        "name": "Snakemake",
        "url": ENGINE,
        "version": f">={oldest}",
        "softwareVersion": f">={oldest}",
        "description": "No record states the version; the lock file of the jobs fixes it.",
    }
    engine = crate.add_action(
        crate.add(SoftwareApplication(crate, "#snakemake", properties=about)),
        identifier="#engine",
        object=[_add_call(crate, verb, action) for verb, action in run],
        result=[whole],
        properties={"@type": "OrganizeAction", "name": "Run of Snakemake"},
    )
    crate.root_dataset.append_to("mentions", [whole, engine])


def _add_call(crate: ROCrate, verb: str, action: ContextEntity) -> ContextEntity:
    return crate.add_action(
        crate.get(_step(verb)),
        identifier=action.id.replace("#job-", "#call-"),
        object=[action],
        properties={"@type": "ControlAction", "name": f"Call of nlobayes {verb}"},
    )


def _step(verb: str) -> str:
    return f"#step-{verb}"


def _each_once(entities: Iterable[ContextEntity]) -> list[ContextEntity]:
    return list({entity.id: entity for entity in entities}.values())
