"""Lineage as an RO-Crate of processes: the project's folder, described where it lies.

Where the workflow lies in this folder, it is the main entity of the crate.
"""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from rocrate.model import ContextEntity, File, SoftwareApplication
from rocrate.rocrate import ROCrate

from nlobayes.artifacts.audit import lineage

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
    """The workflow in the folder of the crate, beside its Snakefile and its graph."""

    rules: list[str]
    snakemake: str
    """The oldest version of Snakemake that it runs with."""


def to_crate(
    traced: lineage.Lineage, published: str, workflow: Workflow | None = None
) -> dict[str, Any]:
    """Give the metadata of the crate; jobs become actions, verbs the applications they ran."""
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
    content: dict[str, Any] = crate.metadata.generate()
    return content


def _add_license(crate: ROCrate) -> Any:
    said = {"name": "License", "description": "The terms under which this may be used."}
    return crate.add(File(crate, dest_path=LICENSE, properties=said))


def _add_workflow(crate: ROCrate, workflow: Workflow) -> None:
    """Make the workflow the main entity, with its rules and the picture of its graph."""
    drawn = {
        "@type": ["File", "ImageObject"],
        "name": "What each stage of the workflow reads",
        "encodingFormat": "image/svg+xml",
    }
    said = {
        "name": "nlobayes",
        "conformsTo": {"@id": BIOSCHEMAS},
        "license": {"@id": LICENSE},
        "image": crate.add(File(crate, dest_path=GRAPH, properties=drawn)),
        "hasPart": [_add_rules(crate, path) for path in workflow.rules],
    }
    language = {"lang": "snakemake", "lang_version": workflow.snakemake}
    crate.add_workflow(dest_path=WORKFLOW, properties=said, main=True, **language)


def _add_rules(crate: ROCrate, path: str) -> Any:
    said = {"@type": ["File", "SoftwareSourceCode"], "name": PurePosixPath(path).name}
    return crate.add(File(crate, dest_path=path, properties=said))


def _add_file(crate: ROCrate, file: lineage.File) -> Any:
    """Describe a file of the folder; one that is elsewhere, or no longer, is only mentioned."""
    said = {"name": file.path, "sha256": file.sha256, "additionalType": file.kind}
    path = PurePosixPath(file.path)
    if file.size is None or path.is_absolute():
        gone = {"@type": "CreativeWork", **said}
        return crate.add(ContextEntity(crate, f"#file-{file.id}", properties=gone))
    encoding = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or UNTYPED
    said |= {"contentSize": str(file.size), "encodingFormat": encoding}
    return crate.add(File(crate, dest_path=file.path, properties=said))


def _add_job(crate: ROCrate, job: lineage.Job, files: dict[str, Any]) -> Any:
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


def _add_software(crate: ROCrate, job: lineage.Job) -> Any:
    versions = dict(job.software["versions"])
    environment = lineage.identify_software(job.software)
    identifier = f"#nlobayes-{job.verb}-{job.facts.get('code_digest')}-{environment}"
    said = {
        "name": f"nlobayes {job.verb}",
        **_version("nlobayes", versions.pop("nlobayes", "unknown")),
        "description": f"code {job.facts.get('code_digest')}; "
        f"lock file {job.software['lock_digest']}",
        "softwareRequirements": [_add_package(crate, *one) for one in versions.items()],
    }
    return crate.get(identifier) or crate.add(
        SoftwareApplication(crate, identifier, properties=said)
    )


def _add_package(crate: ROCrate, name: str, version: str) -> Any:
    said = {"name": name, **_version(name, version)}
    identifier = f"#{name}-{version}"
    return crate.get(identifier) or crate.add(
        SoftwareApplication(crate, identifier, properties=said)
    )


def _version(name: str, version: str) -> dict[str, str]:
    """State a version by both terms: processes need the one, RO-Crate 1.3 the other."""
    page = PYTHON if name == "python" else f"https://pypi.org/project/{name}/"
    return {"version": version, "softwareVersion": version, "url": page}
