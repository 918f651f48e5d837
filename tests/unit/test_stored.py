"""What a model says of stored draws: against densities by hand, and against what was sampled."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from nlobayes import builder
from nlobayes.builder.stored import components, log_ratios
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, NamedArrays
from tests.jobs import model_job
from tests.refusals import refused

Values = Mapping[str, np.ndarray]

FAN_IN = {"kind": "fan_in", "scale": 1.3, "bias_scale": 0.7, "output_bias_scale": 0.4}
TOLERANCE = {"kind": "gaussian", "sigma": 0.3}
LEARNED_T = {"kind": "student_t", "scale": 0.6, "degrees_of_freedom": None}
LEARNED = {"kind": "gaussian", "sigma": None, "scale": 0.6}
TENSORBNN = {"kind": "tensorbnn", "mean_sd": 0.2, "scale_mean": 0.3, "scale_sd": 0.6}
SLOPES = {"kind": "exponential", "rate": None, "hyper_rate": 0.7}
NORMAL_SLOPES = {"slopes": {"kind": "normal", "mean": 0.2, "sd": 0.3}}
INDEPENDENT = ("fan_in", "gaussian", "laplace", "cauchy", "student_t")


def hierarchical(hyper: Mapping[str, Any], shared: str = "layer") -> dict[str, Any]:
    return {"kind": "hierarchical", "hyper": dict(hyper), "shared": shared}


HYPER = {
    "half_normal": {"kind": "half_normal", "scale": 0.7},
    "half_cauchy": {"kind": "half_cauchy", "scale": 0.7},
    "gamma_precision": {"kind": "gamma_precision", "shape": 2.3, "rate": 0.7},
}
HORSESHOE = {"kind": "horseshoe", "global_scale": 0.3, "slab_degrees": 4.6, "bias_scale": 0.6}
PRIORS: dict[str, dict[str, Any]] = {
    "fan_in": FAN_IN,
    "gaussian": {"kind": "gaussian", "precision": 4.0, "bias_precision": 9.0},
    "laplace": {**FAN_IN, "kind": "laplace"},
    "cauchy": {**FAN_IN, "kind": "cauchy"},
    "student_t": {**FAN_IN, "kind": "student_t", "degrees_of_freedom": 1.7},
    **{
        f"{name}, {shared}": hierarchical(HYPER[name], shared)
        for name in HYPER
        for shared in ("layer", "network")
    },
    "horseshoe": HORSESHOE,
    "tensorbnn": TENSORBNN,
}
MODELS: dict[str, dict[str, Any]] = {
    **{name: {"prior": prior} for name, prior in PRIORS.items()},
    "normal slopes": {"prior": FAN_IN | NORMAL_SLOPES, "activation": "prelu"},
    "learned slopes": {"prior": FAN_IN | {"slopes": SLOPES}, "activation": "prelu"},
    "tensorbnn slopes": {"prior": FAN_IN | {"slopes": {"kind": "tensorbnn"}},
                         "activation": "square_prelu"},
    "learned noise": {"likelihood": LEARNED},
    "learned degrees": {"likelihood": LEARNED_T},
    "heteroscedastic": {"likelihood": {"kind": "heteroscedastic", "scale": 0.3}},
}  # fmt: skip


OF_ALL_KINDS = {
    *("fan_in", "student_t", "half_cauchy, layer", "gamma_precision, network", "horseshoe"),
    *("tensorbnn", "learned slopes", "learned degrees"),
}


def job(**changes: Any) -> ModelJob:
    return model_job(2, **{"prior": FAN_IN, "likelihood": TOLERANCE, **changes})


def draws_of(asked: ModelJob, dataset: Dataset) -> tuple[builder.Model, np.ndarray, NamedArrays]:
    """Draw six positions of what is sampled from the prior, and name them: two chains of three."""
    model = builder.build_model(asked, dataset)
    drawn = np.stack([model.density.draw_prior(seed) for seed in range(6)])
    named = jax.jit(jax.vmap(model.density.variables))(drawn)
    values = {
        name: np.asarray(value).reshape(2, 3, *value.shape[1:]) for name, value in named.items()
    }
    return model, drawn, NamedArrays(values, model.density.dims, model.density.coords)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in OF_ALL_KINDS else pytest.mark.slow) for n in MODELS]
)
@pytest.mark.by_day(3)
def test_the_density_of_named_draws_is_the_sampled_one_over_the_jacobian(
    dataset: Dataset, name: str
) -> None:
    """From the sampled position to the variables, and to the position without whitening."""
    asked = job(**MODELS[name])
    model, drawn, stored = draws_of(asked, dataset)
    plain = builder.build_model(asked, dataset, non_centered=False).density
    found = components(asked, dataset, stored)

    def move(position: jax.Array) -> jax.Array:
        return plain.locate(model.density.variables(position))

    def compare(position: jax.Array) -> dict[str, Any]:
        moved = move(position)
        stretch = jnp.linalg.slogdet(jax.jit(jax.jacfwd(move))(position))[1]
        return {
            "variables": (plain.variables(moved), model.density.variables(position)),
            "prior": (plain.log_prior(moved), model.density.log_prior(position) - stretch),
            "likelihood": model.density.log_likelihood(position, model.data),
        }

    compared = jax.jit(lambda positions: jax.lax.map(compare, positions))(drawn)
    back, expected = compared["variables"]
    for variable, value in expected.items():
        np.testing.assert_allclose(back[variable], value, rtol=1e-9, atol=1e-12)
    prior, sampled = compared["prior"]
    np.testing.assert_allclose(prior, sampled, rtol=1e-8, atol=1e-8)
    likelihood = compared["likelihood"].reshape(2, 3)
    np.testing.assert_allclose(found.log_likelihood, likelihood, rtol=1e-8)
    if name in INDEPENDENT:
        np.testing.assert_allclose(found.log_prior, sampled.reshape(2, 3), rtol=1e-9)


@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.by_day(2)
def test_whitening_of_independent_priors_is_a_constant(dataset: Dataset, name: str) -> None:
    asked = job(prior=PRIORS[name])
    model, drawn, stored = draws_of(asked, dataset)
    sampled = np.asarray(jax.jit(jax.vmap(model.density.log_prior))(jnp.asarray(drawn))).reshape(
        2, 3
    )
    apart = components(asked, dataset, stored).log_prior - sampled
    np.testing.assert_allclose(apart, apart[0, 0], rtol=1e-9)
    assert np.ptp(sampled) > 1


def normal_layers(values: Values, scales: Mapping[str, Any], mean: Values | None = None) -> Any:
    """Sum the log densities of arrays (chain, draw, ...) with these sds."""
    total = 0.0
    for name, scale in scales.items():
        array = values[name].reshape(2, 3, -1)
        centre = 0.0 if mean is None else mean[name][..., np.newaxis]
        sd = np.asarray(scale)
        sd = sd.reshape(2, 3, -1) if sd.ndim > 1 else sd
        total = total + stats.norm.logpdf(array, centre, sd).sum(axis=2)
    return total


ARRAYS = ("weights_1", "biases_1", "weights_2", "biases_2")


def by_hand_fan_in(values: Values) -> Any:
    scales = (1.3 / 5**0.5, 0.7, 1.3 / 2**0.5, 0.4)
    return normal_layers(values, dict(zip(ARRAYS, scales, strict=True)))


def by_hand_student_t(values: Values) -> Any:
    """nu = 1.7 < 2: weights are scaled by fan_in^(1/nu)."""
    scales = (1.3 / 5 ** (1 / 1.7), 0.7, 1.3 / 2 ** (1 / 1.7), 0.4)
    laws = (stats.t.logpdf(values[n].reshape(2, 3, -1), 1.7, scale=s).sum(axis=2)
            for n, s in zip(ARRAYS, scales, strict=True))  # fmt: skip
    return sum(laws)


def by_hand_hierarchical(hyper: Callable[[Values, str], Any], *groups: str) -> Any:
    def log_prior(values: Values) -> Any:
        first, biases, second = (values[f"scale_{group}"] for group in groups)
        scales = (first / 5**0.5, biases, second / 2**0.5, 1.0)
        learned = sum(hyper(values, group) for group in dict.fromkeys(groups))
        return learned + normal_layers(values, dict(zip(ARRAYS, scales, strict=True)))

    return log_prior


def by_hand_horseshoe(values: Values) -> Any:
    total = normal_layers(values, {"biases_1": 0.6, "biases_2": 1.0})
    for name, fan_in in (("weights_1", 5), ("weights_2", 2)):
        local, shared = values[f"local_{name}"], values[f"global_{name}"]
        slab = values[f"slab_{name}"]
        total += stats.halfcauchy.logpdf(local).reshape(2, 3, -1).sum(axis=2)
        total += stats.halfcauchy.logpdf(shared, scale=0.3)
        total += stats.invgamma.logpdf(slab, 2.3, scale=2.3 * 2.0**2)
        wide = (axis[..., None, None] for axis in (shared, slab))
        t, c2 = wide
        scale = t * np.sqrt(c2 * local**2 / (c2 + t**2 * local**2) / fan_in)
        total += normal_layers(values, {name: scale})
    return total


def by_hand_tensorbnn(values: Values) -> Any:
    total, means = 0.0, {name: values[f"mean_{name}"] for name in ARRAYS}
    scales = {name: values[f"scale_{name}"] for name in ARRAYS}
    for name in ARRAYS:
        total = total + stats.norm.logpdf(means[name], scale=0.2)
        total += stats.truncnorm.logpdf(scales[name], -0.5, np.inf, loc=0.3, scale=0.6)
    return total + normal_layers(values, scales, means)


def by_hand_learned(values: Values) -> Any:
    """Noise half-normal, degrees of freedom 2 + Gamma(2, 0.1)."""
    learned = stats.halfnorm.logpdf(values["noise"], scale=0.6)
    learned += stats.gamma.logpdf(values["degrees_of_freedom"] - 2, 2.0, scale=10)
    return learned + by_hand_fan_in(values)


LAYERS, SHARED = ("weights_1", "biases_1", "weights_2"), ("weights", "biases", "weights")
BY_HAND: dict[str, tuple[dict[str, Any], Callable[[Values], Any]]] = {
    "fan_in": ({}, by_hand_fan_in),
    "student_t": ({"prior": PRIORS["student_t"]}, by_hand_student_t),
    "half_normal, layer": (
        {"prior": PRIORS["half_normal, layer"]},
        by_hand_hierarchical(
            lambda v, g: stats.halfnorm.logpdf(v[f"scale_{g}"], scale=0.7), *LAYERS
        ),
    ),
    "half_cauchy, network": (
        {"prior": PRIORS["half_cauchy, network"]},
        by_hand_hierarchical(
            lambda v, g: stats.halfcauchy.logpdf(v[f"scale_{g}"], scale=0.7), *SHARED
        ),
    ),
    "gamma_precision, layer": (
        {"prior": PRIORS["gamma_precision, layer"]},
        by_hand_hierarchical(
            lambda v, g: stats.gamma.logpdf(v[f"precision_{g}"], 2.3, scale=1 / 0.7), *LAYERS
        ),
    ),
    "horseshoe": ({"prior": HORSESHOE}, by_hand_horseshoe),
    "tensorbnn": ({"prior": TENSORBNN}, by_hand_tensorbnn),
    "learned": ({"likelihood": LEARNED_T}, by_hand_learned),
}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.by_day(3)
def test_the_log_prior_is_that_of_the_named_variables(dataset: Dataset, name: str) -> None:
    """Without Jacobians: the density of a scale, not of its logarithm."""
    changes, by_hand = BY_HAND[name]
    asked = job(**changes)
    _, _, stored = draws_of(asked, dataset)
    found = components(asked, dataset, stored).log_prior
    np.testing.assert_allclose(found, by_hand(stored.values), rtol=0, atol=1e-6)


def outputs(values: Values, dataset: Dataset) -> np.ndarray:
    """The network at the train rows (chain, draw, point)."""
    x = dataset.features[dataset.split == 0]
    hidden = np.tanh(x @ values["weights_1"] + values["biases_1"][..., None, :])
    return (hidden @ values["weights_2"])[..., 0] + values["biases_2"]


LIKELIHOODS: dict[str, tuple[dict[str, Any], Callable[[Values, Any], Any]]] = {
    "tolerance": (TOLERANCE, lambda v, r: stats.norm.logpdf(r, scale=0.3)),
    "learned noise": (LEARNED, lambda v, r: stats.norm.logpdf(r, scale=v["noise"][..., None])),
    "student_t": (
        {"kind": "student_t", "sigma": 0.3, "degrees_of_freedom": 4.0},
        lambda v, r: stats.t.logpdf(r, 4, scale=0.3),
    ),
    "learned degrees": (
        LEARNED_T,
        lambda v, r: stats.t.logpdf(
            r, v["degrees_of_freedom"][..., None], scale=v["noise"][..., None]
        ),
    ),
    "laplace": ({"kind": "laplace", "sigma": 0.3}, lambda v, r: stats.laplace.logpdf(r, scale=0.3)),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
@pytest.mark.by_day(2)
def test_the_log_likelihood_is_that_of_the_train_rows(dataset: Dataset, name: str) -> None:
    likelihood, by_hand = LIKELIHOODS[name]
    asked = job(likelihood=likelihood)
    _, _, stored = draws_of(asked, dataset)
    residual = dataset.target[dataset.split == 0] - outputs(stored.values, dataset)
    expected = by_hand(stored.values, residual).sum(axis=2)
    found = components(asked, dataset, stored).log_likelihood
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_ratio_of_two_models_is_that_of_their_densities(dataset: Dataset) -> None:
    _, _, stored = draws_of(job(), dataset)
    laplace = {"kind": "laplace", "sigma": 0.2}
    found = log_ratios(job(), job(prior=PRIORS["student_t"], likelihood=laplace), dataset, stored)
    residual = dataset.target[dataset.split == 0] - outputs(stored.values, dataset)
    likelihood = stats.laplace.logpdf(residual, scale=0.2) - stats.norm.logpdf(residual, scale=0.3)
    prior = by_hand_student_t(stored.values) - by_hand_fan_in(stored.values)
    np.testing.assert_allclose(found, prior + likelihood.sum(axis=2), rtol=1e-9)


HALF_NORMAL = {"prior": hierarchical(HYPER["half_normal"])}
SCALES = ["scale_biases_1", "scale_weights_1", "scale_weights_2"]
NOT_DRAWN, OTHER = "builder.variables_not_drawn", "builder.other_variables"


@pytest.mark.parametrize(
    ("old", "new", "code", "fields"),
    [
        ({}, HALF_NORMAL, NOT_DRAWN, {"missing": SCALES}),
        (HALF_NORMAL, {}, OTHER, {"apart": SCALES}),
        (HALF_NORMAL, {"prior": hierarchical(HYPER["half_normal"], "network")},
         NOT_DRAWN, {"missing": ["scale_biases", "scale_weights"]}),
        ({}, {"likelihood": LEARNED}, NOT_DRAWN, {"missing": ["noise"]}),
        ({"likelihood": LEARNED}, {}, OTHER, {"apart": ["noise"]}),
        ({}, {"likelihood": {"kind": "heteroscedastic"}},
         "builder.other_size", {"variable": "weights_2", "received": 2, "expected": 4}),
    ],
)  # fmt: skip
@pytest.mark.by_day(2)
def test_models_of_other_variables_are_refused_by_their_names(
    dataset: Dataset, old: dict[str, Any], new: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    _, _, stored = draws_of(job(**old), dataset)
    with refused(code, **fields):
        log_ratios(job(**old), job(**new), dataset, stored)
