"""Densities of the likelihood at predictions, from named draws to the scores of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from nlobayes import builder
from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.netcdf import open_artifact, write_groups
from nlobayes.artifacts.predicted import read_predicted
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import SPLITS, TRAIN
from nlobayes.draws_at_points import predict_draws
from nlobayes.evaluation.scores.information import information
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, PredictedDraws
from tests.refusals import refused
from tests.unit.conftest import predicted_groups

CHAINS, DRAWS = 2, 20
SPEC = json.dumps({"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3})
EVERY, POINT = ("chain", "draw"), ("point",)
LEARNED_T = {"kind": "student_t", "degrees_of_freedom": None}
LIKELIHOODS: dict[str, dict[str, Any]] = {
    "tolerance": {"kind": "gaussian", "sigma": 0.3},
    "learned noise": {"kind": "gaussian", "sigma": None},
    "heteroscedastic": {"kind": "heteroscedastic", "scale": 0.3},
    "student_t": {"kind": "student_t", "sigma": 0.3, "degrees_of_freedom": 5.0},
    "learned degrees": LEARNED_T,
    "laplace": {"kind": "laplace", "sigma": 0.3},
}
DIMS: dict[str, tuple[str, ...]] = {
    "tolerance": (),
    "learned noise": EVERY,
    "heteroscedastic": EVERY + POINT,
    "student_t": (),
    "learned degrees": EVERY,
    "laplace": (),
}
DIMS_WITH_ERRORS: dict[str, tuple[str, ...]] = {
    "tolerance": POINT,
    "learned noise": EVERY + POINT,
    "heteroscedastic": EVERY + POINT,
}
FAMILIES = {"student_t": "student_t", "learned degrees": "student_t", "laplace": "laplace"}


class Scored(NamedTuple):
    """Predictions, scores, and the density of each row (chain, draw, point)."""

    predictions: xr.Dataset
    scores: dict[str, Any]
    rows: np.ndarray


def score(
    folder: Path,
    data: Dataset,
    likelihood: dict[str, Any],
    draws: int = DRAWS,
    spec: str = SPEC,
) -> Scored:
    """Predict and score draws around one of the prior, and compute their densities by PyMC."""
    model = {"network": {"hidden": [2]}, "prior": {"kind": "fan_in"}, "precision": "float64"}
    job = ModelJob.model_validate({**model, "likelihood": likelihood})
    built = builder.build_model(job, data)
    spread = np.random.default_rng(4).normal(0, 0.1, (CHAINS * draws, built.density.size))
    positions = jnp.asarray(built.density.draw_prior(1) + spread)
    named = jax.vmap(built.density.variables)(positions)
    train = data.split == TRAIN
    error = () if data.error is None else (data.error / data.transforms["target"]["sd"],)
    rows = [jnp.asarray(column[train]) for column in (data.features, data.target, *error)]

    def of_row(position: jax.Array, *row: jax.Array) -> jax.Array:
        batch = built.density.batch(*(value[None] for value in row))
        return built.density.log_likelihood(position, batch)

    of_rows = jax.vmap(of_row, (None, *[0] * len(rows)))
    log_likelihood = np.asarray(jax.vmap(lambda position: of_rows(position, *rows))(positions))

    predicted = predict_draws({name: np.asarray(v) for name, v in named.items()}, job, data)
    members = predict_draws({name: np.asarray(v)[:3] for name, v in named.items()}, job, data)
    labels = xr.Dataset(coords={"chain": np.arange(CHAINS), "draw": np.arange(draws)})
    groups = predicted_groups(predicted, members, data, labels)
    write_dataset(folder / "dataset.nc", data, {})
    write_groups(folder / "p.nc", "predictions", groups, {"exact": True})
    evaluate(spec, folder / "p.nc", folder / "dataset.nc", folder / "scores.json")
    return Scored(
        open_artifact(folder / "p.nc", "predictions").groups["predictions"],
        json.loads((folder / "scores.json").read_text()),
        log_likelihood.reshape(CHAINS, draws, -1),
    )


def with_errors(dataset: Dataset) -> Dataset:
    error = 10.0 ** np.random.default_rng(3).uniform(-2, 1, len(dataset.target))
    return dataset._replace(error=error)


def assert_loo(scored: Scored, rows: np.ndarray) -> None:
    """LOO and WAIC are those of these log densities."""
    expected, loo, waic = information(rows), scored.scores["loo"], scored.scores["waic"]
    np.testing.assert_allclose(loo["elpd_of_rows"], expected.loo, rtol=1e-5)
    assert loo["elpd"] == pytest.approx(expected.loo.sum(), rel=1e-6)
    assert loo["k_max"] == pytest.approx(expected.pareto_k.max(), rel=1e-4, abs=1e-4)
    assert loo["points"] == rows.shape[2]
    assert waic["elpd"] == pytest.approx(expected.waic.sum(), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "errors"),
    [*((name, False) for name in LIKELIHOODS), *((name, True) for name in DIMS_WITH_ERRORS)],
)
@pytest.mark.by_day(4)
def test_the_likelihood_judges_as_the_sampled_model_does(
    dataset: Dataset, tmp_path: Path, name: str, errors: bool
) -> None:
    """On the model scale, whose unit is the sd of the target; the noise varies where it must."""
    data = with_errors(dataset) if errors else dataset
    found = score(tmp_path, data, LIKELIHOODS[name])
    rows = found.rows - np.log(data.transforms["target"]["sd"])
    assert_loo(found, rows)
    dims = DIMS_WITH_ERRORS if errors else DIMS
    assert found.predictions["scale"].dims == dims[name]
    if "student_t" in FAMILIES.get(name, ""):
        assert found.predictions["degrees_of_freedom"].dims == DIMS[name]
    stated = found.scores["stated_noise"]
    assert stated["family"] == FAMILIES.get(name, "gaussian")
    train = np.log(np.exp(rows).mean(axis=(0, 1)))
    assert stated["train"]["lppd"] == pytest.approx(train.mean(), rel=1e-6)
    error = train.std(ddof=1) / np.sqrt(len(train))
    assert stated["train"]["lppd_se"] == pytest.approx(error, rel=1e-5)
    for split in SPLITS:
        assert 0 <= stated[split]["coverage_68"] <= stated[split]["coverage_95"] <= 1
        assert np.isfinite(stated[split]["lppd"])


@pytest.mark.parametrize("likelihood", [{"kind": "categorical"}, {"kind": "bernoulli"}])
def test_classes_are_scored_by_their_log_probabilities(
    points: Selection, choices: Choices, tmp_path: Path, likelihood: dict[str, Any]
) -> None:
    count = 2 if likelihood["kind"] == "bernoulli" else 3
    labels = np.resize(np.arange(count, dtype=float), len(points.target))
    selection = Selection(points.inputs[:, :2], labels, {"a": "1", "b": "1", "class": "1"})
    chosen = choices._replace(feature_map="raw", target_scale="classes")
    data = make_dataset(selection, ("a", "b"), ("class",), chosen)
    spec = json.dumps(json.loads(SPEC) | {"covariate": "a"})
    found = score(tmp_path, data, likelihood, spec=spec)
    assert_loo(found, found.rows)
    assert "stated_noise" not in found.scores
    assert "scale" not in found.predictions


def test_what_draws_predict_is_read_as_it_was_written(dataset: Dataset) -> None:
    """Broadcast over draws and points, those of all chains one after the other."""
    shapes = {"f": (6, 60), "points": (1, 60), "draws": (6, 1)}
    rng = np.random.default_rng(2)
    f, points, draws = (rng.uniform(1, 2, shape) for shape in shapes.values())
    labels = xr.Dataset(coords={"chain": [0, 1], "draw": [0, 1, 2]})
    for scale in (f, points, draws, np.asarray(0.3)):
        predicted = PredictedDraws(f, "student_t", scale, draws)
        groups = predicted_groups(predicted, predicted, dataset, labels)
        found = read_predicted(groups["predictions"])
        assert found.scale is not None
        np.testing.assert_array_equal(found.function, f)
        np.testing.assert_array_equal(found.scale + 0 * f, scale + 0 * f)
        np.testing.assert_array_equal(found.degrees_of_freedom, draws)
        assert found.family == "student_t"


def test_predictions_without_a_noise_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    """As in predictions of an older version."""
    f = np.random.default_rng(1).normal(size=(40, len(dataset.target)))
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(20)})
    groups = predicted_groups(PredictedDraws(f), PredictedDraws(f[:3]), dataset, draws)
    write_dataset(tmp_path / "dataset.nc", dataset, {})
    write_groups(tmp_path / "p.nc", "predictions", groups, {"exact": True})
    out = tmp_path / "scores.json"
    with refused("evaluation.no_stated_noise"):
        evaluate(SPEC, tmp_path / "p.nc", tmp_path / "dataset.nc", out)
    assert not out.exists()
