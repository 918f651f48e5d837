"""Lineage as an RO-Crate of processes that describes the project's folder in place.

If this folder contains the workflow, the workflow is the main entity of the crate.
"""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath
from typing import NamedTuple

from rocrate.model import ContextEntity, File, SoftwareApplication
from rocrate.rocrate import ROCrate

from nlobayes.artifacts.audit import lineage
from nlobayes.untyped import Document

METADATA = "ro-crate-metadata.json"
LICENSE = "LICENSE"
WORKFLOW = "workflow/Snakefile"
GRAPH = "workflow/stages.svg"
PROFILE = "https://w3id.org/ro/wfrun/process/0.6"
PYTHON = "https://www.python.org/"
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
UNTYPED = "application/octet-stream"
TYPES = {".nc": "application/x-netcdf", ".parquet": "application/vnd.apache.parquet"}


class Workflow(NamedTuple):
    """Rules and version of the workflow, whose Snakefile and graph are in the crate's folder."""

    rules: list[str]
    snakemake: str
    """The oldest version of Snakemake that runs the workflow."""


def to_crate(traced: lineage.Lineage, published: str, workflow: Workflow | None = None) -> Document:
    """Return the metadata of the crate: jobs become actions, and verbs become applications."""
    crate = ROCrate()
    kind = ["CreativeWork", "Profile"]
    profile = {"@type": kind, "name": "Process Run Crate", "version": "0.6"}
    root = crate.root_dataset
    root["conformsTo"] = crate.add(ContextEntity(crate, PROFILE, properties=profile))
    root["name"] = "Results of nlobayes"
    root["description"] = (
        "Bayesian neural networks by exact MCMC: tables, chains, posteriors, predictions, scores "
        "and figures, with every job that made them."
    )
    root["datePublished"] = published
    root["license"] = _add_license(crate)
    if workflow is not None:
        _add_workflow(crate, workflow)
    files = {file.id: _add_file(crate, file) for file in traced.files}
    if traced.jobs:
        root["mentions"] = [_add_job(crate, job, files) for job in traced.jobs]
    content: Document = crate.metadata.generate()
    return content


def _add_license(crate: ROCrate) -> File:
    properties = {"name": "License", "description": "The terms under which this may be used."}
    return crate.add(File(crate, dest_path=LICENSE, properties=properties))


def _add_workflow(crate: ROCrate, workflow: Workflow) -> None:
    """Make the workflow the main entity, with its rules and the image of its graph."""
    image = {
        "@type": ["File", "ImageObject"],
        "name": "What each stage of the workflow reads",
        "encodingFormat": "image/svg+xml",
    }
    properties = {
        "name": "nlobayes",
        "conformsTo": {"@id": BIOSCHEMAS},
        "license": {"@id": LICENSE},
        "image": crate.add(File(crate, dest_path=GRAPH, properties=image)),
        "hasPart": [_add_rules(crate, path) for path in workflow.rules],
    }
    language = {"lang": "snakemake", "lang_version": workflow.snakemake}
    crate.add_workflow(dest_path=WORKFLOW, properties=properties, main=True, **language)


def _add_rules(crate: ROCrate, path: str) -> File:
    properties = {"@type": ["File", "SoftwareSourceCode"], "name": PurePosixPath(path).name}
    return crate.add(File(crate, dest_path=path, properties=properties))


def _add_file(crate: ROCrate, file: lineage.File) -> ContextEntity:
    """Describe a file of the folder, or only mention a file that is missing or elsewhere."""
    properties = {"name": file.path, "sha256": file.sha256, "additionalType": file.kind}
    path = PurePosixPath(file.path)
    if file.size is None or path.is_absolute():
        mentioned = {"@type": "CreativeWork", **properties}
        return crate.add(ContextEntity(crate, f"#file-{file.id}", properties=mentioned))
    encoding = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or UNTYPED
    properties |= {"contentSize": str(file.size), "encodingFormat": encoding}
    return crate.add(File(crate, dest_path=file.path, properties=properties))


def _add_job(crate: ROCrate, job: lineage.Job, files: Document) -> ContextEntity:
    return crate.add_action(
        _add_software(crate, job),
        identifier=f"#job-{job.id}",
        object=[files[file.id] for file in job.used],
        result=[files[file.id] for file in job.made],
        properties={
            "@type": "CreateAction",
            "name": f"nlobayes {job.verb}",
            "description": "; ".join(f"{name} {value}" for name, value in job.settings.items()),
        },
    )


def _add_software(crate: ROCrate, job: lineage.Job) -> SoftwareApplication:
    software = job.software
    versions = dict(software.versions)
    identifier = f"#nlobayes-{job.verb}-{job.facts.get('code_digest')}-{software.id}"
    properties = {
        "name": f"nlobayes {job.verb}",
        **_version("nlobayes", versions.pop("nlobayes", "unknown")),
        "description": f"code {job.facts.get('code_digest')}; lock file {software.lock_digest}",
        "softwareRequirements": [_add_package(crate, *package) for package in versions.items()],
    }
    return crate.get(identifier) or crate.add(
        SoftwareApplication(crate, identifier, properties=properties)
    )


def _add_package(crate: ROCrate, name: str, version: str) -> SoftwareApplication:
    properties = {"name": name, **_version(name, version)}
    identifier = f"#{name}-{version}"
    return crate.get(identifier) or crate.add(
        SoftwareApplication(crate, identifier, properties=properties)
    )


def _version(name: str, version: str) -> dict[str, str]:
    """State a version as `version`, as processes need it, and `softwareVersion` of RO-Crate 1.3."""
    page = PYTHON if name == "python" else f"https://pypi.org/project/{name}/"
    return {"version": version, "softwareVersion": version, "url": page}
