"""A custom likelihood, activation and score, from the model to the scores of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.draws_at_points import predict_draws
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.refusals import refused
from tests.unit.commands.test_stated import assert_loo, score

SOURCE = """
import numpy as np
import pymc as pm

def tanh(xp, x):
    return xp.tanh(x)

def observe(observation):
    spread = pm.Exponential("spread", 5.0)
    return pm.Laplace(observation.name, observation.f, spread, observed=observation.target)

def noise(f, variables, error, xp):
    return "laplace", variables["spread"]

def negative(f, variables, error, xp):
    return "laplace", -variables["spread"]

def of_other_axes(f, variables, error, xp):
    return "laplace", variables["spread"] * np.ones(3)

def rmse(split):
    return np.sqrt(np.mean((split.draws.mean(axis=0) - split.observed) ** 2))
"""
OWN = {"file": "mine.py"}
SCORES = {"mine": {**OWN, "function": "rmse", "compared": True}}
SPEC = {"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3, "scores": SCORES}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(OWN["file"]).write_text(SOURCE)


def likelihood(noise: str = "noise") -> dict[str, Any]:
    return {"kind": "custom", **OWN, "function": "observe", "noise": noise}


def test_the_likelihood_of_the_user_judges_as_the_sampled_model_does(
    dataset: Dataset, tmp_path: Path
) -> None:
    scored = score(tmp_path, dataset, likelihood(), spec=json.dumps(SPEC))
    assert_loo(scored, scored.rows - np.log(dataset.transforms["target"]["sd"]))
    assert scored.scores["stated_noise"]["family"] == "laplace"
    assert scored.scores["stated_noise"]["declared"] is None
    assert scored.scores["own_scores"] == {"mine": {**SCORES["mine"], "settings": {}}}
    for scores in (scored.scores, scored.scores["baseline"], scored.scores["linear"]):
        for split in ("train", "val", "test"):
            assert scores[split]["mine"] == pytest.approx(scores[split]["rmse_log10"], rel=1e-12)


def drawn() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = {"weights_1": (6, 2), "biases_1": (2,), "weights_2": (2, 1), "biases_2": (1,)}
    found = {name: rng.normal(size=(4, *shape)) for name, shape in shapes.items()}
    return {**found, "spread": rng.uniform(0.1, 0.3, 4)}


def job(noise: str, activation: Any = "tanh") -> ModelJob:
    network = {"hidden": [2], "activation": activation}
    return ModelJob.model_validate(
        {
            "network": network,
            "prior": {"kind": "fan_in"},
            "likelihood": likelihood(noise),
            "precision": "float64",
        }
    )


def test_the_activation_of_the_user_predicts_as_ours_does(dataset: Dataset) -> None:
    own = {"kind": "custom", **OWN, "function": "tanh"}
    variables = with_features(dataset)
    found = predict_draws(variables, job("noise", own), dataset)
    known = predict_draws(variables, job("noise"), dataset)
    np.testing.assert_allclose(found.function, known.function, rtol=1e-12)


def with_features(dataset: Dataset) -> dict[str, np.ndarray]:
    features = dataset.features.shape[1]
    rng = np.random.default_rng(2)
    return {**drawn(), "weights_1": rng.normal(size=(4, features, 2))}


@pytest.mark.parametrize("noise", ["negative", "of_other_axes"])
def test_an_invalid_noise_is_refused_in_one_line(dataset: Dataset, noise: str) -> None:
    with refused("commands.own_scale", where="likelihood of kind custom") as caught:
        predict_draws(with_features(dataset), job(noise), dataset)
    assert "\n" not in str(caught.value)
