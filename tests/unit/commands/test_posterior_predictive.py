"""Predictions, compared with a forward pass in NumPy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_map, write_dataset
from nlobayes.artifacts.files import as_json
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.posterior_predictive import posterior_predictive
from nlobayes.commands.pipeline.thin import thin
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import EvaluateJob, PosteriorPredictiveJob
from nlobayes.study.read_jobs import read_job
from nlobayes.types import Dataset
from tests.refusals import refused

CHECKS = {"divergences": {"value": 1, "threshold": 0, "passed": False}}
SPEC = json.dumps(
    {
        "model": {
            "network": {"hidden": [2], "activation": "tanh"},
            "prior": {"kind": "fan_in"},
            "likelihood": {"kind": "gaussian", "sigma": 0.1},
            "precision": "float64",
        }
    }
)

SCORED = json.dumps({"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3})


@pytest.fixture
def thinned(run: Any, tmp_path: Path) -> Path:
    """All stored draws of the posterior, which failed a check."""
    (tmp_path / "d.json").write_text(json.dumps({"thinning_step": 4, "checks": CHECKS}))
    out = (tmp_path / "thinned.nc", tmp_path / "thinning.csv")
    thin(run.posterior, tmp_path / "d.json", run.dataset, *out)
    return tmp_path / "thinned.nc"


def forward(values: Mapping[str, Any], dataset: Dataset) -> np.ndarray:
    """log10 of the target at every point, in double precision."""
    names = ("weights_1", "biases_1", "weights_2", "biases_2")
    w1, b1, w2, b2 = (np.asarray(values[name], np.float64) for name in names)
    hidden = np.tanh(dataset.features @ w1 + b1[..., None, :])
    output = (hidden @ w2)[..., 0] + b2
    target = dataset.transforms["target"]
    return output * target["sd"] + target["mean"]


def test_every_draw_and_every_start_is_evaluated_at_every_point(
    run: Any, thinned: Path, tmp_path: Path, dataset: Dataset
) -> None:
    """The weights are stored, and thus evaluated, in single precision."""
    posterior_predictive(SPEC, thinned, run.dataset, run.starts, tmp_path / "out.nc")
    groups = open_artifact(tmp_path / "out.nc", "predictions").groups
    draws = open_artifact(thinned, "thinned").groups["posterior"]
    expected = forward({str(name): draws[name].values for name in draws}, dataset)
    found = groups["predictions"]["f"]
    assert found.shape == expected.shape == (3, 8, 60)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    for member, path in enumerate(run.starts):
        expected = forward(read_map(path).variables.values, dataset)
        np.testing.assert_allclose(groups["baseline"]["f"][member], expected, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found["draw"], draws["draw"])


def test_what_one_stage_returns_the_next_takes(
    run: Any, thinned: Path, tmp_path: Path, dataset: Dataset
) -> None:
    """Scores of values that no file held are those of the files."""
    out, scores = tmp_path / "out.nc", tmp_path / "scores.json"
    posterior_predictive(SPEC, thinned, run.dataset, run.starts, out)
    evaluate(SCORED, out, run.dataset, scores)
    opened, starts = open_artifact(thinned, "thinned"), [read_map(path) for path in run.starts]
    drawn = Stated(opened.groups, opened.attrs)
    predict, score = (vars(command)["compute"] for command in (posterior_predictive, evaluate))
    predicted = predict(read_job(PosteriorPredictiveJob, SPEC), drawn, dataset, starts)
    found = score(read_job(EvaluateJob, SCORED), predicted, dataset)
    assert as_json(found) == scores.read_text()


def test_rounding_does_not_grow_with_the_size_of_predictions(
    run: Any, thinned: Path, tmp_path: Path, dataset: Dataset
) -> None:
    target = dataset.transforms["target"]
    far = {**dataset.transforms, "target": {**target, "mean": target["mean"] + 1e4}}
    write_dataset(tmp_path / "far.nc", dataset._replace(transforms=far), {})
    for name, path in (("near", run.dataset), ("far", tmp_path / "far.nc")):
        posterior_predictive(SPEC, thinned, path, run.starts, tmp_path / f"{name}_out.nc")
    near, moved = (
        open_artifact(tmp_path / f"{name}_out.nc", "predictions").groups["predictions"]["f"].values
        for name in ("near", "far")
    )
    np.testing.assert_allclose(moved - 1e4, near, rtol=0, atol=1e-10)


def test_predictions_carry_points_checks_and_exactness(
    run: Any, thinned: Path, tmp_path: Path, dataset: Dataset
) -> None:
    posterior_predictive(SPEC, thinned, run.dataset, run.starts, tmp_path / "out.nc")
    made, points = (
        read_attrs(tmp_path / "out.nc"),
        open_artifact(tmp_path / "out.nc", "predictions").groups,
    )
    assert made["checks"] == CHECKS
    assert made["exact"] is True
    np.testing.assert_array_equal(points["points"]["observed"], dataset.observed)
    np.testing.assert_array_equal(points["points"]["split"], dataset.split)


def test_a_dataset_that_was_not_trained_on_is_refused(
    run: Any, thinned: Path, tmp_path: Path, dataset: Dataset
) -> None:
    """Other constants would give other predictions."""
    other = dataset._replace(target=2 * dataset.target)
    write_dataset(tmp_path / "other.nc", other, {})
    with refused("commands.other_train_rows", where=thinned):
        posterior_predictive(SPEC, thinned, tmp_path / "other.nc", run.starts, tmp_path / "out.nc")
    assert not (tmp_path / "out.nc").exists()
