"""Export the provenance of every file of a project in standard formats."""

import re
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.audit.crate import LICENSE, METADATA, to_crate
from nlobayes.artifacts.audit.crate_workflow import GRAPH, WORKFLOW, Workflow
from nlobayes.artifacts.audit.folders import list_below
from nlobayes.artifacts.audit.lineage import Lineage, trace
from nlobayes.artifacts.audit.origins import Project
from nlobayes.artifacts.audit.prov_document import to_prov_json
from nlobayes.artifacts.files import write_json, write_text
from nlobayes.errors import InputError
from nlobayes.stages import PIPELINE

SHOWN = 5
OLDEST_SNAKEMAKE = re.compile(r'^min_version\("(.+)"\)', re.MULTILINE)


class Format(StrEnum):
    """Formats of the export."""

    PROV_JSON = "prov-json"
    RO_CRATE = "ro-crate"


def provenance(
    out: Annotated[
        Path, typer.Option(help="PROV-JSON to write; for an RO-Crate the project, `.`.")
    ],
    path: Annotated[Path, typer.Argument(help="An artifact, or a folder of them.")] = Path(
        "results"
    ),
    project: Annotated[Path, typer.Option(help="Root of the project.")] = Path(),
    format: Annotated[
        Format, typer.Option(help="W3C PROV, or an RO-Crate: with --out . --published DATE.")
    ] = Format.PROV_JSON,
    published: Annotated[
        str, typer.Option(help="Date of publication (YYYY-MM-DD); an RO-Crate needs it.")
    ] = "",
) -> None:
    """Export all files and jobs; equal projects give equal bytes."""
    if not path.exists():
        raise InputError("commands.no_path", where="provenance", path=path)
    if format == Format.RO_CRATE:
        _check_crate(out, project, published)
        out = out / METADATA
    if out.resolve().is_relative_to(path.resolve()):
        raise InputError("commands.describes_itself", where="--out", path=out, folder=path)
    files = Project(project)
    names = [files.name(one) for one in list_below(path).files]
    if not names:
        raise InputError("commands.no_file_below", where="provenance", path=path)
    traced = trace(files, names)
    if format == Format.RO_CRATE:
        write_json(out, to_crate(traced, published, _workflow(project)))
    else:
        write_text(out, to_prov_json(traced))
    typer.echo(f"{out}: {len(traced.files)} files, {len(traced.jobs)} jobs{_unknown(traced)}")


def _check_crate(out: Path, project: Path, published: str) -> None:
    if out.resolve() != project.resolve():
        raise InputError("commands.crate_outside_project", where="--out", path=out, project=project)
    if not (project / LICENSE).is_file():
        raise InputError("commands.no_license", path=project / LICENSE)
    try:
        date.fromisoformat(published)
    except ValueError:
        raise InputError("commands.no_date", where="--published", date=published) from None


def _workflow(project: Path) -> Workflow | None:
    """Find the workflow; None if the project imports it as a module."""
    if not all((project / name).is_file() for name in (WORKFLOW, GRAPH)):
        return None
    oldest = OLDEST_SNAKEMAKE.search((project / WORKFLOW).read_text())
    rules = (path.relative_to(project) for path in project.glob("workflow/rules/*.smk"))
    names = sorted(path.as_posix() for path in rules)
    return Workflow(names, [*PIPELINE], oldest[1] if oldest else "unknown")


def _unknown(traced: Lineage) -> str:
    """Name the files that none of the jobs made: tables of the user, results without a record."""
    made = {file.id for job in traced.jobs for file in job.made}
    given = [file.path for file in traced.files if file.id not in made]
    more = f" and {len(given) - SHOWN} more" if len(given) > SHOWN else ""
    return f"; made by none of them: {', '.join(given[:SHOWN])}{more}" if given else ""
