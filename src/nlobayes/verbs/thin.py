"""Keep as many draws of a posterior as are nearly independent."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import read_attrs, read_groups, write_groups
from nlobayes.errors import InputError


def thin(
    posterior: Annotated[Path, typer.Option(help="Posterior to thin.")],
    diagnostics: Annotated[Path, typer.Option(help="Its diagnostics, with the thinning step.")],
    out: Annotated[Path, typer.Option(help="Thinned posterior to write.")],
) -> None:
    """Take every n-th stored draw, n from the autocorrelation of the predictions."""
    groups = read_groups(posterior, "posterior")
    verdict = read_json(diagnostics, "thinning_step", "checks")
    draws = groups["posterior"]["draw"].values
    stored_every = int(draws[0]) + 1
    stride = min(int(verdict["thinning_step"]) // stored_every, len(draws))
    if stride < 1:
        raise InputError(
            f"{diagnostics}: thinning_step {verdict['thinning_step']} is smaller than the "
            f"{stored_every} draws between stored ones; diagnose {posterior} again"
        )
    kept = {"draw": slice(stride - 1, None, stride)}
    thinned = {"posterior": groups["posterior"].isel(kept)}
    thinned |= {name: groups[name] for name in ("observed_data", "constant_data")}
    made = read_attrs(posterior)
    record = provenance.record(
        "thin", made["spec"], device=made["device"], exact=made["exact"], checks=verdict["checks"]
    )
    write_groups(out, "thinned", thinned, record)
