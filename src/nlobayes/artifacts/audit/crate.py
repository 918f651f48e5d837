"""Lineage as an RO-Crate of processes that describes the project's folder in place.

If this folder contains the workflow, the crate also describes its steps and their run.
"""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath

from rocrate.model import ContextEntity, File, SoftwareApplication
from rocrate.rocrate import ROCrate

from nlobayes.artifacts.audit import lineage
from nlobayes.artifacts.audit.crate_workflow import Workflow, add_profile, add_workflow
from nlobayes.untyped import Document

METADATA = "ro-crate-metadata.json"
LICENSE = "LICENSE"
PYTHON = "https://www.python.org/"
UNTYPED = "application/octet-stream"
TYPES = {".nc": "application/x-netcdf", ".parquet": "application/vnd.apache.parquet"}


def to_crate(traced: lineage.Lineage, published: str, workflow: Workflow | None = None) -> Document:
    """Return the metadata of the crate: jobs become actions, and verbs become applications."""
    crate = ROCrate()
    root = crate.root_dataset
    add_profile(crate, "process")
    root["name"] = "Results of nlobayes"
    root["description"] = (
        "Bayesian neural networks by exact MCMC: tables, chains, posteriors, predictions, scores "
        "and figures, with every job that made them."
    )
    root["datePublished"] = published
    root["license"] = _add_license(crate)
    files = {file.id: _add_file(crate, file) for file in traced.files}
    actions = [_add_job(crate, job, files) for job in traced.jobs]
    if actions:
        root["mentions"] = actions
    if workflow is not None:
        verbs = [job.verb for job in traced.jobs]
        add_workflow(crate, workflow, LICENSE, list(zip(verbs, actions, strict=True)))
    content: Document = crate.metadata.generate()
    return content


def _add_license(crate: ROCrate) -> File:
    properties = {"name": "License", "description": "The terms under which this may be used."}
    return crate.add(File(crate, dest_path=LICENSE, properties=properties))


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
