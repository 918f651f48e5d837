"""Compare what several samplers say of one posterior."""

from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import read_groups
from nlobayes.assessment.agreement import compare, verdict


def agree(
    posterior: Annotated[list[Path], typer.Option(help="Posterior of one sampler; two or more.")],
    out: Annotated[Path, typer.Option(help="Verdict to write (JSON).")],
) -> None:
    """Compare predictive means and sds at the reference points, pair by pair."""
    draws = {
        str(path): read_groups(path, "posterior")["predictions"]["f"].values for path in posterior
    }
    pairs = []
    for first, second in combinations(draws, 2):
        result = verdict(compare(draws[first], draws[second]))
        pairs.append({"posteriors": [first, second], **result})
        said = "agree" if result["passed"] else "DISAGREE"
        typer.echo(f"{said}: {first} and {second}, rms z {result['z_rms']:.2f}", err=True)
    write_json(out, {"pairs": pairs, "passed": all(pair["passed"] for pair in pairs)})
