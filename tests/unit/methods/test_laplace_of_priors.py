"""Laplace's approximation beside earlier data and correlated priors, against exact posteriors."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from nlobayes import builder
from nlobayes.data.splits import TRAIN, UNUSED
from nlobayes.inference import gaussians as gaussian
from nlobayes.inference.evidence import maximise_evidence
from nlobayes.methods.laplace import Laplace
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, EarlierData
from tests.jobs import model_job
from tests.refusals import refused
from tests.unit.commands.linear import design
from tests.unit.methods.conftest import covariance_of, solve

SIGMA, ROWS, COMBINATIONS, POINTS = 0.3, 8, 4, 6
CORRELATION = 0.9
CUSTOM = """
import numpy as np
import pymc as pm


def correlated(parameters):
    if parameters.role == "biases":
        return pm.Normal(parameters.name, 0, 1, dims=parameters.dims)
    size = parameters.fan_in
    covariance = {correlation} * np.ones((size, size)) + {rest} * np.eye(size)
    {law}
    pm.Deterministic(parameters.name, flat.reshape((size, 1)), dims=parameters.dims)


def learned_mean(parameters):
    mean = pm.Normal("mean_" + parameters.name, 0, {correlation} ** 0.5)
    pm.Normal(parameters.name, mean, {rest} ** 0.5, dims=parameters.dims)
"""
NORMAL = "flat = pm.MvNormal(parameters.name + '_flat', np.zeros(size), covariance)"
HEAVY = "flat = pm.MvStudentT(parameters.name + '_flat', nu=1, mu=np.zeros(size), scale=covariance)"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own, which has the files of the user."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def few_rows(dataset: Dataset) -> Dataset:
    split = np.full_like(dataset.split, UNUSED)
    split[np.flatnonzero(dataset.split == TRAIN)[:ROWS]] = TRAIN
    return dataset._replace(split=split)


def earlier_of(dataset: Dataset) -> EarlierData:
    """Combinations of f at the first points."""
    rng, target = np.random.default_rng(1), dataset.transforms["target"]
    root = 3 * rng.normal(size=(COMBINATIONS, POINTS)) / target["sd"]
    return EarlierData(
        inputs=dataset.inputs[:POINTS],
        root=root,
        observed=rng.normal(size=COMBINATIONS) + root.sum(axis=1) * target["mean"],
        input_names=dataset.input_names,
        target=dataset.target_names[0],
        units=dataset.units,
        scale=target["scale"],
    )


def custom(function: str, law: str = NORMAL) -> dict[str, Any]:
    source = CUSTOM.format(correlation=CORRELATION, rest=1 - CORRELATION, law=law)
    Path("mine.py").write_text(source)
    return {"kind": "custom", "file": "mine.py", "function": function}


def job(
    prior: dict[str, Any], hidden: tuple[int, ...] = (), sigma: float | None = SIGMA
) -> ModelJob:
    likelihood = {"kind": "gaussian", "sigma": sigma, **({} if sigma else {"scale": 1.0})}
    return model_job(*hidden, prior=prior, likelihood=likelihood)


def exact(
    dataset: Dataset, prior: np.ndarray, earlier: EarlierData | None, sigma: float = SIGMA
) -> tuple[np.ndarray, float]:
    """Give the covariance of f at the first points, and the log evidence, by linear regression.

    Train rows and combinations are rows of unit noise. Those of earlier data multiply the prior by
    exp(-r^2 / 2), which is no density of the combination.
    """
    every, train = design(dataset), dataset.split == TRAIN
    rows, target = every[train] / sigma, dataset.target[train] / sigma
    constant = -ROWS * np.log(sigma)
    if earlier is not None:
        constants = dataset.transforms["target"]
        observed = earlier.observed - earlier.root.sum(axis=1) * constants["mean"]
        rows = np.vstack([rows, constants["sd"] * earlier.root @ every[:POINTS]])
        target = np.append(target, observed)
        constant += COMBINATIONS * np.log(2 * np.pi) / 2
    given = np.linalg.inv(rows.T @ rows + np.linalg.inv(prior))
    marginal = np.eye(len(rows)) + rows @ prior @ rows.T
    evidence = multivariate_normal(cov=marginal).logpdf(target) + constant
    return every[:POINTS] @ given @ every[:POINTS].T, float(evidence)


@pytest.mark.parametrize(
    ("function", "has_earlier"),
    [("", True), ("correlated", False), ("correlated", True), ("learned_mean", False)],
)
@pytest.mark.by_day(2)
def test_laplace_of_a_linear_network_is_exact(
    function: str, has_earlier: bool, dataset: Dataset, root: Path
) -> None:
    """Covariance of f and log evidence; other forms leave out what they state."""
    dataset, size = few_rows(dataset), dataset.features.shape[1]
    weights = CORRELATION * np.ones((size, size)) + (1 - CORRELATION) * np.eye(size)
    prior = block_diag(weights if function else np.eye(size) / size, 1)
    earlier = earlier_of(dataset) if has_earlier else None
    settings = custom(function) if function else {"kind": "fan_in"}
    model = builder.build_model(job(settings), dataset, earlier)
    begin = builder.approach(model, dataset, [solve(model).mean])
    predict, points = builder.predict_with(model), jnp.asarray(dataset.features[:POINTS])
    slopes = np.asarray(jax.jit(jax.jacobian(predict))(begin.starts[0], points))
    expected, evidence = exact(dataset, prior, earlier)
    forms, top = begin.gauss_newton, begin.starts[0]
    found = covariance_of(gaussian.full(forms, top, ""))
    np.testing.assert_allclose(slopes @ found @ slopes.T, expected, rtol=1e-6)
    for predictive in ("sampled", "linearised"):
        method = Laplace(kind="laplace", modes=1, draws=2, predictive=predictive)
        facts = method.sample(jax.random.key(0), begin).of_starts
        np.testing.assert_allclose(facts["log_evidence"], [evidence], rtol=1e-8)
    precision, rank = np.linalg.inv(found), len(top) - 1
    np.testing.assert_allclose(forms.diagonal(top), np.diag(precision), rtol=1e-6)
    sd = 1 / np.sqrt(np.asarray(forms.prior(top)))
    values, vectors = np.linalg.eigh(sd[:, None] * precision * sd - np.eye(len(top)))
    left = int(np.abs(values).argmin())  # the direction that stays as wide as the prior
    values[left] = 0
    kept = sd[:, None] * (vectors / (1 + values)) @ vectors.T * sd
    np.testing.assert_allclose(covariance_of(gaussian.low_rank(forms, top, rank)), kept, atol=1e-8)


def test_sigma_of_highest_evidence_beside_earlier_data_is_exact(dataset: Dataset) -> None:
    """With its half-normal prior of scale 1, as a density of log sigma."""
    dataset, size = few_rows(dataset), dataset.features.shape[1]
    earlier, prior = earlier_of(dataset), block_diag(np.eye(size) / size, 1)
    model = builder.build_model(job({"kind": "fan_in"}, sigma=None), dataset, earlier)
    begin = builder.approach(model, dataset, [np.zeros(model.density.size)])
    found = maximise_evidence(begin, begin.starts[0]).position[model.density.places["noise"]]

    def minus(log_sigma: float) -> float:
        sigma = float(np.exp(log_sigma))
        return sigma**2 / 2 - log_sigma - exact(dataset, prior, earlier, sigma)[1]

    expected = minimize_scalar(minus, bounds=(-3, 2), method="bounded").x
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.slow
def test_forms_of_a_network_beside_earlier_data_agree(dataset: Dataset) -> None:
    """J' J / sigma^2 + K' K + 1, with the Jacobian K of the combinations in their units."""
    earlier, position = earlier_of(dataset), 0.5 * jnp.sin(jnp.arange(22.0))
    model = builder.build_model(job({"kind": "fan_in"}, (3,)), dataset, earlier)
    forms = builder.approach(model, dataset, [np.asarray(position)]).gauss_newton
    slopes = jax.jit(jax.jacobian(builder.predict_with(model)))(
        position, jnp.asarray(dataset.features)
    )
    rows = slopes[dataset.split == TRAIN] / SIGMA
    combined = dataset.transforms["target"]["sd"] * earlier.root @ slopes[:POINTS]
    expected = rows.T @ rows + combined.T @ combined + np.eye(position.size)
    vector = jnp.arange(1.0, position.size + 1)
    np.testing.assert_allclose(forms.dense(position), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(forms.diagonal(position), np.diag(expected), rtol=1e-8)
    np.testing.assert_allclose(forms.product(position)(vector), expected @ vector, rtol=1e-8)
    np.testing.assert_allclose(forms.prior(position), 1)


@pytest.mark.parametrize("form", ["full", "low_rank"])
def test_a_tail_of_a_correlated_prior_has_no_gaussian(
    form: Any, dataset: Dataset, root: Path
) -> None:
    """Far out the log density of a multivariate Student-t curves upwards."""
    dataset = few_rows(dataset)._replace(split=np.where(np.arange(60) == 0, TRAIN, UNUSED))
    model = builder.build_model(job(custom("correlated", HEAVY)), dataset)
    far = builder.approach(model, dataset, [np.full(model.density.size, 10.0)])
    with refused("inference.curvature_not_positive"):
        gaussian.gaussian_about(far.gauss_newton, far.starts[0], form, model.density.size - 1)
