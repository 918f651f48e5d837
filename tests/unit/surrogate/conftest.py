"""A small surrogate of known weights, in memory and as a file."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import write_surrogate
from nlobayes.data.transforms import apply_features, constants_of, fit_features
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import lies_about_mean, standard_law
from nlobayes.surrogate.domain import fit_domain
from nlobayes.surrogate.train_ranges import fit_limits
from nlobayes.types import Dataset, NoiseTable, SurrogateContent
from tests.rows import dataset_of

DRAWS, ROWS, HIDDEN = 60, 200, (7, 4)
COLUMNS = ("m1", "n11", "n12", "n13", "n14")
UNITS = {"m1": "GeV", **dict.fromkeys(COLUMNS[1:], "1"), "sigma_pb": "pb"}
TARGET = {"scale": "log10", "mean": -2.0, "sd": 1.2}
RANGES = ((0.15, 0.6), (0.006, 0.03))
NOISES = {
    "gaussian": FittedNoise("gaussian", 0.02, None),
    "student_t": FittedNoise("student_t", 0.01, 4.0),
    "scaled_gaussian": FittedNoise(
        *("scaled_gaussian", 0.02, None), scale_range=(0.01, 0.05), slope=0.8, reference_mean=-2.0
    ),
    "scaled_student_t": FittedNoise(
        "scaled_student_t",
        0.01,
        3.2,
        0.9,
        0.3,
        ((-1.0, 1.0), (0.0,)),
        ((0.5, -0.5), (0.1,)),
        *RANGES,
    ),
    "conformal": FittedNoise(
        *("conformal", 0.01, 3.2, 0.9, 0.3, ((-1.0, 1.0), (0.0,)), ((0.5, -0.5), (0.1,)), *RANGES),
        column=1,
        edges=(-0.5, 0.5),
        tails=((0.1, 0.4), (0.05, 0.32), (0.01, 0.25)),
    ),
}


def points(count: int, seed: int = 0) -> np.ndarray:
    """Make neutralinos as in a scan: signed masses and rows of mixings of length 1."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(count, 4))
    mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
    mass = rng.choice([-1, 1], count) * rng.uniform(50, 900, count)
    return np.column_stack([mass, mixing])


def weights(seed: int = 1, draws: int = DRAWS, inputs: int = 5) -> dict[str, np.ndarray]:
    """Draw weights whose functions are smooth and differ by tenths."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for layer, (into, out) in enumerate(pairwise((inputs, *HIDDEN, 1)), 1):
        centre = rng.normal(size=(into, out)) / np.sqrt(into)
        drawn[f"weights_{layer}"] = centre + 0.1 * rng.normal(size=(draws, into, out))
        drawn[f"biases_{layer}"] = 0.3 * rng.normal(size=(draws, out))
    return {name: values.astype(np.float32) for name, values in drawn.items()}


def make_exported(
    family: str = "gaussian",
    scale: str = "log10",
    components: int | None = None,
    *,
    seen_by: str = "invariants",
    scan: tuple[np.ndarray, np.ndarray] | None = None,
    units: dict[str, str] = UNITS,
) -> SurrogateContent:
    """Make a surrogate without a posterior; a scan has train rows and others, and `units` its
    columns and the target."""
    (rows, others), noise = scan or (points(ROWS, seed=3), points(ROWS, seed=4)), NOISES[family]
    names, every = [*units][:-1], np.ones(len(rows), bool)
    transform = fit_features(seen_by, rows, every, standardise=True, components=components)
    train = apply_features(transform, rows).astype(np.float32)
    held = apply_features(transform, others)
    fitted = fit_domain(train, held)
    standard = standard_law(noise)
    residual, probability = standard.table()
    ranges = fit_limits(rows, names, units)
    derived = {what: ranges[what] for what in ranges if what not in names}
    facts: dict[str, Any] = {
        "activation": "tanh",
        "columns": names,
        "target": "sigma_pb",
        "units": units,
        "transforms": {
            "features": constants_of(transform),
            "target": TARGET | {"scale": scale},
        },
        "noise": {
            "about": "mean" if lies_about_mean(family) else "draws",
            "scale": noise.scale,
            "exponent": noise.exponent,
            "reference_sd": noise.reference_sd,
            "spread_range": noise.spread_range,
            "scale_range": noise.scale_range,
            "knots": noise.knots,
            "coefficients": noise.coefficients,
            "column": noise.column,
            "edges": noise.edges,
            "sd_per_scale": np.atleast_1d(standard.sd()).tolist(),
            "slope": noise.slope,
            "reference_mean": noise.reference_mean,
        },
        "domain": {"inside": fitted.inside, "edge": fitted.edge, "limits": derived},
        "verdict": {"converged": True, "convergence": {}, "calibration": {}},
        "bibtex": "@software{nlobayes}",
    }
    limits = np.column_stack([rows.min(axis=0), rows.max(axis=0)])
    arrays = (fitted.spacing, limits, rows[0], (NoiseTable(residual, probability),))
    return SurrogateContent(weights(inputs=train.shape[1]), train, *arrays, facts)


@pytest.fixture
def surrogate_file(tmp_path: Path) -> Path:
    path = tmp_path / "surrogate.nc"
    write_surrogate(path, make_exported(), dataset(), {"verb": "export"})
    return path


def dataset() -> Dataset:
    """A dataset with the names that label the axes of a file; nothing else of it is read."""
    features = ("ln|m|", "N11^2", "N12^2", "N13^2-N14^2", "N11*N12")
    names = {"input_names": COLUMNS, "feature_names": features, "target_names": ("sigma_pb",)}
    return dataset_of(np.zeros((0, 5)), np.zeros(0), **names, units=UNITS)
