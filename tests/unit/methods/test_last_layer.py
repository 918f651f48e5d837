"""The exact posterior of the output layer, against ridge regression on the hidden layer."""

from typing import Any

import jax
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.data.splits import TRAIN
from nlobayes.inference.method import MethodInput
from nlobayes.methods.last_layer import LastLayer
from nlobayes.study.jobs import ApproximateJob, ModelJob
from nlobayes.types import Dataset
from tests.refusals import refused

UNITS, SCALE, SIGMA, DRAWS = 3, 1.5, 0.3, 8000
SAMPLED: dict[str, Any] = {
    "network": {"hidden": [UNITS]},
    "prior": {"kind": "fan_in", "scale": SCALE},
    "likelihood": {"kind": "gaussian", "sigma": SIGMA},
    "precision": "float64",
}
LEARNED = {**SAMPLED, "likelihood": {"kind": "gaussian", "sigma": None}}
MARGINALISED = {**SAMPLED, "network": {"hidden": [UNITS], "output": "marginalised"}}
METHOD: dict[str, Any] = {"kind": "last_layer", "modes": 2, "draws": 2 * DRAWS}
SEEDS = (1, 2)


def begun(stated: dict[str, Any], dataset: Dataset) -> tuple[builder.Model, MethodInput]:
    """The model that the method takes, at two draws of its prior."""
    asked = {"model": stated, "method": METHOD, "seed": 1}
    job = ApproximateJob.model_validate(asked)
    model = builder.build_model(builder.model_for(job.method, job.model), dataset)
    maps = [np.asarray(model.density.draw_prior(seed)) for seed in SEEDS]
    return model, builder.approach(model, dataset, maps)


def regression(
    dataset: Dataset, variables: dict[str, Any], sigma: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of weights N(0, scale^2 / units) and a bias N(0, 1), given the rest."""
    train = dataset.split == TRAIN
    hidden = np.tanh(dataset.features[train] @ variables["weights_1"] + variables["biases_1"])
    rows = np.column_stack([hidden, np.ones(len(hidden))])
    prior = np.diag([UNITS / SCALE**2] * UNITS + [1.0])
    covariance = np.linalg.inv(rows.T @ rows / sigma**2 + prior)
    return covariance @ rows.T @ dataset.target[train] / sigma**2, covariance


@pytest.mark.statistical
@pytest.mark.parametrize(
    "stated", [SAMPLED, LEARNED, MARGINALISED], ids=["sampled", "learned noise", "marginalised"]
)
def test_draws_are_those_of_ridge_regression(stated: dict[str, Any], dataset: Dataset) -> None:
    """Within five standard errors of 8000 draws: 0.056 sd of a mean, 8 % of a variance."""
    model, begin = begun(stated, dataset)
    drawn = (
        LastLayer(kind="last_layer", modes=2, draws=2 * DRAWS)
        .sample(jax.random.key(3), begin)
        .positions
    )
    values = builder.name_variables(model, drawn).values
    output = np.column_stack([values["weights_2"][..., 0], values["biases_2"]])
    for mode in range(2):
        own = slice(mode * DRAWS, (mode + 1) * DRAWS)
        of_first = {name: value[own][0] for name, value in values.items()}
        mean, covariance = regression(dataset, of_first, float(of_first.get("noise", SIGMA)))
        root = np.linalg.cholesky(covariance)
        whitened = np.linalg.solve(root, (output[own] - mean).T)
        np.testing.assert_allclose(whitened.mean(axis=1), 0, atol=0.056)
        np.testing.assert_allclose(np.cov(whitened), np.eye(UNITS + 1), atol=0.08)


@pytest.mark.parametrize("stated", [SAMPLED, LEARNED], ids=["stated noise", "learned noise"])
def test_all_else_stays_at_each_map(stated: dict[str, Any], dataset: Dataset) -> None:
    model, begin = begun(stated, dataset)
    drawn = (
        LastLayer(kind="last_layer", modes=2, draws=5).sample(jax.random.key(3), begin).positions
    )
    left = np.asarray(model.sampled.left)
    np.testing.assert_array_equal(drawn[:, left], np.asarray(begin.maps)[[0, 0, 0, 1, 1]][:, left])
    out = np.delete(np.arange(model.density.size), left)
    assert len(out) == UNITS + 1
    assert all(len(np.unique(drawn[:, place])) == 5 for place in out)


def test_positions_are_those_of_the_model_that_was_pretrained(dataset: Dataset) -> None:
    """The same names, and the same density up to rounding."""
    plain = builder.build_model(ModelJob.model_validate(SAMPLED), dataset)
    model, begin = begun(SAMPLED, dataset)
    for position in begin.maps:
        np.testing.assert_allclose(
            model.logdensity_fn(position), plain.logdensity_fn(position), rtol=1e-12
        )
        one, other = (builder.name_variables(m, position).values for m in (model, plain))
        for name, value in one.items():
            np.testing.assert_array_equal(value, other[name])


def test_what_cannot_be_drawn_is_refused_with_a_remedy(dataset: Dataset) -> None:
    model = builder.build_model(ModelJob.model_validate(SAMPLED), dataset)
    sampled = builder.approach(model, dataset, [np.zeros(model.density.size)])
    with refused("inference.output_not_integrated"):
        LastLayer(kind="last_layer", modes=1, draws=4).sample(jax.random.key(0), sampled)
    with refused("inference.maps_for_modes", maps=1, modes=2):
        LastLayer(kind="last_layer", modes=2, draws=4).sample(jax.random.key(0), sampled)
    with refused("model.noise_not_gaussian", received="laplace"):
        begun({**SAMPLED, "likelihood": {"kind": "laplace", "sigma": 0.1}}, dataset)
