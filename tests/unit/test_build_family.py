"""Models of classes, of several targets and of robust noise, built from presets."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, log_softmax

from nlobayes import builder
from nlobayes.builder import Model
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.refusals import refused

BERNOULLI = {"kind": "bernoulli", "temperature": 0.7}
CATEGORICAL = {"kind": "categorical", "temperature": 0.7}
LEARNED = {"kind": "gaussian", "sigma": None}
HETEROSCEDASTIC = {"kind": "heteroscedastic", "scale": 0.3}


def make_model(
    dataset: Dataset,
    likelihood: dict[str, Any],
    prior: dict[str, Any] | None = None,
    **network: Any,
) -> Model:
    job = model_job(*network.pop("hidden", (4,)), prior=prior, likelihood=likelihood, **network)
    return builder.build_model(job, dataset)


def in_classes(dataset: Dataset, classes: int) -> Dataset:
    target = np.random.default_rng(1).integers(0, classes, len(dataset.target)).astype(float)
    labels = {"target": dataset.transforms["target"] | {"labels": tuple(range(classes))}}
    return dataset._replace(target=target, transforms=dataset.transforms | labels)


@pytest.fixture(scope="module")
def pair(dataset: Dataset) -> Dataset:
    """Two targets."""
    both = np.column_stack([dataset.target, np.random.default_rng(2).normal(size=60)])
    return dataset._replace(target=both, target_names=("sigma_pb", "other"))


def output_of(model: Model, position: jax.Array, dataset: Dataset, split: int) -> np.ndarray:
    features = jnp.asarray(dataset.features[dataset.split == split])
    return np.asarray(builder.predict_with(model)(position, features))


@pytest.mark.parametrize(
    ("likelihood", "classes", "outputs"), [(BERNOULLI, 2, 1), (CATEGORICAL, 3, 3)]
)
@pytest.mark.by_day(1)
def test_curvature_of_linear_classes_is_their_hessian(
    dataset: Dataset, likelihood: dict[str, Any], classes: int, outputs: int
) -> None:
    """Logits are the canonical outputs, so Gauss-Newton is exact."""
    labelled = in_classes(dataset, classes)
    model = make_model(labelled, likelihood, hidden=())
    assert model.network.sizes == (5, outputs)
    position = model.density.draw_prior(3)
    curvature = builder.curvature_with(model, labelled)(position)
    hessian = -jax.hessian(model.logdensity_fn)(position)
    np.testing.assert_allclose(curvature, hessian, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_curvature_of_two_targets_is_their_hessian(pair: Dataset) -> None:
    """In the weights; the noise of each target its own."""
    model = make_model(pair, LEARNED, hidden=())
    position = model.density.draw_prior(4)
    curvature = builder.curvature_with(model, pair)(position)
    hessian = -jax.hessian(model.logdensity_fn)(position)
    np.testing.assert_allclose(curvature[:12, :12], hessian[:12, :12], rtol=1e-9, atol=1e-9)
    assert (hessian[:6, :6] != 0).any()


@pytest.mark.parametrize("family", ["cauchy", "student_t"])
@pytest.mark.by_day(1)
def test_curvature_is_positive_where_the_prior_bends_the_other_way(
    dataset: Dataset, family: str
) -> None:
    """In the tails of a Cauchy or a Student-t law the log density is convex."""
    model = make_model(dataset, {"kind": "student_t"}, {"kind": family})
    position = 3 * jnp.ones(model.density.size)
    own = -jnp.diag(jax.hessian(model.density.log_prior)(position))
    assert own.min() < 0
    curvature = builder.curvature_with(model, dataset)(position)
    assert np.linalg.eigvalsh(curvature).min() > 0.0099


def test_misfit_is_that_of_the_centre(dataset: Dataset, pair: Dataset) -> None:
    """Of a heteroscedastic model the first output, of two targets both."""
    model = make_model(dataset, HETEROSCEDASTIC)
    position = model.density.draw_prior(5)
    output = output_of(model, position, dataset, 1)
    assert output.shape == (15, 2)
    residual = output[:, 0] - dataset.target[dataset.split == 1]
    found = builder.build_problem(model).misfit(position, builder.rows_of(model, dataset, 1))
    np.testing.assert_allclose(found, np.sqrt(np.mean(residual**2)), rtol=1e-12)
    model = make_model(pair, LEARNED)
    position = model.density.draw_prior(6)
    residual = output_of(model, position, pair, 1) - pair.target[pair.split == 1]
    found = builder.build_problem(model).misfit(position, builder.rows_of(model, pair, 1))
    np.testing.assert_allclose(found, np.sqrt(np.mean(residual**2)), rtol=1e-12)


def test_misfit_of_classes_is_their_log_loss(dataset: Dataset) -> None:
    labelled = in_classes(dataset, 3)
    model, here = make_model(labelled, CATEGORICAL), labelled.split == 1
    position = model.density.draw_prior(7)
    log_p = log_softmax(output_of(model, position, labelled, 1) / 0.7, axis=1)
    loss = -log_p[np.arange(15), labelled.target[here].astype(int)].mean()
    found = builder.build_problem(model).misfit(position, builder.rows_of(model, labelled, 1))
    np.testing.assert_allclose(found, loss, rtol=1e-12)


def test_observed_are_logits_of_classes_and_the_mean_noise_of_targets(
    dataset: Dataset, pair: Dataset
) -> None:
    labelled = in_classes(dataset, 2)
    model = make_model(labelled, BERNOULLI)
    position, points = model.density.draw_prior(8), jnp.asarray(dataset.features[dataset.reference])
    observed = builder.observer(model, labelled)(position)
    logits = builder.predict_with(model)(position, points) / 0.7
    np.testing.assert_allclose(observed["f"], logits, rtol=1e-12)
    given = builder.predict_with(model)(position, points)
    likelihood: Any = model.likelihood
    probabilities = likelihood.probabilities(given, np)
    np.testing.assert_allclose(probabilities[:, 1], expit(logits), rtol=1e-12)
    model = make_model(pair, LEARNED)
    position = model.density.draw_prior(9)
    observed = builder.observer(model, pair)(position)
    assert observed["f"].shape == (6, 2)
    noise = model.density.variables(position)["noise"]
    assert noise.shape == (2,)
    np.testing.assert_allclose(observed["noise"], np.sqrt(noise[0] * noise[1]), rtol=1e-12)


def test_each_layer_has_its_own_activation_and_slopes(dataset: Dataset) -> None:
    prior = {"kind": "fan_in", "slopes": {"kind": "normal"}}
    model = make_model(dataset, LEARNED, prior, hidden=(4, 3), activation=("prelu", "tanh"))
    variables = model.density.variables(model.density.draw_prior(1))
    assert variables["slopes_1"].shape == (4,)
    assert "slopes_2" not in variables


def test_bernoulli_of_three_classes_is_refused(dataset: Dataset) -> None:
    with refused("model.not_two_classes", classes=3):
        make_model(in_classes(dataset, 3), BERNOULLI)


@pytest.mark.parametrize(("likelihood", "needed"), [(HETEROSCEDASTIC, 2), (LEARNED, 1)])
def test_outputs_that_do_not_fit_are_refused(
    dataset: Dataset, likelihood: dict[str, Any], needed: int
) -> None:
    with refused("builder.other_outputs", outputs=3, needed=needed):
        make_model(dataset, likelihood, outputs=3)
    assert make_model(dataset, likelihood, outputs=needed).network.sizes[-1] == needed
