"""Write the surrogate of a run: one file that predicts, and says how good it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts import contents
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import read_attrs, read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digest, digests
from nlobayes.commands.shared.centres import check_networks
from nlobayes.commands.shared.functions import flatten, read_weights
from nlobayes.data.references import columns_behind
from nlobayes.data.splits import TRAIN, VALIDATION
from nlobayes.data.transforms import TargetTransform, unstandardise
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import lies_about_mean, standard_law
from nlobayes.evaluation.tasks.outputs import with_one_target
from nlobayes.model.networks import BIASES, WEIGHTS, is_parameter, network_of
from nlobayes.study.jobs import ExportJob, read_job
from nlobayes.surrogate.domain import Domain, fit_domain
from nlobayes.surrogate.evaluation import evaluate
from nlobayes.surrogate.identity import in_words, origin
from nlobayes.surrogate.limits import fit_limits
from nlobayes.surrogate.mixture import Chunk, StoredNoise
from nlobayes.surrogate.outputs import FURTHER
from nlobayes.surrogate.reduction import fewest_draws, spread_evenly
from nlobayes.types import Dataset, Exported, Named, NoiseTable

SCORES = (
    *("rmse_log10", "rmse_target", "relative_error_p50", "relative_error_p95"),
    *("coverage_68", "coverage_95", "crps", "lppd", "points"),
)
STATED = (
    *("scale", "exponent", "reference_sd", "knots", "coefficients", "spread_range", "scale_range"),
    *("column", "edges"),
)
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
    """Gather draws, transforms, noise, domain, verdicts and provenance in one file."""
    job, made = read_job(ExportJob, spec), read_attrs(posterior)
    check_networks(made, posterior)
    data = contents.read_dataset(dataset)
    convergence = read_json(diagnostics, "checks", "converged")
    of_targets = "outputs" if len(data.target_names) > 1 else "predictive_noise"
    scores = read_json(evaluation, of_targets, "calibration_checks", "val", "test")
    targets = _targets(data, scores)
    noise = targets[0].noise
    drawn = _network_of_targets(
        read_weights(read_groups(posterior, "thinned"), posterior), len(targets)
    )
    kept = _choose(drawn, job, data, targets)
    inputs = digests([posterior, dataset, diagnostics, evaluation])
    domain = _domain(data)
    made_by = provenance.record(
        *("export", job.model_dump(), inputs),
        **{name: made[name] for name in ("device", "precision", "exact", "checks")},
    )
    stated = contents.read_statement(dataset)
    exported = Exported(
        variables={name: values[kept] for name, values in drawn.items()},
        features=domain.features,
        spacing=domain.spacing,
        limits=_limits(data),
        typical=_typical(data),
        residual=noise.residual,
        probability=noise.probability,
        further=tuple(NoiseTable(one.noise.residual, one.noise.probability) for one in targets[1:]),
        facts=_facts(job, data, targets, convergence, scores)
        | {"domain": _domain_facts(domain, data)}
        | stated
        | {"bibtex": _bibtex(data, stated, made_by, digest(posterior))},
    )
    contents.write_surrogate(out, exported, data, made_by)
    write_record(record, made_by, [out])
    typer.echo(f"{len(kept)} of {len(drawn['weights_1'])} draws, {_size(out)}", err=True)


def _noise(fitted: dict[str, Any]) -> StoredNoise:
    standard = standard_law(FittedNoise(**{name: fitted[name] for name in FittedNoise._fields}))
    residual, probability = standard.table()
    return StoredNoise(
        about="mean" if lies_about_mean(fitted["family"]) else "draws",
        **{name: fitted[name] for name in STATED},
        sd_per_scale=np.atleast_1d(standard.sd()).tolist(),
        residual=residual,
        probability=probability,
    )


class Target(NamedTuple):
    """A target as if it were the only one, its noise and its scores."""

    data: Dataset
    noise: StoredNoise
    scores: dict[str, Any]


def _targets(data: Dataset, scores: dict[str, Any]) -> list[Target]:
    """Take every target apart, first the one that a surrogate is of."""
    several = len(data.target_names) > 1
    found = []
    for place, name in enumerate(data.target_names):
        own = scores["outputs"][name] if several else scores
        alone = with_one_target(data, place) if several else data
        found.append(Target(alone, _noise(own["predictive_noise"]), own))
    return found


def _network_of_targets(named: Named, targets: int) -> dict[str, np.ndarray]:
    """Take the arrays of the network, one chain after the other, and the outputs that are targets.

    So any even choice has as many draws of each chain. Outputs behind these are the noise that the
    likelihood states, which a surrogate does without.
    """
    drawn = {name: values for name, values in flatten(named).items() if is_parameter(name)}
    last = sum(name.startswith(WEIGHTS) for name in drawn)
    for name in (f"{WEIGHTS}_{last}", f"{BIASES}_{last}"):
        drawn[name] = drawn[name][..., :targets]
    return drawn


def _choose(
    drawn: dict[str, np.ndarray], job: ExportJob, data: Dataset, targets: Sequence[Target]
) -> np.ndarray:
    total, wanted = len(drawn["weights_1"]), job.export.draws
    if job.export.tolerance is not None:
        network = network_of(drawn, job.network.activation)
        held = data.features[data.split == VALIDATION]
        outputs = evaluate(network, drawn, held).astype(np.float64)
        each = outputs.reshape(*outputs.shape[:2], -1)
        fewest = [
            fewest_draws(_held(one.data, each[..., place]), one.noise, job.export.tolerance)
            for place, one in enumerate(targets)
        ]
        wanted = min(wanted, max(fewest))
    return spread_evenly(total, wanted)


def _held(data: Dataset, outputs: np.ndarray) -> Chunk:
    """Take outputs (draw, point) at the validation rows to the model scale."""
    rows = data.split == VALIDATION
    reference = None if data.relative_to is None else data.relative_to[rows]
    target = TargetTransform(**data.transforms["target"])
    return Chunk(unstandardise(target, outputs, reference), data.features[rows])


def _facts(
    job: ExportJob,
    data: Dataset,
    targets: Sequence[Target],
    convergence: dict[str, Any],
    scores: dict[str, Any],
) -> dict[str, Any]:
    first, *others = targets
    return {
        "activation": job.network.activation,
        "columns": [*data.input_names, *_behind(data)],
        "target": data.target_names[0],
        "transforms": {**data.transforms, "target": first.data.transforms["target"]},
        "units": data.units,
        "noise": _stored(first.noise),
        "predictive_noise": first.scores["predictive_noise"],
        "verdict": {
            "converged": convergence["converged"],
            "convergence": convergence["checks"],
            "calibration": scores["calibration_checks"],
        },
        "scores": _scores(first),
    } | ({FURTHER: [_further(one) for one in others]} if others else {})


def _further(target: Target) -> dict[str, Any]:
    """Say what a target behind the first has of its own."""
    constants = target.data.transforms["target"]
    return {
        "target": target.data.target_names[0],
        "transform": {name: constants[name] for name in ("scale", "mean", "sd")},
        "noise": _stored(target.noise),
        "predictive_noise": target.scores["predictive_noise"],
        "scores": _scores(target),
    }


def _stored(noise: StoredNoise) -> dict[str, Any]:
    return {name: getattr(noise, name) for name in StoredNoise._fields[:-2]}


def _scores(target: Target) -> dict[str, dict[str, Any]]:
    return {
        split: {name: target.scores[split][name] for name in SCORES if name in target.scores[split]}
        for split in ("val", "test")
    }


def _domain(data: Dataset) -> Domain:
    train, held = (data.features[data.split == split] for split in (TRAIN, VALIDATION))
    return fit_domain(train.astype(np.float32), held)


def _domain_facts(domain: Domain, data: Dataset) -> dict[str, Any]:
    """Give what the arrays of the file do not say: distances, and ranges of more than inputs."""
    names = (*data.input_names, *_behind(data))
    ranges = fit_limits(_points(data), names, data.units)
    derived = {what: bounds for what, bounds in ranges.items() if what not in names}
    return {"inside": domain.inside, "edge": domain.edge, "limits": derived}


def _limits(data: Dataset) -> np.ndarray:
    points = _points(data)
    return np.column_stack([points.min(axis=0), points.max(axis=0)])


def _behind(data: Dataset) -> tuple[str, ...]:
    """Name the columns of points behind the inputs: that which the target is relative to."""
    return columns_behind(data.transforms["target"].get("relative_to"))


def _points(data: Dataset) -> np.ndarray:
    """Take the columns of the train rows that points of the surrogate have."""
    train = data.split == TRAIN
    if data.relative_to is None or not _behind(data):
        return data.inputs[train]
    return np.column_stack([data.inputs, data.relative_to])[train]


def _typical(data: Dataset) -> np.ndarray:
    """Take the train row whose features lie closest to their medians."""
    train = data.split == TRAIN
    features = data.features[train]
    apart = np.square((features - np.median(features, axis=0)) / features.std(axis=0)).sum(axis=1)
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
    """Escape what TeX would take for a command; braces would end the entry."""
    plain = text.replace("\\", "/").replace("{", "(").replace("}", ")").replace("->", "to")
    return "".join(f"\\{sign}" if sign in TEX else sign for sign in plain)


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.3g} MB"
