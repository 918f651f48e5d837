"""Check whether the segments so far have converged, so that drawing can stop."""

import typer

from nlobayes.artifacts.chains import draws_of
from nlobayes.artifacts.files import JSONFile
from nlobayes.artifacts.netcdf import SegmentFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics import verdict
from nlobayes.diagnostics.stored_draws import posterior_draws
from nlobayes.study.jobs import CheckConvergenceJob


@stage()
def check_convergence(job: CheckConvergenceJob, segment: list[SegmentFile]) -> JSONFile:
    """Compare R-hat and ESS of all draws so far with their targets.

    Parameters
    ----------
    segment
        Segment, group by group in order.

    Returns
    -------
    out
        Verdict to write (JSON).
    """
    draws = posterior_draws(draws_of(segment))
    checks = verdict.check_convergence(draws, **job.until.model_dump())
    met = all(check["passed"] for check in checks.values())
    for name, check in checks.items():
        typer.echo(f"{name} {check['value']} (target {check['threshold']})", err=True)
    return {"met": met, "draws_per_chain": draws.function.shape[1], "checks": checks}
