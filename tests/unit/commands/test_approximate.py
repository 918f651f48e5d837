"""The ensemble of MAPs as a posterior of its own, from its MAPs to the surrogate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from nlobayes import Surrogate, builder
from nlobayes.artifacts.contents import read_dataset, read_map, write_map
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.commands.pipeline.approximate import approximate
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.export import export
from nlobayes.commands.pipeline.posterior_predictive import posterior_predictive
from nlobayes.commands.pipeline.thin import thin
from nlobayes.diagnostics.run_diagnostics import OfChains
from nlobayes.study.jobs import ModelJob
from tests.refusals import refused

MEMBERS = 4
MODEL = {
    "network": {"hidden": [2], "activation": "tanh"},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float64",
}
SPEC = {"model": MODEL, "method": {"kind": "map_ensemble", "members": MEMBERS}, "seed": 1}
LACKING = {
    "weights_1": (slice(None), 1),
    "biases_1": (1,),
    "weights_2": (1, slice(None)),
}
"""Entries after the axes (chain, draw) that a network of one hidden unit lacks."""
DIAGNOSE = {"likelihood": MODEL["likelihood"], "thresholds": {}, "thinning_loss": 0.1}


class Made(NamedTuple):
    """The files of the run, one after the other."""

    starts: list[Path]
    posterior: Path
    diagnostics: Path
    thinned: Path
    table: Path
    predictions: Path
    evaluation: Path
    surrogate: Path


@pytest.fixture(scope="module")
def made(
    dataset_path: Path, make_start: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Made:
    """Every command of the run, in the order of the workflow."""
    model = builder.build_model(ModelJob.model_validate(MODEL), read_dataset(dataset_path))
    folder = tmp_path_factory.mktemp("ensemble")
    starts = [folder / f"{member}.nc" for member in range(MEMBERS)]
    for member, path in enumerate(starts):
        start = make_start(member, np.float64)
        named = builder.name_variables(model, start.position)
        write_map(path, start._replace(variables=named), {})
    names = ("posterior.nc", "d.json", "thinned.nc", "t.csv", "p.nc", "e.json", "s.nc")
    files = Made(starts, *(folder / name for name in names))
    approximate(json.dumps(SPEC), dataset_path, starts, files.posterior)
    diagnose(json.dumps(DIAGNOSE), files.posterior, files.diagnostics)
    thin(files.posterior, files.diagnostics, dataset_path, files.thinned, files.table)
    job = json.dumps({"model": MODEL})
    posterior_predictive(job, files.thinned, dataset_path, starts, files.predictions)
    scoring = {"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 1}
    evaluate(json.dumps(scoring), files.predictions, dataset_path, files.evaluation)
    exporting = json.dumps({"network": MODEL["network"], "export": {"tolerance": None}})
    read = (files.thinned, dataset_path, files.diagnostics, files.evaluation)
    export(exporting, *read, files.surrogate)
    return files


def test_each_map_is_one_draw(made: Made) -> None:
    groups = open_artifact(made.posterior, "posterior").groups
    for member, path in enumerate(made.starts):
        for name, weights in read_map(path).variables.values.items():
            drawn = groups["posterior"][name].values[0, member]
            np.testing.assert_allclose(drawn, weights, rtol=1e-12)
    assert groups["sample_stats"]["lp"].shape == (1, MEMBERS)
    assert "warmup_sample_stats" not in groups


def test_density_and_function_are_those_of_each_map(made: Made, dataset_path: Path) -> None:
    """By the compiled density at each MAP, and by the predictions of the same weights."""
    data = read_dataset(dataset_path)
    model = builder.build_model(ModelJob.model_validate(MODEL), data)
    groups = open_artifact(made.posterior, "posterior").groups
    expected = [
        float(model.logdensity_fn(jnp.asarray(read_map(path).position))) for path in made.starts
    ]
    np.testing.assert_allclose(groups["sample_stats"]["lp"].values[0], expected, rtol=1e-9)
    target = data.transforms["target"]
    function = groups["predictions"]["f"].values[0] * target["sd"] + target["mean"]
    predicted = open_artifact(made.predictions, "predictions").groups["predictions"]["f"].values[0]
    np.testing.assert_allclose(function, predicted[:, data.reference], rtol=1e-5)


def test_its_diagnostics_have_the_keys_of_chains(
    made: Made, run: Any, read: Any, tmp_path: Path
) -> None:
    chains = {"kernel": {"kind": "hmc"}}
    diagnose(json.dumps(DIAGNOSE | chains), run.posterior, tmp_path / "d.json")
    assert read(made.diagnostics).keys() == read(tmp_path / "d.json").keys()
    assert {*OfChains.__annotations__} <= read(tmp_path / "d.json").keys()


def test_its_predictions_are_those_of_the_baseline(made: Made) -> None:
    """The baseline of every run is the ensemble of its MAPs, here that of the run itself."""
    groups = open_artifact(made.predictions, "predictions").groups
    own, baseline = groups["predictions"]["f"].values[0], groups["baseline"]["f"].values
    np.testing.assert_array_equal(own, baseline)


def test_the_surrogate_predicts_the_mean_of_its_members(made: Made, dataset_path: Path) -> None:
    surrogate = Surrogate.load(made.surrogate)
    groups = open_artifact(made.predictions, "predictions").groups
    inputs = open_artifact(dataset_path, "dataset").groups["inputs"]["inputs"].values
    found = surrogate.predict(inputs, on="model").mean
    np.testing.assert_allclose(found, groups["predictions"]["f"].values[0].mean(axis=0), rtol=1e-5)


def test_draws_of_several_architectures_predict_as_their_own_networks(
    made: Made, dataset_path: Path, tmp_path: Path
) -> None:
    """Every second draw has one hidden unit; the entries of the other are zero and masked."""
    groups = open_artifact(made.posterior, "posterior").groups
    weights = groups["posterior"]
    small = np.arange(MEMBERS) % 2 == 1
    masks = {}
    for name, lacking in LACKING.items():
        mask = np.ones(weights[name].shape, dtype=bool)
        mask[(slice(None), small, *lacking)] = False
        weights[name].values[~mask] = 0
        masks[name] = (weights[name].dims, mask.astype(np.int8))
    groups["masks"] = xr.Dataset(masks, weights.coords)
    posterior, thinned = tmp_path / "posterior.nc", tmp_path / "thinned.nc"
    write_groups(posterior, "posterior", groups, read_attrs(made.posterior))
    thin(posterior, made.diagnostics, dataset_path, thinned, tmp_path / "t.csv")
    kept = open_artifact(thinned, "thinned").groups
    xr.testing.assert_equal(kept["masks"], groups["masks"])
    out = tmp_path / "p.nc"
    posterior_predictive(json.dumps({"model": MODEL}), thinned, dataset_path, made.starts, out)
    found = open_artifact(out, "predictions").groups["predictions"]["f"].values[0, small]
    data = read_dataset(dataset_path)
    by_hand = np.tanh(
        data.features @ weights["weights_1"].values[0, small, :, 0].T
        + weights["biases_1"].values[0, small, 0]
    )
    outputs = (
        by_hand * weights["weights_2"].values[0, small, 0, 0]
        + weights["biases_2"].values[0, small, 0]
    )
    target = data.transforms["target"]
    np.testing.assert_allclose(found, (outputs * target["sd"] + target["mean"]).T, rtol=1e-6)


def test_other_numbers_of_maps_are_refused(made: Made, dataset_path: Path, tmp_path: Path) -> None:
    with refused("inference.maps_for_members", maps=3, members=4):
        approximate(json.dumps(SPEC), dataset_path, made.starts[:3], tmp_path / "out.nc")
    assert not (tmp_path / "out.nc").exists()
