"""A run in PyMC and ArviZ: its model has its data, and its draws have their likelihood."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytest
from scipy import stats

import nlobayes
from nlobayes.artifacts.contents import read_dataset, write_dataset
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.seals import digests
from nlobayes.types import Dataset
from tests.refusals import refused

RUN = "tiny/s1"
SIGMA = 0.2
"""Of the likelihood of the run, whose network is 5-2-1 with tanh, and its prior fan_in."""


@pytest.fixture
def here(stated_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project that a test may change; it is the working directory."""
    shutil.copytree(stated_run, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def network(weights: Any, features: np.ndarray) -> np.ndarray:
    """Evaluate 5-2-1 with tanh, draw by draw, written by hand."""
    hidden = np.tanh(features @ weights["weights_1"] + weights["biases_1"][..., np.newaxis, :])
    return (hidden @ weights["weights_2"])[..., 0] + weights["biases_2"]


def train_rows(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    train = data.split == 0
    return data.features[train], data.target[train]


def test_the_density_of_the_model_is_that_by_hand(here: Path) -> None:
    """Prior and likelihood at a point of the prior, in double precision."""
    model = nlobayes.pymc_model(RUN, non_centered=False)
    point = pm.draw(model.free_RVs, random_seed=3)
    named = {v.name: np.asarray(drawn) for v, drawn in zip(model.free_RVs, point, strict=True)}
    features, target = train_rows(read_dataset(here / "results/data/tiny.nc"))
    scales = {name: 1 / np.sqrt(len(w)) if w.ndim == 2 else 1.0 for name, w in named.items()}
    prior = sum(stats.norm.logpdf(w, scale=scales[name]).sum() for name, w in named.items())
    rows = stats.norm.logpdf(target, network(named, features), SIGMA)
    found = model.compile_logp()(named)
    assert float(found) == pytest.approx(prior + rows.sum(), rel=1e-9)


def test_the_model_has_the_train_rows_and_their_names(here: Path) -> None:
    data = read_dataset(here / "results/data/tiny.nc")
    model = nlobayes.pymc_model(here / f"results/posterior/{RUN}.nc")
    assert model.coords["point"] == tuple(np.flatnonzero(data.split == 0))
    assert model.coords["feature"] == data.feature_names
    np.testing.assert_array_equal(model["features"].get_value(), train_rows(data)[0])
    assert model.named_vars_to_dims["target"] == ("point",)
    replicates = pm.sample_prior_predictive(3, model=model, random_seed=1)
    assert replicates.prior_predictive["target"].dims == ("chain", "draw", "point")


def test_log_likelihood_and_replicates_are_those_of_each_draw(here: Path) -> None:
    """By hand from the stored weights; replicates scatter about f with the sd of the likelihood."""
    found = nlobayes.inference_data(RUN, seed=4)
    features, target = train_rows(read_dataset(here / "results/data/tiny.nc"))
    stored = {name: weights.values for name, weights in found.posterior.items()}
    function = network(stored, features)
    by_hand = stats.norm.logpdf(target, function, SIGMA)
    assert found.log_likelihood["target"].dims == ("chain", "draw", "point")
    np.testing.assert_allclose(found.log_likelihood["target"].values, by_hand, rtol=1e-6)
    pulls = (found.posterior_predictive["target"].values - function) / SIGMA
    assert stats.kstest(pulls.ravel(), "norm").pvalue > 0.01
    again = nlobayes.inference_data(RUN, log_likelihood=False, seed=4)
    assert "log_likelihood" not in again.children
    assert again.posterior_predictive.equals(found.posterior_predictive)


def test_a_run_is_found_from_anywhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dataset is found in the project of the path of the posterior."""
    monkeypatch.chdir(here.parent)
    found = nlobayes.pymc_model("project/results/posterior/tiny/s1.nc")
    assert found.coords["feature"]
    assert nlobayes.pymc_model(RUN, results="project/results").coords == found.coords


def test_the_likelihood_of_linearised_networks_is_refused(here: Path) -> None:
    path = Path(f"results/posterior/{RUN}.nc")
    made = read_attrs(path) | {"predictive": "linearised"}
    write_groups(path, "posterior", open_artifact(path, "posterior").groups, made)
    with refused("interop.linearised"):
        nlobayes.inference_data(RUN, posterior_predictive=False)
    bare = nlobayes.inference_data(RUN, log_likelihood=False, posterior_predictive=False)
    assert "posterior" in bare.children
    assert nlobayes.pymc_model(RUN).coords["point"]


def test_a_dataset_that_is_missing_or_has_changed_is_refused(here: Path, run: Any) -> None:
    data = Path("results/data/tiny.nc")
    changed = read_dataset(data)
    write_dataset(Path("other.nc"), changed._replace(target=changed.target + 1), {})
    with refused("interop.other_dataset"):
        nlobayes.pymc_model(RUN, dataset="other.nc")
    shutil.copy(data, "same.nc")
    assert nlobayes.pymc_model(RUN, dataset="same.nc").coords["point"]
    data.unlink()
    with refused("interop.no_dataset"):
        nlobayes.pymc_model(RUN)
    groups = open_artifact(run.posterior, "posterior").groups
    made = read_attrs(Path(f"results/posterior/{RUN}.nc")) | {"inputs": digests([Path("same.nc")])}
    write_groups(Path("elsewhere.nc"), "posterior", groups, made)
    with refused("interop.dataset_not_named"):
        nlobayes.pymc_model("elsewhere.nc")


def test_the_package_imports_neither_pymc_nor_jax() -> None:
    code = "import sys, nlobayes; assert not {'pymc', 'jax', 'arviz', 'numpy'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_no_run_is_refused(here: Path) -> None:
    with refused("interop.no_run", run="other/s1"):
        nlobayes.pymc_model("other/s1")
    with refused("interop.no_posterior", kind="dataset"):
        nlobayes.inference_data("results/data/tiny.nc")
    Path("text.nc").write_text("no artifact")
    with refused("artifacts.no_artifact"):
        nlobayes.pymc_model("text.nc")
