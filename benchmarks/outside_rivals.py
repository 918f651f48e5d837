"""Score bde and NumPyro's NUTS on the rows of a run; each fits in an environment of its own.

    python -m benchmarks.outside_rivals results/data/concrete.nc --seeds 1 2 3 \
        --bde env_bde/bin/python --numpyro env_numpyro/bin/python
    python -m benchmarks.outside_rivals results/data/airfoil.nc --published \
        --bde env_bde/bin/python --rivals bde_published --seeds 0

They learn the same features and standardised target of the train rows as the run. Their predictive
is scored twice: `own`, the mixture over draws of the Gaussian that each states, and with error bars
that are fitted to validation rows as those of every rival of ours are. R-hat is that of f at test
rows over the members or chains. At most 1000 draws are scored, with fitted error bars at most 250.
Seconds are CPU seconds of the fit, compilation included; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import print_header, print_row, write_csv
from benchmarks.paired_rivals import HELD_OUT, per_row
from nlobayes.artifacts.contents import read_dataset
from nlobayes.data.splits import TEST, TRAIN, VALIDATION
from nlobayes.data.transforms import apply_scale, target_transform, unstandardise
from nlobayes.diagnostics.convergence import rhat
from nlobayes.distributions.laws.gaussian import Gaussian
from nlobayes.evaluation.scores.regression.accuracy import accuracy
from nlobayes.evaluation.tables.predictions import Rows
from nlobayes.evaluation.tasks.regression import ScoringProblem, score_rivals
from nlobayes.evaluation.tasks.stated import scores as stated_scores
from nlobayes.types import Dataset, RivalPrediction

ROOT = Path(__file__).parent.parent
MOST_DRAWS = 1000
MOST_FITTED = 250
"""Draws that are scored, and of these so many where error bars are fitted."""
FEWEST = 8
"""Draws of a chain that R-hat needs."""
EXAMPLE = {
    **{"hidden_layers": [16, 16], "n_members": 8, "epochs": 200, "patience": 10},
    **{"warmup_steps": 5000, "n_samples": 2000, "n_thinning": 2},
}
"""The settings of the example on the first page of bde."""
PUBLISHED = {
    **{"hidden_layers": [16] * 4, "n_members": 10, "epochs": 1200, "patience": 20},
    **{"warmup_steps": 50_000, "n_samples": 1000, "n_thinning": 10},
}
"""The settings of the table in the paper of bde."""
NUTS = {"hidden": [16], "warmup": 500, "draws": 500, "chains": 4}
"""The network of the runs on measured tables."""
RIVALS: dict[str, tuple[str, dict[str, Any]]] = {
    "bde_default": ("bde", {}),
    "bde_example": ("bde", EXAMPLE),
    "bde_published": ("bde", PUBLISHED),
    "numpyro_nuts": ("numpyro", NUTS),
}
SHORT = ("bde_default", "bde_example", "numpyro_nuts")
SCRIPTS = {"bde": "bde_ensemble", "numpyro": "numpyro_regression"}
PACKAGES = {"bde": "sklearn-contrib-bde==1.0.2", "numpyro": "numpyro==0.22.0 jax==0.10.2"}
COLUMNS = (
    *("dataset", "rival", "seed", "RMSE", "p50 %", "p95 %", "own log score", "own NLL, Gauss"),
    *("own CRPS", "own 68", "own 95", "log score", "CRPS", "68 %", "95 %"),
    *("R-hat, 50 %", "R-hat, 99 %", "CPU s", "predict s", "MiB"),
)


class RivalOutput(NamedTuple):
    """Draws (draw, point) and the sd of each on the model scale, and what is known of the fit."""

    draws: np.ndarray
    sd: np.ndarray
    facts: dict[str, Any]


class Fitted(NamedTuple):
    """Scores with error bars fitted to validation rows, and those of each test row (point,)."""

    scores: dict[str, Any]
    per_row: dict[str, np.ndarray]


def main() -> None:
    """Print a row for each dataset, rival and seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+", help="datasets of the workflow")
    parser.add_argument("--rivals", nargs="+", choices=RIVALS, default=SHORT)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--devices", type=int, default=1, help="processors that bde shares out")
    parser.add_argument("--bde", type=Path, metavar="PYTHON", help="interpreter that has bde")
    parser.add_argument("--numpyro", type=Path, metavar="PYTHON", help="interpreter that has it")
    parser.add_argument("--published", action="store_true", help="split the rows as bde's paper")
    parser.add_argument("--csv", type=Path, help="file for the rows")
    parser.add_argument("--keep", type=Path, help="folder for scores of test rows, to be paired")
    given = parser.parse_args()
    rows = []
    print_header(COLUMNS)
    for path, rival, seed in product(given.datasets, given.rivals, given.seeds):
        dataset = read_dataset(path)
        dataset = split_as_published(dataset) if given.published else dataset
        found = fit(dataset, rival, seed, given)
        if found is not None:
            fitted = with_fitted_bars(dataset, found)
            scores = score(dataset, found) | fitted.scores
            rows.append({"dataset": path.stem, "rival": rival, "seed": seed, **scores})
            print_row(rows[-1], COLUMNS)
            if given.keep and fitted.per_row:
                keep(given.keep / f"{path.stem}-{rival}-{seed}.npz", fitted.per_row)
    if given.csv:
        write_csv(given.csv, rows)


def split_as_published(dataset: Dataset) -> Dataset:
    """Learn four fifths of the rows as the paper of bde does; scores are in sd of these rows."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(len(dataset.target)), test_size=0.2, random_state=0)
    split = np.full(len(dataset.target), TRAIN, dataset.split.dtype)
    split[test] = TEST
    x, y = (_standardised(values, train) for values in (dataset.features, dataset.target))
    unit = dataset.transforms["target"] | {"mean": 0.0, "sd": 1.0}
    transforms = dataset.transforms | {"target": unit}
    return dataset._replace(features=x, target=y, observed=y, split=split, transforms=transforms)


def fit(dataset: Dataset, rival: str, seed: int, given: argparse.Namespace) -> RivalOutput | None:
    """Fit in the environment of the rival; None, and what is missing, where there is none."""
    library, settings = RIVALS[rival]
    python = getattr(given, library)
    if python is None or not python.exists():
        print(
            f"{rival}: --{library} needs an interpreter with {PACKAGES[library]}", file=sys.stderr
        )
        return None
    of_all = {"seed": seed} | ({"devices": given.devices} if library == "bde" else {})
    train = dataset.split == TRAIN
    with tempfile.TemporaryDirectory() as name:
        problem, told, drawn = (Path(name, file) for file in ("rows.npz", "told.json", "drawn.npz"))
        arrays = {"features": dataset.features[train], "target": dataset.target[train]}
        np.savez(problem, points=dataset.features, **arrays)
        told.write_text(json.dumps(settings | of_all))
        script = f"benchmarks.baselines.{SCRIPTS[library]}"
        command = [*map(str, (python.absolute(), "-m", script, problem, told, drawn))]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            print(f"{rival} failed: {lines[-1] if lines else done.returncode}", file=sys.stderr)
            return None
        with np.load(drawn) as file:
            return _on_model_scale(dict(file), dataset)


def score(dataset: Dataset, found: RivalOutput) -> dict[str, Any]:
    """Score the test rows by the rival's own account."""
    target = target_transform(dataset.transforms)
    observed, test = apply_scale(target, dataset.observed), dataset.split == TEST
    draws, sd, truth = found.draws[:, test], found.sd[:, test], observed[test]
    rng = np.random.default_rng(0)
    errors = accuracy(draws, truth, rng, scale=target.scale)
    stated = stated_scores(draws, truth, Gaussian(sd))
    return {
        "RMSE": float(np.sqrt(np.mean(np.square(draws.mean(axis=0) - truth)))),
        **{f"p{q} %": 100 * float(errors[f"relative_error_p{q}"]) for q in (50, 95)},
        "own log score": stated["lppd"],
        "own NLL, Gauss": _gaussian_nll(draws, sd, truth),
        "own CRPS": _crps(draws + sd * rng.normal(size=draws.shape), truth),
        **{f"own {level}": 100 * stated[f"coverage_{level}"] for level in (68, 95)},
        **found.facts,
    }


def with_fitted_bars(dataset: Dataset, found: RivalOutput) -> Fitted:
    """Score as every rival of ours is; nothing where no validation rows are kept."""
    if not (dataset.split == VALIDATION).any():
        return Fitted({}, {})
    target = target_transform(dataset.transforms)
    observed = apply_scale(target, dataset.observed)
    rows = Rows(dataset.split, observed, dataset.features[:, 0], np.zeros(len(observed)), None)
    scored = ScoringProblem(rows, dataset.features, target, 0, "auto", None)
    few = found.draws[:: max(1, len(found.draws) // MOST_FITTED)]
    rival = score_rivals({"it": RivalPrediction(few, None, {})}, scored, np.zeros(1))["it"]
    test, halves = rival["test"], rival["halves"]["lppd"]
    covered = {f"{level} %": 100 * test[f"coverage_{level}"] for level in (68, 95)}
    each = per_row(few, dataset, rival["predictive_noise"]) | {HELD_OUT: np.array(halves)}
    return Fitted({"log score": test["lppd"], "CRPS": test["crps"], **covered}, each)


def keep(path: Path, per_row: dict[str, Any]) -> None:
    """Write the scores of test rows for `paired_rivals`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **per_row)


def _on_model_scale(found: dict[str, Any], dataset: Dataset) -> RivalOutput:
    """Take at most so many draws, and their convergence."""
    target = target_transform(dataset.transforms)
    chains = found["centres"]
    flat = chains.reshape(-1, chains.shape[-1])
    sd = np.broadcast_to(found["sd"], chains.shape).reshape(flat.shape)
    some = np.unique(np.linspace(0, len(flat) - 1, MOST_DRAWS).astype(int))
    function = unstandardise(target, flat[some], dataset.relative_to)
    return RivalOutput(function, sd[some] * target.sd, _facts(found, dataset))


def _facts(found: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    chains = found["centres"][..., dataset.split == TEST]
    agreement = rhat(chains) if chains.shape[1] >= FEWEST else np.full(1, np.nan)
    return {
        **{f"R-hat, {q} %": float(np.quantile(agreement, q / 100)) for q in (50, 99)},
        "CPU s": float(found["cpu_seconds"]),
        "predict s": float(found["predict_seconds"]),
        "MiB": float(found["peak_mib"]),
        "version": str(found["version"]),
    }


def _gaussian_nll(draws: np.ndarray, sd: np.ndarray, truth: np.ndarray) -> float:
    """Score the Gaussian of the mixture's mean and variance, as bde's paper does."""
    variance = draws.var(axis=0) + np.mean(np.square(sd), axis=0)
    squared = np.square(truth - draws.mean(axis=0))
    return float(np.mean(np.log(2 * np.pi * variance) + squared / variance) / 2)


def _crps(members: np.ndarray, truth: np.ndarray) -> float:
    """Score members (member, point): distance to the truth, less half of that between them."""
    count = len(members)
    ranks = (2 * np.arange(1, count + 1) - count - 1) / (count * (count - 1))
    between = ranks @ np.sort(members, axis=0)
    return float(np.mean(np.abs(members - truth).mean(axis=0) - between))


def _standardised(values: np.ndarray, rows: Sequence[int]) -> np.ndarray:
    scaled: np.ndarray = (values - values[rows].mean(axis=0)) / values[rows].std(axis=0)
    return scaled


if __name__ == "__main__":
    main()
