"""Write the surrogate of a run: one file with its predictions and its scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts import contents
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared.centres import check_networks
from nlobayes.commands.shared.exported_targets import (
    Target,
    facts_of_targets,
    is_of_classes,
    network_of_targets,
    targets_of,
)
from nlobayes.commands.shared.functions import read_weights
from nlobayes.data.references import columns_behind
from nlobayes.data.splits import TRAIN, VALIDATION
from nlobayes.data.transforms import target_transform, unstandardise
from nlobayes.errors import InputError
from nlobayes.model.networks import network_of
from nlobayes.own_functions import bind_activations
from nlobayes.study.jobs import ExportJob, read_job
from nlobayes.surrogate.domain import Domain, fit_domain
from nlobayes.surrogate.evaluation import evaluate
from nlobayes.surrogate.identity import in_words, origin
from nlobayes.surrogate.limits import fit_limits
from nlobayes.surrogate.predictive import Chunk, StoredNoise
from nlobayes.surrogate.reduction import change, choose_draws, spread_evenly
from nlobayes.types import Dataset, Exported, NoiseTable

TEX = "_&%$#"
BIBTEX = """\
@software{{nlobayes,
  author  = {{The nlobayes developers}},
  title   = {{nlobayes: exact-MCMC Bayesian neural networks for NLO cross sections}},
  version = {{{version}}},
  note    = {{Surrogate of {target} of {origin};
             code {code}, posterior SHA-256 {posterior}}},
}}
"""


def export(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Thinned posterior.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that it was conditioned on.")],
    diagnostics: Annotated[Path, typer.Option(help="Its convergence (JSON).")],
    evaluation: Annotated[Path, typer.Option(help="Scores of its predictions (JSON).")],
    out: Annotated[Path, typer.Option(help="Surrogate to write.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Write draws, transforms, noise, domain, verdicts and provenance to one file."""
    job, read = read_job(ExportJob, spec), open_artifact(posterior, "thinned")
    made, source = read.attrs, open_artifact(dataset, "dataset")
    if job.network.codes:
        files = sorted({code.file for code in job.network.codes.values()})
        raise InputError("commands.own_activation", where=posterior, files=files)
    check_networks(made, posterior)
    data = contents.dataset_of(source)
    convergence = read_json(diagnostics, "checks", "converged")
    scores = read_json(evaluation, *_needed(data), "calibration_checks", "val", "test")
    targets = targets_of(data, scores)
    weights = read_weights(read.groups, posterior)
    drawn = network_of_targets(weights, data, job.temperature)
    kept, choice = _choose(drawn, job, data, targets)
    inputs = digests([read, source, diagnostics, evaluation])
    domain = _domain(data)
    made_by = provenance.record(
        *("export", job.model_dump(), inputs),
        **{name: made[name] for name in ("device", "precision", "exact", "checks")},
    )
    stated = contents.statement_of(source.attrs)
    exported = Exported(
        variables={name: values[kept] for name, values in drawn.items()},
        features=domain.features,
        spacing=domain.spacing,
        limits=_limits(data),
        typical=_typical(data),
        noises=tuple(NoiseTable(one.noise.residual, one.noise.probability) for one in targets),
        facts=_facts(job, data, targets, convergence, scores)
        | {"domain": _domain_facts(domain, data), "kept": choice}
        | stated
        | {"bibtex": _bibtex(data, stated, made_by, read.sha256)},
    )
    contents.write_surrogate(out, exported, data, made_by)
    write_record(record, made_by, [out])
    typer.echo(f"{choice['draws']} of {choice['of']} draws, {_size(out)}", err=True)


def _needed(data: Dataset) -> tuple[str, ...]:
    """Return the required keys of scores that contain the noise; classes have no noise."""
    if is_of_classes(data):
        return ()
    return ("outputs",) if len(data.target_names) > 1 else ("predictive_noise",)


def _choose(
    drawn: dict[str, np.ndarray], job: ExportJob, data: Dataset, targets: Sequence[Target]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Choose draws, for numbers as few as respect the tolerance; also describe the choice."""
    total = len(drawn["weights_1"])
    predicted = _held(drawn, job, data, targets)
    if not predicted:
        kept = spread_evenly(total, job.export.draws)
        return kept, {"draws": len(kept), "of": total}
    kept = choose_draws(predicted, job.export.draws, job.export.tolerance)
    mean, sd = map(max, zip(*(change(*each, kept) for each in predicted), strict=True))
    return kept, {"draws": len(kept), "of": total, "mean_change": mean, "sd_change": sd}


def _held(
    drawn: dict[str, np.ndarray], job: ExportJob, data: Dataset, targets: Sequence[Target]
) -> list[tuple[Chunk, StoredNoise]]:
    """Evaluate each target at the validation rows, on the model scale; nothing for classes."""
    rows = data.split == VALIDATION
    if not targets or not rows.any():
        return []
    network = network_of(drawn, bind_activations(job.network.activation))
    outputs = evaluate(network, drawn, data.features[rows]).astype(np.float64)
    each = outputs.reshape(*outputs.shape[:2], -1)
    return [
        (Chunk(_unstandardised(one.data, each[..., place]), data.features[rows]), one.noise)
        for place, one in enumerate(targets)
    ]


def _unstandardised(data: Dataset, outputs: np.ndarray) -> np.ndarray:
    """Transform outputs (draw, point) at the validation rows to the model scale."""
    reference = None if data.relative_to is None else data.relative_to[data.split == VALIDATION]
    return unstandardise(target_transform(data.transforms), outputs, reference)


def _facts(
    job: ExportJob,
    data: Dataset,
    targets: Sequence[Target],
    convergence: dict[str, Any],
    scores: dict[str, Any],
) -> dict[str, Any]:
    return {
        "activation": job.network.activation,
        "columns": [*data.input_names, *_behind(data)],
        "target": data.target_names[0],
        "units": data.units,
        "verdict": {
            "converged": convergence["converged"],
            "convergence": convergence["checks"],
            "calibration": scores["calibration_checks"],
        },
        **facts_of_targets(data, targets, scores),
    }


def _domain(data: Dataset) -> Domain:
    train, held = (data.features[data.split == split] for split in (TRAIN, VALIDATION))
    return fit_domain(train.astype(np.float32), held)


def _domain_facts(domain: Domain, data: Dataset) -> dict[str, Any]:
    """Return facts of the domain that the arrays do not contain: distances, and derived ranges."""
    names = (*data.input_names, *_behind(data))
    ranges = fit_limits(_points(data), names, data.units)
    derived = {what: bounds for what, bounds in ranges.items() if what not in names}
    return {"inside": domain.inside, "edge": domain.edge, "limits": derived}


def _limits(data: Dataset) -> np.ndarray:
    points = _points(data)
    return np.column_stack([points.min(axis=0), points.max(axis=0)])


def _behind(data: Dataset) -> tuple[str, ...]:
    """Return the columns of points after the inputs: the reference of the target, if any."""
    return columns_behind(data.transforms["target"].get("relative_to"))


def _points(data: Dataset) -> np.ndarray:
    """Return the train rows with the columns of the surrogate's points."""
    train = data.split == TRAIN
    if data.relative_to is None or not _behind(data):
        return data.inputs[train]
    return np.column_stack([data.inputs, data.relative_to])[train]


def _typical(data: Dataset) -> np.ndarray:
    """Return the train row whose features are closest to their medians."""
    train = data.split == TRAIN
    features = data.features[train]
    sd = features.std(axis=0)
    centred = features - np.median(features, axis=0)
    apart = np.square(centred / np.where(sd > 0, sd, 1.0)).sum(axis=1)
    return _points(data)[int(np.argmin(apart))]


def _bibtex(data: Dataset, stated: dict[str, Any], record: dict[str, Any], posterior: str) -> str:
    return BIBTEX.format(
        version=record["versions"]["nlobayes"],
        target=_for_tex(data.target_names[0]),
        origin=_for_tex(in_words(origin({**stated, "target": data.target_names[0]}))),
        code=record["code_digest"],
        posterior=posterior[:16],
    )


def _for_tex(text: str) -> str:
    """Escape characters with a meaning in TeX, and replace braces, which would end the entry."""
    plain = text.replace("\\", "/").replace("{", "(").replace("}", ")").replace("->", "to")
    return "".join(f"\\{sign}" if sign in TEX else sign for sign in plain)


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.3g} MB"
