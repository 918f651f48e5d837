"""A network without hidden layers: its posterior in closed form, and a file of its exact draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from nlobayes import provenance
from nlobayes.artifacts.contents import named_group, observed_groups
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.data.splits import TRAIN
from nlobayes.data.transforms import target_transform, unstandardise
from nlobayes.types import Dataset, NamedArrays

CHECKS = {"rhat_f": {"value": 1.002, "threshold": 1.05, "passed": True}}
CHAINS, DRAWS, SCALE, SIGMA = 4, 1000, 1.0, 0.5
MODEL: dict[str, Any] = {
    "network": {"hidden": []},
    "prior": {"kind": "fan_in", "scale": SCALE},
    "likelihood": {"kind": "gaussian", "sigma": SIGMA},
    "precision": "float64",
}
SAMPLED: dict[str, Any] = {
    "kernel": {"kind": "hmc"},
    "warmup": {"kind": "windows", "steps": 40},
    "seed": 1,
    "draws": DRAWS,
    "thin": 1,
}
"""Further attributes of a thinned posterior."""


class Gaussian(NamedTuple):
    """Mean and covariance of the weights and, last, the bias."""

    mean: np.ndarray
    covariance: np.ndarray

    def draw(self, count: int, seed: int) -> np.ndarray:
        """Draw (draw, parameter)."""
        rng = np.random.default_rng(seed)
        return rng.multivariate_normal(self.mean, self.covariance, count)

    def of_f(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
        """Give mean and sd of f at every point, on the model scale."""
        rows, target = design(dataset), target_transform(dataset.transforms)
        variance = np.einsum("ip,pq,iq->i", rows, self.covariance, rows)
        return unstandardise(target, rows @ self.mean), np.sqrt(variance) * target.sd


def design(dataset: Dataset) -> np.ndarray:
    """Give the features and a one (point, parameter)."""
    return np.column_stack([dataset.features, np.ones(len(dataset.features))])


def f_of(parameters: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Give f of draws (draw, parameter) at every point, on the model scale."""
    target = target_transform(dataset.transforms)
    return unstandardise(target, parameters @ design(dataset).T)


def posterior(
    dataset: Dataset,
    *,
    scale: float = SCALE,
    sigma: float = SIGMA,
    prior_power: float = 1.0,
    likelihood_power: float = 1.0,
) -> Gaussian:
    """Solve for weights N(0, scale^2 / features), a bias N(0, 1) and targets N(f, sigma^2)."""
    train = dataset.split == TRAIN
    rows, features = design(dataset)[train], dataset.features.shape[1]
    information = likelihood_power / sigma**2
    prior = prior_power * np.diag([features / scale**2] * features + [1.0])
    covariance = np.linalg.inv(information * rows.T @ rows + prior)
    return Gaussian(covariance @ (information * rows.T @ dataset.target[train]), covariance)


def write_thinned(
    path: Path, dataset: Dataset, drawn: np.ndarray, model: dict[str, Any] = MODEL
) -> Path:
    """Write draws (chain, draw, parameter) as a thinned posterior."""
    named = NamedArrays(
        {"weights_1": drawn[..., :-1, np.newaxis], "biases_1": drawn[..., -1:]},
        {"weights_1": ("feature", "output"), "biases_1": ("output",)},
        {"feature": dataset.feature_names, "output": [0]},
    )
    return write_named(path, dataset, named, model)


def write_named(path: Path, dataset: Dataset, named: NamedArrays, model: dict[str, Any]) -> Path:
    """Write named draws (chain, draw, ...) as a thinned posterior."""
    chains, draws = next(iter(named.values.values())).shape[:2]
    coords = {"chain": np.arange(chains), "draw": np.arange(draws)}
    groups: dict[str, xr.Dataset] = {
        "posterior": named_group(named, ("chain", "draw"), coords),
        **observed_groups(dataset, dataset.split == TRAIN),
    }
    del groups["predictions_constant_data"]
    facts = {"device": "cpu", "precision": "float64", "exact": True, "checks": CHECKS}
    record = provenance.record("thin", {**SAMPLED, "model": model}, {}, **facts)
    write_groups(path, "thinned", groups, record)
    return path
