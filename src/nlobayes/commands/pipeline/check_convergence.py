"""Check whether the segments so far have converged, so that drawing can stop."""

from typing import Annotated, Any

import typer

from nlobayes.artifacts.chains import draws_of
from nlobayes.artifacts.files import JSONFile, json_file
from nlobayes.artifacts.netcdf import OpenerFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics import verdict as verdicts
from nlobayes.diagnostics.stored_draws import posterior_draws
from nlobayes.study.jobs import CheckConvergenceJob


@stage()
def check_convergence(
    job: CheckConvergenceJob,
    segment: list[OpenerFile],
    verdict: Annotated[dict[str, Any], json_file("met")] | None = None,
) -> JSONFile:
    """Compare R-hat and ESS of all draws so far with their targets.

    Parameters
    ----------
    segment
        Segment, group by group in order.
    verdict
        Verdict on the segments before; it stays once met, as nothing was drawn since.

    Returns
    -------
    out
        Verdict to write (JSON).
    """
    if verdict is not None and verdict["met"]:
        typer.echo("converged before, nothing to check", err=True)
        return verdict
    draws = posterior_draws(draws_of(open_one("segment") for open_one in segment))
    checks = verdicts.check_convergence(draws, **job.until.model_dump())
    met = all(check["passed"] for check in checks.values())
    for name, check in checks.items():
        typer.echo(f"{name} {check['value']} (target {check['threshold']})", err=True)
    return {"met": met, "draws_per_chain": draws.function.shape[1], "checks": checks}
