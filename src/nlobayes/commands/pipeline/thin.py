"""Thin a posterior to nearly independent draws, and tabulate scores for other steps."""

from functools import partial
from typing import Annotated

import numpy as np
from scipy.special import softmax

from nlobayes.artifacts.chains import CENTRES, stored_every
from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import json_file, write_csv
from nlobayes.artifacts.netcdf import Groups, PosteriorFile, ThinnedFile
from nlobayes.commands.stage import stage
from nlobayes.data.splits import TEST, VALIDATION
from nlobayes.data.transforms import (
    CLASSES,
    apply_scale,
    reference_of,
    target_transform,
    unstandardise,
)
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.diagnostics.thinning import SCORES, thinning_table, unthinned_table
from nlobayes.errors import InputError
from nlobayes.evaluation.classification.scores import classification_scores, predict_classes
from nlobayes.evaluation.predictive.density import log_predictive_density
from nlobayes.evaluation.predictive.noise_fit import fit_noise, noise_at_points
from nlobayes.evaluation.scores.proper_scores import crps_per_point
from nlobayes.stage_files import File, Stated
from nlobayes.types import Columns, Dataset

DRAWN = ("posterior", "masks", CENTRES)
FACTS = ("device", "precision", "exact", "predictive", "table_metadata")


CostsFile = Annotated[Columns, File(write=write_csv, option="table", recorded=True)]


@stage()
def thin(
    posterior: Stated[PosteriorFile],
    diagnostics: Annotated[Diagnostics, json_file("thinning_step", "checks")],
    dataset: DatasetFile,
) -> tuple[Stated[ThinnedFile], CostsFile]:
    """Keep every n-th stored draw, with n from the autocorrelation of the predictions.

    Parameters
    ----------
    posterior
        Posterior to thin.
    diagnostics
        Its diagnostics, with the thinning step.
    dataset
        Dataset of the posterior.

    Returns
    -------
    out
        Thinned posterior to write.
    table
        Table of the costs of thinning to write (CSV).
    """
    groups, made = posterior
    step, apart = int(diagnostics["thinning_step"]), stored_every(groups["posterior"])
    stride = min(step // apart, groups["posterior"].sizes["draw"])
    if stride < 1:
        raise InputError(
            "commands.thinning_step_too_small", where="diagnostics", step=step, stored_every=apart
        )
    kept = {"draw": slice(stride - 1, None, stride)}
    thinned: Groups = {name: groups[name].isel(kept) for name in DRAWN if name in groups}
    thinned |= {name: groups[name] for name in ("observed_data", "constant_data")}
    facts = {name: made[name] for name in FACTS if name in made}
    facts |= {"spec": made["spec"], "checks": diagnostics["checks"]}
    return Stated(thinned, facts), _costs(groups, dataset, apart, stride * apart)


def _costs(groups: Groups, data: Dataset, stride: int, chosen: int) -> dict[str, np.ndarray]:
    """Score the draws of every thinning step at the held-out reference points.

    The noise is fitted at points of the validation split, and scores are of points of the test
    split. If one of these splits has no reference point, both use all points.
    """
    target, split = target_transform(data.transforms), data.split[data.reference]
    function = groups["predictions"]["f"].values.astype(np.float64)
    outputs = function.reshape(*function.shape[:3], -1)
    fitted, scored = split == VALIDATION, split == TEST
    if not (fitted.any() and scored.any()):
        fitted = scored = np.ones(len(split), bool)
    if target.scale == CLASSES:
        labels = data.target[data.reference]
        score = partial(_score_classes, labels=labels, scored=scored)
    else:
        of_targets = outputs[..., : len(data.target_names)]
        outputs = unstandardise(target, of_targets, reference_of(data, data.reference))
        observed = apply_scale(target, data.observed[data.reference]).reshape(len(split), -1)
        score = partial(_score_outputs, observed=observed, fitted=fitted, scored=scored)
    size = sum(weights[0, 0].nbytes for weights in groups["posterior"].values())
    flat = outputs.reshape(*outputs.shape[:2], -1)
    if "all_sample_stats" not in groups:
        return unthinned_table(flat, score, bytes_per_draw=size)
    return thinning_table(flat, score, thin=stride, chosen=chosen, bytes_per_draw=size)


def _score_outputs(
    draws: np.ndarray, *, observed: np.ndarray, fitted: np.ndarray, scored: np.ndarray
) -> dict[str, float]:
    """Average the scores of all outputs of draws (sample, point x output)."""
    outputs = np.moveaxis(draws.reshape(len(draws), *observed.shape), 2, 0)
    found = [
        _score_output(one[:, fitted], one[:, scored], seen[fitted], seen[scored])
        for one, seen in zip(outputs, observed.T, strict=True)
    ]
    return {name: float(np.mean([scores[name] for scores in found])) for name in SCORES}


def _score_output(
    held: np.ndarray, predicted: np.ndarray, held_seen: np.ndarray, seen: np.ndarray
) -> dict[str, float]:
    noise = noise_at_points(fit_noise(held, held_seen, family="gaussian"), predicted)
    error = predicted.mean(axis=0) - seen
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "crps": float(crps_per_point(predicted, seen, noise, np.random.default_rng(0)).mean()),
        "lppd": float(log_predictive_density(predicted, seen, noise).mean()),
    }


def _score_classes(
    draws: np.ndarray, *, labels: np.ndarray, scored: np.ndarray
) -> dict[str, float]:
    """Score the logits (sample, point x output) of classes, which have no RMSE."""
    logits = draws.reshape(len(draws), len(labels), -1)[:, scored]
    if logits.shape[2] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=2)
    predicted = predict_classes(softmax(logits, axis=2))
    lppd = classification_scores(predicted, labels[scored])["lppd"]
    return dict.fromkeys(SCORES, np.nan) | {"lppd": np.nan if isinstance(lppd, str) else lppd}
