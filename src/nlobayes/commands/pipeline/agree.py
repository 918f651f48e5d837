"""Compare the draws of several samplers from one posterior."""

from itertools import combinations
from typing import Annotated

import numpy as np
import typer

from nlobayes.artifacts.files import JSONFile
from nlobayes.artifacts.netcdf import Artifact, Groups, artifact_file
from nlobayes.commands.stage import stage
from nlobayes.diagnostics.sampler_agreement import compare, verdict
from nlobayes.errors import InputError


@stage()
def agree(posterior: list[Annotated[Artifact, artifact_file("posterior")]]) -> JSONFile:
    """Compare predictive means and sds at the reference points, pair by pair.

    Parameters
    ----------
    posterior
        Posterior of one sampler; two or more.

    Returns
    -------
    out
        Verdict to write (JSON).
    """
    groups = {str(one.path): one.groups for one in posterior}
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
    return {"pairs": pairs, "passed": all(pair["passed"] for pair in pairs)}


def _function(values: np.ndarray) -> np.ndarray:
    """Reshape draws to (chain, draw, quantity): every output at every point is a quantity."""
    return values.reshape(*values.shape[:2], -1)


def _check_same_points(groups: dict[str, Groups]) -> None:
    points = {path: group["predictions_constant_data"] for path, group in groups.items()}
    first = next(iter(points))
    for path, features in points.items():
        if not features.equals(points[first]):
            raise InputError("commands.other_reference_points", path=path, first=first)
