"""A run of classes: scores, tables and the costs of thinning, from probabilities and logits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.files import read_csv
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.tabulate import tabulate
from nlobayes.commands.pipeline.tabulate_chains import tabulate_chains
from nlobayes.commands.pipeline.thin import thin
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import SPLITS, TEST
from nlobayes.draws_at_points import predict_between
from nlobayes.study.jobs import ModelJob
from nlobayes.surrogate.prediction import grid_over
from nlobayes.types import Dataset, PredictedDraws
from tests.unit.conftest import predicted_groups

LABELS = (1.0, 2.0, 5.0)
DRAWS, MEMBERS = 40, 3
SCORED = {"noise": "gaussian", "calibration": {}, "covariate": "a", "seed": 3}
TABULATED = {"covariate": "a", "calibration": {}, "seed": 3}
JUDGED = {
    "likelihood": {"kind": "categorical"},
    "kernel": {"kind": "hmc"},
    "thresholds": {},
    "thinning_loss": 0.1,
}
LENGTHS = {"classes": 3, "confusion": 27, "reliability": 45, "thresholds": 300}


MODEL = ModelJob.model_validate(
    {
        "network": {"hidden": [4]},
        "prior": {"kind": "gaussian"},
        "likelihood": {"kind": "categorical", "temperature": 2.0},
        "precision": "float64",
    }
)


@pytest.fixture(scope="module")
def classes(points: Selection, choices: Choices) -> Dataset:
    """60 rows of three classes that follow each other."""
    labels = np.resize(LABELS, len(points.target))
    selection = Selection(points.inputs[:, :2], labels, {"a": "1", "b": "1", "class": "1"})
    chosen = choices._replace(feature_map="raw", target_scale="classes")
    return make_dataset(selection, ("a", "b"), ("class",), chosen)


def probabilities(draws: int, dataset: Dataset, seed: int) -> np.ndarray:
    """Give probabilities (draw, point, class), those of the true classes mostly the largest."""
    rng = np.random.default_rng(seed)
    truth = np.eye(len(LABELS))[dataset.target.astype(int)]
    logits = 1.5 * truth + rng.normal(0, 1, truth.shape) + rng.normal(0, 0.3, (draws, *truth.shape))
    return np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)


@pytest.fixture
def predicted(classes: Dataset, tmp_path: Path) -> tuple[Path, Path]:
    """The predictions of two chains and three MAPs, and the dataset."""
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(DRAWS // 2)})
    posterior = PredictedDraws(probabilities(DRAWS, classes, 1))
    maps = PredictedDraws(probabilities(MEMBERS, classes, 2))
    groups = predicted_groups(posterior, maps, classes, draws)
    write_dataset(tmp_path / "dataset.nc", classes, {})
    write_groups(tmp_path / "predictions.nc", "predictions", groups, {"exact": True})
    return tmp_path / "predictions.nc", tmp_path / "dataset.nc"


@pytest.fixture
def posterior(run: Any, classes: Dataset, tmp_path: Path) -> Path:
    """Three chains of 128 draws, every 4th stored, with the logits of three classes."""
    groups = open_artifact(run.posterior, "posterior").groups
    for name in ("posterior", "sample_stats", "all_sample_stats"):
        group = groups[name]
        parts = [
            (group + 0.01 * k).assign_coords(draw=group["draw"] + 32 * k).assign_attrs(group.attrs)
            for k in range(4)
        ]
        groups[name] = xr.concat(parts, "draw").astype(group.dtypes)
    truth = np.eye(len(LABELS))[classes.target[classes.reference].astype(int)]
    logits = truth + np.random.default_rng(5).normal(size=(3, 128, *truth.shape))
    dims = ("chain", "draw", "reference_point", "output")
    groups["predictions"] = xr.Dataset({"f": (dims, logits.astype(np.float32))})
    write_groups(tmp_path / "posterior.nc", "posterior", groups, read_attrs(run.posterior))
    return tmp_path / "posterior.nc"


@pytest.fixture
def diagnostics(posterior: Path, tmp_path: Path) -> Path:
    """The verdict on the logits."""
    diagnose(json.dumps(JUDGED), posterior, tmp_path / "diagnostics.json")
    return tmp_path / "diagnostics.json"


@pytest.fixture
def scored(predicted: tuple[Path, Path], tmp_path: Path) -> dict[str, Any]:
    """The scores of these predictions."""
    evaluate(json.dumps(SCORED), *predicted, tmp_path / "evaluation.json")
    found: dict[str, Any] = json.loads((tmp_path / "evaluation.json").read_text())
    return found


def test_scores_are_those_of_the_mean_probabilities(
    scored: dict[str, Any], classes: Dataset
) -> None:
    mean = probabilities(DRAWS, classes, 1).mean(axis=0)
    for label, name in enumerate(SPLITS):
        rows = classes.split == label
        here, truth = mean[rows], classes.target[rows].astype(int)
        right, of_truth = here.argmax(axis=1) == truth, here[np.arange(len(truth)), truth]
        assert scored[name]["accuracy"] == pytest.approx(right.mean())
        assert scored[name]["lppd"] == pytest.approx(np.log(of_truth).mean())
    assert not {"predictive_noise", "linear", "halves"} & scored.keys()


def test_the_maps_are_an_ensemble_with_the_accuracy_of_each(
    scored: dict[str, Any], classes: Dataset
) -> None:
    members, test = probabilities(MEMBERS, classes, 2), classes.split == TEST
    truth = classes.target[test]
    each = (members[:, test].argmax(axis=2) == truth).mean(axis=1)
    together = (members[:, test].mean(axis=0).argmax(axis=1) == truth).mean()
    assert scored["baseline"]["members"]["accuracy_test"] == pytest.approx(each)
    assert scored["baseline"]["test"]["accuracy"] == pytest.approx(together)


def test_chains_are_stacked_by_the_probabilities_of_the_true_classes(
    predicted: tuple[Path, Path], classes: Dataset, tmp_path: Path
) -> None:
    """The second chain takes each class for the next one."""
    groups = open_artifact(predicted[0], "predictions").groups
    function = groups["predictions"]["f"]
    values = function.values.copy()
    values[1] = np.roll(values[1], 1, axis=2)
    groups["predictions"] = groups["predictions"].assign(f=(function.dims, values))
    write_groups(tmp_path / "bad.nc", "predictions", groups, {"exact": True})
    job = json.dumps(SCORED | {"combine": "stacking"})
    evaluate(job, tmp_path / "bad.nc", predicted[1], tmp_path / "evaluation.json")
    stacking = json.loads((tmp_path / "evaluation.json").read_text())["stacking"]
    assert stacking["weights"][0] > 0.9
    rows = classes.split == TEST
    each = values[:, :, rows].mean(axis=1)[
        :, np.arange(rows.sum()), classes.target[rows].astype(int)
    ]
    expected = np.log(np.array(stacking["weights"]) @ each).mean()
    assert stacking["lppd_test"]["stacking"] == pytest.approx(expected, rel=1e-5)
    assert stacking["test"]["lppd"] == pytest.approx(expected, abs=0.05)


def test_every_table_is_of_every_split(
    posterior: Path,
    diagnostics: Path,
    predicted: tuple[Path, Path],
    scored: dict[str, Any],
    run: Any,
    tmp_path: Path,
) -> None:
    predictions, dataset = predicted
    read = {
        "diagnostics": diagnostics,
        "predictions": predictions,
        "evaluation": tmp_path / "evaluation.json",
        "dataset": dataset,
    }
    plots, record = tmp_path / "plots", tmp_path / "record.json"
    tabulate(json.dumps(TABULATED), **read, start=run.starts, plots=plots, record=record)
    found = {path.stem: read_csv(path) for path in plots.iterdir()}
    assert {name: len(found[name]) for name in LENGTHS} == LENGTHS
    assert found["classes"]["name"].tolist() == [1, 2, 5]
    counts = found["confusion"].query("split == 'test'")
    right = counts.query("true == predicted")["count"].sum() / counts["count"].sum()
    assert right == pytest.approx(scored["test"]["accuracy"])
    answered = found["thresholds"].query("split == 'test' and threshold == 0")
    assert answered["precision"].tolist() == [pytest.approx(right)]
    assert found["calibration_checks"]["check"].tolist() == ["ece"]
    assert read_record(record)["inputs"] == digests([*read.values(), *run.starts])
    assert read_record(record)["outputs"] == digests(plots.iterdir())
    assert len(found["plane"]) == 0
    assert len(found["example_inputs"]) == 2 * len(found["examples"]) > 0
    tabulate_chains('{"covariate": "a"}', posterior, dataset, plots)
    assert len(read_csv(plots / "convergence.csv")) == 6 * len(LABELS)


def test_thinning_costs_log_score_alone(
    posterior: Path, predicted: tuple[Path, Path], tmp_path: Path, classes: Dataset
) -> None:
    """The mean of all probabilities by hand; classes have neither RMSE nor CRPS."""
    verdict = tmp_path / "verdict.json"
    verdict.write_text(json.dumps({"checks": {}, "thinning_step": 4}))
    thin(posterior, verdict, predicted[1], tmp_path / "thinned.nc", tmp_path / "thinning.csv")
    table = read_csv(tmp_path / "thinning.csv")
    assert table[["rmse", "crps"]].isna().all(axis=None)
    logits = open_artifact(posterior, "posterior").groups["predictions"]["f"].values[:, 3::4]
    exp = np.exp(logits.astype(np.float64))
    mean = (exp / exp.sum(axis=-1, keepdims=True)).mean(axis=(0, 1))
    test = classes.split[classes.reference] == TEST
    truth = classes.target[classes.reference].astype(int)
    expected = np.log(mean[np.arange(len(truth)), truth])[test].mean()
    assert table.set_index("step")["lppd"][4] == pytest.approx(expected, rel=1e-6)


def test_one_output_is_the_logit_of_the_second_of_two_classes(
    posterior: Path, tmp_path: Path, classes: Dataset
) -> None:
    two = classes._replace(
        target=np.minimum(classes.target, 1),
        transforms={**classes.transforms, "target": {"scale": "classes", "mean": 0.0, "sd": 1.0}},
    )
    write_dataset(tmp_path / "two.nc", two, {})
    groups = open_artifact(posterior, "posterior").groups
    groups["predictions"] = groups["predictions"].isel(output=0)
    write_groups(tmp_path / "one.nc", "posterior", groups, read_attrs(posterior))
    (tmp_path / "verdict.json").write_text(json.dumps({"checks": {}, "thinning_step": 4}))
    out, costs = tmp_path / "thinned.nc", tmp_path / "thinning.csv"
    thin(tmp_path / "one.nc", tmp_path / "verdict.json", tmp_path / "two.nc", out, costs)
    second = 1 / (1 + np.exp(-groups["predictions"]["f"].values[:, 3::4].astype(np.float64)))
    mean, truth = second.mean(axis=(0, 1)), two.target[two.reference]
    of_truth = np.where(truth == 1, mean, 1 - mean)[two.split[two.reference] == TEST]
    found = read_csv(costs).set_index("step")["lppd"][4]
    assert found == pytest.approx(np.log(of_truth).mean(), rel=1e-6)


def weights(draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draw the weights of networks 2-4-3."""
    rng = np.random.default_rng(seed)
    shapes = {"weights_1": (2, 4), "biases_1": (4,), "weights_2": (4, 3), "biases_2": (3,)}
    return {name: rng.normal(size=(draws, *shape)) for name, shape in shapes.items()}


def test_a_plane_of_two_inputs_is_what_the_draws_say_there(classes: Dataset) -> None:
    """By hand, in float64, from the stored constants of the features."""
    drawn, constants = weights(6, seed=1), classes.transforms["features"]
    plane = predict_between(drawn, MODEL, classes)
    assert plane is not None
    np.testing.assert_array_equal(plane.inputs, grid_over(classes.inputs))
    x = (plane.inputs - constants["mean"]) / constants["scale"]
    hidden = np.tanh(x @ drawn["weights_1"] + drawn["biases_1"][:, np.newaxis])
    logits = (hidden @ drawn["weights_2"] + drawn["biases_2"][:, np.newaxis]) / 2.0
    powers = np.exp(logits)
    each = powers / powers.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(plane.probability, each.mean(axis=0), rtol=1e-5)
    entropy = -(each * np.log(each)).sum(axis=2).mean(axis=0)
    np.testing.assert_allclose(plane.expected_entropy, entropy, rtol=1e-5)
