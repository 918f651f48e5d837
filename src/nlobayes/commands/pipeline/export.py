"""Write the surrogate of a run: one file with its predictions and its scores."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts import surrogate_file
from nlobayes.artifacts.contents import DatasetFile, SurrogateFile, statement_of
from nlobayes.artifacts.files import json_file
from nlobayes.artifacts.netcdf import Artifact, artifact_file
from nlobayes.artifacts.thinned import check_networks, flatten, read_weights
from nlobayes.code_digest import code_digest
from nlobayes.commands.stage import stage
from nlobayes.data.splits import TRAIN, VALIDATION
from nlobayes.data.transforms import CLASSES, apply_scale, target_transform
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import fit_noise, lies_about_mean, standard_law
from nlobayes.evaluation.predictive.noises.conformal import FEWEST_ROWS
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.tasks.outputs import with_one_target
from nlobayes.likelihoods._scaled import ScaledLikelihood
from nlobayes.model.networks import network_of
from nlobayes.own_functions import bind_activations
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import ExportJob
from nlobayes.surrogate.conditioned import count_draws
from nlobayes.surrogate.held_out import errors_of_held_out
from nlobayes.surrogate.identity import bibtex, in_words, origin
from nlobayes.surrogate.in_numpy import evaluate
from nlobayes.surrogate.predictive import Chunk, StoredNoise
from nlobayes.surrogate.process import content_of, without_own_row
from nlobayes.surrogate.reduction import reduce, spread_evenly
from nlobayes.surrogate.stored_facts import (
    Target,
    at_rows,
    facts_of_domain,
    facts_of_targets,
    fit_domain_of,
    limits_of,
    names_of_point,
    network_of_targets,
    typical_point,
)
from nlobayes.types import Dataset, NoiseTable, SurrogateContent
from nlobayes.untyped import Document

STATED = (
    *("scale", "exponent", "reference_sd", "knots", "coefficients", "spread_range", "scale_range"),
    *("column", "edges", "slope", "reference_mean"),
)

EXPORTED_SCALES = 8
"""Draws of an infinitely wide network in a surrogate."""


@stage()
def export(
    job: ExportJob,
    posterior: Annotated[Artifact, artifact_file("thinned")],
    dataset: Stated[DatasetFile],
    diagnostics: Annotated[Diagnostics, json_file("checks", "converged")],
    evaluation: Annotated[Evaluation, json_file("calibration_checks", "val", "test")],
) -> Stated[SurrogateFile]:
    """Join draws, transforms, noise, domain, verdicts and origin in a surrogate.

    Parameters
    ----------
    posterior
        Thinned posterior.
    dataset
        Dataset that it was conditioned on.
    diagnostics
        Its convergence (JSON).
    evaluation
        Scores of its predictions (JSON).

    Returns
    -------
    out
        Surrogate to write.
    """
    if job.network.codes:
        files = sorted({code.file for code in job.network.codes.values()})
        raise InputError("commands.own_activation", where="posterior", files=files)
    check_networks(posterior.attrs, "posterior")
    data, stated = dataset.value, statement_of(dataset.facts)
    targets = _targets(data, evaluation)
    variables = flatten(read_weights(posterior.groups, "posterior"))
    rows: dict[str, np.ndarray] = {}
    warp: Document = {}
    learned = data.split == TRAIN
    if job.network.width is None:
        drawn = network_of_targets(variables, data, job.temperature)
        predicted = _predicted(drawn, job, data, targets)
        total = len(drawn["weights_1"])
        kept, choice = reduce(total, predicted, job.export.draws, job.export.tolerance)
    else:
        learned = learned | (job.export.rows == "all")
        assert isinstance(job.likelihood, ScaledLikelihood)
        drawn, rows, warps = content_of(variables, job.likelihood, data, learned)
        kept = spread_evenly(count_draws(drawn), EXPORTED_SCALES)
        warp = {"warp": {name: values.tolist() for name, values in warps._asdict().items()}}
        if job.export.rows == "all":
            few = {name: values[kept] for name, values in drawn.items()}
            f = without_own_row(str(job.network.activation), few, rows, warps)
            targets = _refitted(targets, f, data)
        choice = {"draws": len(kept), "of": count_draws(variables), "rows": len(rows["target"])}
    domain = fit_domain_of(data, learned)
    exported = SurrogateContent(
        variables={name: values[kept] for name, values in drawn.items()},
        features=domain.features,
        spacing=domain.spacing,
        limits=limits_of(data, learned),
        typical=typical_point(data),
        noises=tuple(NoiseTable(one.noise.residual, one.noise.probability) for one in targets),
        facts=_facts(job, data, targets, diagnostics, evaluation)
        | {"domain": facts_of_domain(domain, data, learned), "kept": choice}
        | warp
        | stated
        | {"bibtex": _bibtex(job, data, stated, posterior.sha256)},
        rows=rows,
    )
    if targets:
        exported = exported._replace(held_out=errors_of_held_out(exported, data, learned))
    typer.echo(f"{choice['draws']} of {choice['of']} draws", err=True)
    made = {name: posterior.attrs[name] for name in ("device", "precision", "exact", "checks")}
    return Stated((exported, data), made)


def _targets(data: Dataset, scores: Evaluation) -> list[Target]:
    """Return each target separately, the main one first; none for classes."""
    if data.target_scale == CLASSES:
        return []
    several = len(data.target_names) > 1
    needed = "outputs" if several else "predictive_noise"
    if needed not in scores:
        raise InputError(
            "artifacts.no_key", path="evaluation", missing=[needed], keys=sorted(scores)
        )
    if not several:
        return [Target(data, _noise(scores["predictive_noise"]), scores)]
    each = enumerate(scores["outputs"][name] for name in data.target_names)
    return [
        Target(with_one_target(data, place), _noise(of_target["predictive_noise"]), of_target)
        for place, of_target in each
    ]


def _noise(fitted: Document) -> StoredNoise:
    standard = standard_law(FittedNoise(**{name: fitted[name] for name in FittedNoise._fields}))
    residual, probability = standard.table()
    return StoredNoise(
        about="mean" if lies_about_mean(fitted["family"]) else "draws",
        **{name: fitted[name] for name in STATED},
        sd_per_scale=np.atleast_1d(standard.sd()).tolist(),
        residual=residual,
        probability=probability,
    )


def _refitted(targets: Sequence[Target], outputs: np.ndarray, data: Dataset) -> list[Target]:
    """Fit the noise of a network that has learned all rows, each predicted given all others.

    `outputs` (draw, row, output) are those of the network. The noise is fitted to the rows that the
    draws of the scales have not seen, as are new points: these draws have fitted the train rows, at
    which error bars would be too narrow. If there are too few others, train rows are taken as well.
    """
    rows, fitted_on = data.split != TRAIN, "val and test"
    if rows.sum() < FEWEST_ROWS:
        rows, fitted_on = np.full_like(rows, True), "train and val and test"
    features, refitted = data.features[rows], []
    predicted = at_rows(outputs[:, rows], rows, data, targets)
    for one, (chunk, _) in zip(targets, predicted, strict=True):
        first = one.scores["predictive_noise"]
        fitted = fit_noise(
            chunk.functions,
            apply_scale(target_transform(one.data.transforms), one.data.observed[rows]),
            family=first["family"],
            features=features,
            covariate=features[:, first["column"]] if first["edges"] else None,
        )
        noise = {**first, **fitted._asdict(), "fitted_on": fitted_on}
        scores = {**one.scores, "predictive_noise": noise}
        refitted.append(Target(one.data, _noise(noise), scores))
    return refitted


def _predicted(
    drawn: dict[str, np.ndarray], job: ExportJob, data: Dataset, targets: Sequence[Target]
) -> list[tuple[Chunk, StoredNoise]]:
    """Evaluate each target at the validation rows; nothing for classes, or without such rows."""
    rows = data.split == VALIDATION
    if not targets or not rows.any():
        return []
    network = network_of(drawn, bind_activations(job.network.activation))
    return at_rows(evaluate(network, drawn, data.features[rows]), rows, data, targets)


def _facts(
    job: ExportJob,
    data: Dataset,
    targets: Sequence[Target],
    convergence: Diagnostics,
    scores: Evaluation,
) -> Document:
    return {
        "activation": job.network.activation,
        "columns": names_of_point(data),
        "target": data.target_names[0],
        "units": data.units,
        "verdict": {
            "converged": convergence["converged"],
            "convergence": convergence["checks"],
            "calibration": scores["calibration_checks"],
        },
        **facts_of_targets(data, targets, scores),
        **({} if targets else {"form": surrogate_file.CLASSES}),
    }


def _bibtex(job: ExportJob, data: Dataset, stated: Document, posterior: str) -> str:
    target = data.target_names[0]
    described = in_words(origin({**stated, "target": target}))
    version, code = provenance.versions()["nlobayes"], code_digest("export", job.model_dump())
    return bibtex(target, described, version=version, code=code, posterior=posterior[:16])
