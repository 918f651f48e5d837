"""Lineage as a W3C PROV document."""

from __future__ import annotations

from prov.model import PROV, ProvDocument

from nlobayes.artifacts.audit.lineage import File, Job, Lineage, Software, in_a_line
from nlobayes.untyped import Document

NAMESPACES = {
    name: f"urn:nlobayes:{name}:" for name in ("file", "job", "software", "term", "package")
}


def to_prov_json(lineage: Lineage) -> str:
    """Return PROV-JSON in which files are entities, jobs activities and software an agent."""
    document = ProvDocument()
    for prefix, uri in NAMESPACES.items():
        document.add_namespace(prefix, uri)
    for file in lineage.files:
        document.entity(f"file:{file.id}", _file_attributes(file))
    for job in lineage.jobs:
        _add_job(document, job)
    return f"{document.serialize(indent=2, sort_keys=True)}\n"


def _add_job(document: ProvDocument, job: Job) -> None:
    activity, agent = f"job:{job.id}", f"software:{job.software.id}"
    if not document.get_record(agent):
        document.agent(agent, _software_attributes(job.software))
    document.activity(activity, other_attributes=_job_attributes(job))
    document.association(activity, agent)
    for source in job.used:
        document.usage(activity, f"file:{source.id}")
    for result in job.made:
        document.generation(f"file:{result.id}", activity)
        for source in job.used:
            document.derivation(f"file:{result.id}", f"file:{source.id}", activity)


def _file_attributes(file: File) -> Document:
    attributes = {
        "prov:label": file.path,
        "term:path": file.path,
        "term:sha256": file.sha256,
        "term:kind": file.kind,
    }
    return attributes if file.size is None else {**attributes, "term:size": file.size}


def _job_attributes(job: Job) -> Document:
    settings = {f"term:{name}": value for name, value in job.settings.items()}
    return {"prov:label": job.verb, "term:verb": job.verb, **settings}


def _software_attributes(software: Software) -> Document:
    versions = software.versions
    return {
        "prov:type": PROV["SoftwareAgent"],
        "prov:label": f"nlobayes {versions.get('nlobayes', 'of unknown version')}",
        "term:lock_digest": in_a_line(software.lock_digest),
        **{f"package:{name}": version for name, version in versions.items()},
    }
