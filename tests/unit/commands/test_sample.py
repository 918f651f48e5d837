"""Chains that PyMC samples, from the command to the verdict; NumPyro draws, which compiles fastest.

The network has no hidden layer, so that its posterior is known.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.netcdf import Groups, open_artifact, read_attrs
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.sample import sample
from nlobayes.commands.pipeline.thin import thin
from nlobayes.diagnostics.autocorrelation import integrated_time
from nlobayes.study.jobs import PosteriorJob, SampleJob

SIGMA, CHAINS, DRAWS = 0.3, 2, 500
MODEL = {
    "network": {"hidden": []},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": SIGMA},
    "precision": "float64",
}
METHOD = {"kind": "pymc", "nuts_sampler": "numpyro", "chains": CHAINS, "tune": 200, "draws": DRAWS}
SPEC = {"model": MODEL, "method": METHOD, "seed": 3}
DIAGNOSE = {"likelihood": MODEL["likelihood"], "thresholds": {}, "thinning_loss": 0.1}


@pytest.fixture(scope="module")
def posterior(dataset_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chains, in their file."""
    path = tmp_path_factory.mktemp("sampled") / "posterior.nc"
    sample(json.dumps(SPEC), dataset_path, path)
    return path


@pytest.fixture(scope="module")
def groups(posterior: Path) -> Groups:
    return open_artifact(posterior, "posterior").groups


def design(features: np.ndarray) -> np.ndarray:
    return np.hstack([features, np.ones((len(features), 1))])


def coefficients(groups: Groups) -> np.ndarray:
    """Give weights and bias (chain, draw, coefficient)."""
    named = groups["posterior"]
    return np.concatenate([named["weights_1"].values[..., 0], named["biases_1"].values], axis=2)


def test_draws_are_of_the_known_posterior(groups: Groups, dataset_path: Path) -> None:
    """Bayesian linear regression; means within 4.5 standard errors, sds within 15 %."""
    data = read_dataset(dataset_path)
    x, y = design(data.features[data.split == 0]), data.target[data.split == 0]
    scale = np.append(np.full(x.shape[1] - 1, 1 / np.sqrt(x.shape[1] - 1)), 1.0)
    covariance = np.linalg.inv(x.T @ x / SIGMA**2 + np.diag(scale**-2))
    mean, drawn = covariance @ x.T @ y / SIGMA**2, coefficients(groups)
    sd = np.sqrt(np.diag(covariance))
    effective = CHAINS * DRAWS / integrated_time(drawn)
    assert (np.abs(drawn.mean(axis=(0, 1)) - mean) < 4.5 * sd / np.sqrt(effective)).all()
    np.testing.assert_allclose(drawn.std(axis=(0, 1)), sd, rtol=0.15)


def test_density_and_function_are_those_of_each_draw(groups: Groups, dataset_path: Path) -> None:
    """By hand: priors, likelihood and the linear network; `lp` is of weights in units of scales."""
    data, drawn = read_dataset(dataset_path), coefficients(groups)
    x, y = design(data.features[data.split == 0]), data.target[data.split == 0]
    scale = np.append(np.full(x.shape[1] - 1, 1 / np.sqrt(x.shape[1] - 1)), 1.0)
    prior = stats.norm.logpdf(drawn / scale).sum(axis=-1)
    likelihood = stats.norm.logpdf(y, drawn @ x.T, SIGMA).sum(axis=-1)
    np.testing.assert_allclose(groups["sample_stats"]["lp"].values, prior + likelihood, rtol=1e-9)
    function = drawn @ design(data.features[data.reference]).T
    np.testing.assert_allclose(groups["predictions"]["f"].values, function, rtol=1e-9)


def test_the_file_is_that_of_chains(groups: Groups, posterior: Path) -> None:
    """Every draw is stored; PyMC returns no statistics of NumPyro's warm-up."""
    made = read_attrs(posterior)
    assert (made["exact"], made["verb"], "form" in made) == (True, "sample", False)
    assert isinstance(PosteriorJob.model_validate(made["spec"]).root, SampleJob)
    assert groups["posterior"].sizes["draw"] == groups["all_sample_stats"].sizes["draw"] == DRAWS
    assert groups["sample_stats"].identical(groups["all_sample_stats"])
    assert groups["warmup_sample_stats"]["lp"].shape == (CHAINS, 0)
    stats = {"acceptance_rate", "diverging", "energy", "lp", "n_steps", "step_size", "tree_depth"}
    assert {*groups["sample_stats"].data_vars} == stats
    assert groups["sample_stats"]["acceptance_rate"].values.mean() == pytest.approx(0.8, abs=0.15)


def test_they_are_diagnosed_as_chains_and_thinned(
    posterior: Path, dataset_path: Path, read: Any, tmp_path: Path
) -> None:
    diagnose(json.dumps(DIAGNOSE), posterior, tmp_path / "d.json")
    found = read(tmp_path / "d.json")
    assert found["converged"] is all(check["passed"] for check in found["checks"].values())
    assert {"rhat_f", "ebfmi_min", "divergences"} <= found["checks"].keys()
    assert (found["exact"], found["chains"], found["draws_per_chain"]) == (True, CHAINS, DRAWS)
    assert found["gradients_total"] is None
    assert found["gradients_per_draw"] >= 1
    thin(posterior, tmp_path / "d.json", dataset_path, tmp_path / "t.nc", tmp_path / "t.csv")
    kept = open_artifact(tmp_path / "t.nc", "thinned").groups["posterior"]["draw"].values
    assert kept[0] == found["thinning_step"] - 1
