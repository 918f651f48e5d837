"""Keep as few draws of a posterior as lose little, and show what more or fewer would cost."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json, write_csv
from nlobayes.artifacts.netcdf import Groups, read_attrs, read_groups, write_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.assessment.noise_fit import at_points, fit_noise
from nlobayes.assessment.proper_scores import proper_scores
from nlobayes.assessment.thinning import thinning_table
from nlobayes.data.splits import TEST, VALIDATION
from nlobayes.data.transforms import TargetTransform, apply_scale, unstandardise
from nlobayes.errors import InputError
from nlobayes.types import Dataset


def thin(
    posterior: Annotated[Path, typer.Option(help="Posterior to thin.")],
    diagnostics: Annotated[Path, typer.Option(help="Its diagnostics, with the thinning step.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    out: Annotated[Path, typer.Option(help="Thinned posterior to write.")],
    table: Annotated[Path, typer.Option(help="Table of the costs of thinning to write (CSV).")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
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
    write_csv(table, _costs(groups, read_dataset(dataset), stored_every, stride * stored_every))
    kept = {"draw": slice(stride - 1, None, stride)}
    thinned = {"posterior": groups["posterior"].isel(kept)}
    thinned |= {name: groups[name] for name in ("observed_data", "constant_data")}
    made = read_attrs(posterior)
    facts = {name: made[name] for name in ("device", "precision", "exact")}
    inputs = digests([posterior, diagnostics, dataset])
    made_by = provenance.record("thin", made["spec"], inputs, **facts, checks=verdict["checks"])
    write_groups(out, "thinned", thinned, made_by)
    write_record(record, made_by, [out, table])


def _costs(groups: Groups, data: Dataset, keep_every: int, chosen: int) -> dict[str, np.ndarray]:
    """Score what every step leaves on the held-out reference points.

    The noise is fitted on those of the validation split, scores are of those of the test split;
    where one of them has none, both use all.
    """
    target = TargetTransform(**data.transforms["target"])
    function = unstandardise(target, groups["predictions"]["f"].values.astype(np.float64))
    split, observed = data.split[data.reference], apply_scale(target, data.observed[data.reference])
    fitted, scored = split == VALIDATION, split == TEST
    if not (fitted.any() and scored.any()):
        fitted = scored = np.ones(len(split), bool)

    def score(draws: np.ndarray) -> dict[str, Any]:
        fit = fit_noise(draws[:, fitted], observed[fitted], family="gaussian")
        noise = at_points(fit, draws[:, scored])
        predicted, seen = draws[:, scored], observed[scored]
        error = predicted.mean(axis=0) - seen
        rng = np.random.default_rng(0)
        scores = proper_scores(predicted, seen, noise, rng, scale=target.scale)
        return {"rmse": float(np.sqrt(np.mean(error**2))), **scores}

    size = sum(weights[0, 0].nbytes for weights in groups["posterior"].values())
    return thinning_table(
        function, score, keep_every=keep_every, chosen=chosen, bytes_per_draw=size
    )
