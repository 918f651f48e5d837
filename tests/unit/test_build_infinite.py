"""The model of a network of infinite width: its density, its search for a mode, its functions."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.likelihoods._scaled import ABOVE
from nlobayes.model.infinite import INPUTS, covariance, scaled_inputs, scales_of, warp_of
from nlobayes.model.likelihood import NOISE
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.refusals import refused
from tests.rows import dataset_of

ROWS, TRAIN = 40, 30
JOB = model_job(
    prior={"kind": "scales", "cosines": {"kind": "log_normal"}},
    likelihood={"kind": "gaussian", "sigma": None, "scale": 0.1, "log_sd": 1.0, "floor": 1e-3},
    width="infinite",
    activation="erf",
)


@cache
def made(targets: int = 1) -> tuple[builder.Model, Dataset]:
    """Rows of two inputs, one of them positive, and the model on the first of them."""
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(6)
    x = np.column_stack([rng.gamma(2.0, size=ROWS), rng.normal(size=ROWS)])
    mean, scale = x[:TRAIN].mean(axis=0), x[:TRAIN].std(axis=0)
    z = (x - mean) / scale
    target = np.sin(z[:, 0]) + 0.1 * rng.normal(size=ROWS)
    if targets > 1:
        target = np.column_stack([target, np.cos(z[:, 1]) + 0.3 * rng.normal(size=ROWS)])
    plain = dataset_of(x, target, target_names=("y", "z")[:targets])
    constants = {"map": "raw", "mean": mean.tolist(), "scale": scale.tolist()}
    dataset = plain._replace(
        features=z,
        split=np.where(np.arange(ROWS) < TRAIN, 0, 1),
        transforms={**plain.transforms, "features": constants},
    )
    return builder.build_model(JOB, dataset), dataset


@pytest.mark.parametrize("targets", [1, 2])
def test_its_log_density_is_that_of_pymc(targets: int) -> None:
    model, dataset = made(targets)
    position = model.density.draw_prior(3)
    stated = builder.pymc_model(JOB, dataset)
    names = [value.name for value in stated.value_vars]
    values = dict(zip(names, map(np.asarray, model.density.unravel(position)), strict=True))
    expected = float(stated.compile_logp()(values))
    assert float(model.logdensity_fn(position)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("targets", [1, 2])
def test_the_by_product_of_its_density_gives_the_same_f(targets: int) -> None:
    model, dataset = made(targets)
    position, observe = model.density.draw_prior(3), builder.observer(model, dataset)
    assert model.sampled.with_by_product is not None
    log_density, weights = model.sampled.with_by_product(position)
    assert float(log_density) == pytest.approx(float(model.logdensity_fn(position)), rel=1e-12)
    found, expected = observe(position, weights), observe(position)
    np.testing.assert_allclose(found["f"], expected["f"], rtol=1e-9)
    np.testing.assert_array_equal(found[NOISE], expected[NOISE])


def test_several_targets_share_scales_and_are_independent_given_these() -> None:
    """Density and mean are those of each target alone, at its noise."""
    both, dataset = made(2)
    position = both.density.draw_prior(3)
    variables, features = both.density.variables(position), dataset.features[TRAIN:]
    mean = builder.predict_with(both)(position, jnp.asarray(features))
    log_likelihood = 0.0
    for place in range(2):
        alone = dataset._replace(target=dataset.target[:, place], target_names=("y",))
        one = builder.build_model(JOB, alone, non_centered=False)
        own = {**variables, NOISE: variables[NOISE][place]}
        own[ABOVE] = jnp.sqrt(own[NOISE] ** 2 - 1e-6)
        at = one.density.locate(own)
        log_likelihood += float(one.density.log_likelihood(at, one.data))
        alone_mean = builder.predict_with(one)(at, jnp.asarray(features))
        np.testing.assert_allclose(mean[:, place], alone_mean, rtol=1e-9)
    found = float(both.density.log_likelihood(position, both.data))
    assert found == pytest.approx(log_likelihood, rel=1e-10)


def test_more_train_rows_than_it_can_hold_are_refused() -> None:
    many = dataset_of(np.zeros((5001, 2)), np.zeros(5001))
    with refused("builder.infinite_rows", rows=5001, most=5000):
        builder.build_model(JOB, many)


def test_the_search_finds_a_mode() -> None:
    model, dataset = made()
    preset = Pretraining.model_validate(
        {
            "epochs": 40,
            "batch": "full",
            "optimiser": {"kind": "lbfgs"},
            "learning_rate": 1.0,
            "schedule": {"kind": "constant"},
            "start": "best_of_prior",
            "start_draws": 5,
        }
    )
    fit, _ = builder.build_search(model, dataset, preset, seed=1)(0)
    slope = jax.jit(jax.grad(model.logdensity_fn))(fit.position)
    assert float(jnp.abs(slope).max()) < 0.05


def test_draws_of_the_prior_have_its_variance() -> None:
    """Of f over the prior's sd given the scales; 400 draws have an error of 7 % of the variance."""
    model, dataset = made()
    points = dataset.features[:3]
    drawn = builder.draw_functions(model, points, seed=2, draws=400)
    words = np.random.SeedSequence([2, 5]).generate_state(400)
    warp = warp_of(dataset.features[:TRAIN], dataset.transforms["features"])
    variances = []
    for word in words:
        variables = model.density.variables(model.density.draw_prior(int(word)))
        assert variables[INPUTS].shape == (2,)
        inputs = scaled_inputs(variables, jnp.asarray(points), warp, jnp)
        variances.append(np.diag(covariance("erf", inputs, inputs, scales_of(variables), np)))
    standard = drawn / np.sqrt(variances)
    np.testing.assert_allclose(standard.var(axis=0), 1, atol=0.3)
    np.testing.assert_array_equal(builder.draw_functions(model, points, seed=2, draws=3), drawn[:3])
