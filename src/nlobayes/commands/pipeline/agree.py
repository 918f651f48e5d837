"""Compare the draws of several samplers from one posterior."""

from itertools import combinations
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import Groups, open_artifact
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.diagnostics.agreement import compare, verdict
from nlobayes.errors import InputError


def agree(
    posterior: Annotated[list[Path], typer.Option(help="Posterior of one sampler; two or more.")],
    out: Annotated[Path, typer.Option(help="Verdict to write (JSON).")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Compare predictive means and sds at the reference points, pair by pair."""
    read = {str(path): open_artifact(path, "posterior") for path in posterior}
    groups = {path: each.groups for path, each in read.items()}
    if len(groups) < 2:
        raise InputError("commands.too_few_posteriors", where="agree", posteriors=[*groups])
    _check_same_points(groups)
    draws = {path: _function(group["predictions"]["f"].values) for path, group in groups.items()}
    pairs = []
    for first, second in combinations(draws, 2):
        result = verdict(compare(draws[first], draws[second]))
        pairs.append({"posteriors": [first, second], **result})
        outcome = "agree" if result["passed"] else "DISAGREE"
        rms = "infinite" if result["z_rms"] is None else f"{result['z_rms']:.2f}"
        typer.echo(f"{outcome}: {first} and {second}, rms z {rms}", err=True)
    write_json(out, {"pairs": pairs, "passed": all(pair["passed"] for pair in pairs)})
    write_record(record, provenance.record("agree", None, digests(read.values())), [out])


def _function(values: np.ndarray) -> np.ndarray:
    """Reshape draws to (chain, draw, quantity): every output at every point is a quantity."""
    return values.reshape(*values.shape[:2], -1)


def _check_same_points(groups: dict[str, Groups]) -> None:
    points = {path: group["predictions_constant_data"] for path, group in groups.items()}
    first = next(iter(points))
    for path, features in points.items():
        if not features.equals(points[first]):
            raise InputError("commands.other_reference_points", path=path, first=first)
