"""Check whether the segments so far have converged, so that drawing can stop."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.chains import draws_of
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.posteriors import posterior_draws
from nlobayes.diagnostics import verdict
from nlobayes.study.jobs import CheckConvergenceJob, read_job


def check_convergence(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    segment: Annotated[list[Path], typer.Option(help="Segment, group by group in order.")],
    out: Annotated[Path, typer.Option(help="Verdict to write (JSON).")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Compare R-hat and ESS of all draws so far with their targets."""
    job = read_job(CheckConvergenceJob, spec)
    drawn = [open_artifact(path, "segment") for path in segment]
    draws = posterior_draws(draws_of(drawn))
    checks = verdict.check_convergence(draws, **job.until.model_dump())
    met = all(check["passed"] for check in checks.values())
    for name, check in checks.items():
        typer.echo(f"{name} {check['value']} (target {check['threshold']})", err=True)
    write_json(out, {"met": met, "draws_per_chain": draws.function.shape[1], "checks": checks})
    write_record(
        record, provenance.record("check_convergence", job.model_dump(), digests(drawn)), [out]
    )
