"""Networks whose units or layers are drawn: their model, where it stands, and what is refused."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import poisson

from nlobayes import builder
from nlobayes.builder.varying_architecture import architecture_of
from nlobayes.inference.jumps.jump import Chosen
from nlobayes.inference.jumps.moves import jumps_of
from nlobayes.inference.varying_part import Architecture
from nlobayes.model.varying_sizes import log_probabilities
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset

UNITS: dict[str, Any] = {
    "network": {
        "hidden": [5, 3],
        "activation": "tanh",
        "units": {"kind": "geometric", "ratio": 0.5, "fewest": 2},
    },
    "prior": {"kind": "fan_in", "scale": 1.4},
    "likelihood": {"kind": "gaussian", "sigma": 0.2},
    "precision": "float64",
}
DEPTH: dict[str, Any] = {
    **UNITS,
    "network": {"hidden": [3, 3, 3], "activation": "relu", "layers": {"kind": "uniform"}},
}


def build(job: dict[str, Any], dataset: Dataset) -> tuple[builder.Model, Architecture]:
    model = builder.build_model(ModelJob.model_validate(job), dataset)
    architecture = architecture_of(model.network, model.density, model.varying)
    assert architecture is not None
    return model, architecture


@pytest.fixture(scope="module")
def of_units(dataset: Dataset) -> tuple[builder.Model, Architecture]:
    return build(UNITS, dataset)


@pytest.fixture(scope="module")
def of_depth(dataset: Dataset) -> tuple[builder.Model, Architecture]:
    return build(DEPTH, dataset)


def draws(model: builder.Model, count: int = 200) -> np.ndarray:
    return np.stack([np.asarray(model.density.draw_prior(seed)) for seed in range(count)])


def test_log_probabilities_are_those_of_the_cut_laws() -> None:
    found = np.exp(log_probabilities("poisson", 1, 6, mean=2.0))
    exact = poisson(2.0).pmf(np.arange(7)) * (np.arange(7) >= 1)
    np.testing.assert_allclose(found, exact / exact.sum(), rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_probabilities("uniform", 2, 4)), [0, 0, *[1 / 3] * 3])
    geometric = np.exp(log_probabilities("geometric", 0, 2, ratio=0.5))
    np.testing.assert_allclose(geometric, np.array([4, 2, 1]) / 7, rtol=1e-12)


def test_prior_draws_are_architectures_of_the_prior(of_units: Any, of_depth: Any) -> None:
    model, architecture = of_units
    for units, most in zip(architecture.units, (5, 3), strict=True):
        used = draws(model)[:, units.used]
        assert set(np.unique(used)) <= {0.0, 1.0}
        assert (used.sum(axis=1).min(), used.sum(axis=1).max()) == (2, most)
    model, architecture = of_depth
    assert set(draws(model)[:, architecture.layers.count_at]) == {1.0, 2.0, 3.0}


def test_the_prior_of_the_indicators_counts_every_choice(of_units: Any) -> None:
    """A step from two of five units to three has 1/2 of the geometric law and ten choices each."""
    model, architecture = of_units
    first = architecture.units[0]
    position = model.density.draw_prior(1).at[first.used].set(jnp.array([1.0, 1, 0, 0, 0]))
    more = position.at[first.used[2]].set(1.0)
    prior = jax.jit(model.density.log_prior)
    np.testing.assert_allclose(prior(more) - prior(position), np.log(0.5 * 10 / 10), atol=1e-9)
    outside = position.at[first.used[:2]].set(0.0)
    assert prior(outside) == -np.inf


def test_units_not_in_use_are_seen_by_nobody(of_units: Any, dataset: Dataset) -> None:
    """The network is that of the units in use alone, evaluated by hand."""
    model, architecture = of_units
    position = np.asarray(model.density.draw_prior(4))
    named = builder.name_variables(model, jnp.asarray(position)).values
    used = [position[units.used] > 0.5 for units in architecture.units]
    hidden = dataset.features
    for layer, mask in enumerate(used, start=1):
        weights, biases = named[f"weights_{layer}"], named[f"biases_{layer}"]
        assert (weights[:, ~mask] == 0).all()
        assert (biases[~mask] == 0).all()
        before = slice(None) if layer == 1 else used[layer - 2]
        hidden = np.tanh(hidden @ weights[before][:, mask] + biases[mask])
    expected = hidden @ named["weights_3"][used[1], 0] + named["biases_3"][0]
    found = builder.predict_with(model)(jnp.asarray(position), jnp.asarray(dataset.features))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    changed = position.copy()
    for units, mask in zip(architecture.units, used, strict=True):
        changed[units.into[~mask]] += 1.0
        changed[units.out[~mask]] -= 2.0
    likelihood = jax.jit(lambda q: model.density.log_likelihood(q, model.data))
    assert likelihood(changed) == likelihood(position)
    assert [named["width_1"], named["width_2"]] == [mask.sum() for mask in used]


def test_layers_not_in_use_pass_on_what_they_get(of_depth: Any, dataset: Dataset) -> None:
    model, architecture = of_depth
    layers = architecture.layers
    position = model.density.draw_prior(3)
    predict = jax.jit(builder.predict_with(model))
    features = jnp.asarray(dataset.features)
    shallow = predict(position.at[layers.count_at].set(1.0), features)
    named = builder.name_variables(model, position).values
    hidden = np.maximum(dataset.features @ named["weights_1"] + named["biases_1"], 0)
    expected = hidden @ named["weights_4"][:, 0] + named["biases_4"][0]
    np.testing.assert_allclose(shallow, expected, atol=1e-12)
    deep = position.at[layers.count_at].set(3.0)
    assert np.abs(predict(deep, features) - shallow).max() > 1e-3
    identical = deep.at[layers.entries.ravel()].set(layers.identity(deep).ravel())
    np.testing.assert_allclose(predict(identical, features), shallow, atol=1e-12)


def test_layers_are_the_identity_whatever_the_scales_learned(dataset: Dataset) -> None:
    """At prior draws of the scales, the network of more layers is that of one."""
    relevance = {**DEPTH, "prior": {"kind": "relevance"}}
    model, architecture = build(relevance, dataset)
    layers = architecture.layers
    assert layers is not None
    predict, features = jax.jit(builder.predict_with(model)), jnp.asarray(dataset.features)
    identity = jax.jit(layers.identity)
    for position in map(jnp.asarray, draws(model, 5)):
        shallow = predict(position.at[layers.count_at].set(1.0), features)
        deep = position.at[layers.count_at].set(3.0)
        identical = deep.at[layers.entries.ravel()].set(identity(position).ravel())
        np.testing.assert_allclose(predict(identical, features), shallow, atol=1e-12)
        np.testing.assert_array_equal(identity(identical), identity(position))


def test_jumps_are_the_same_array_by_array(of_units: Any, of_depth: Any) -> None:
    """Derivatives along the arrays of a few entries are those along the whole position."""
    zero = jnp.zeros(())
    for model, architecture in (of_units, of_depth):
        position = model.density.draw_prior(5)
        chosen = Chosen(jnp.asarray(True), zero.astype(int), zero.astype(int) + 1, zero, zero, zero)
        whole = architecture._replace(arrays=None)
        for name, jump in jumps_of(architecture, ("conditional",), model.logdensity_fn).items():
            expected = jumps_of(whole, ("conditional",), model.logdensity_fn)[name]
            position = (
                position if architecture.units else position.at[architecture.indicators].set(1.0)
            )
            for found, known in zip(
                jax.jit(jump.apply)(position, chosen),
                jax.jit(expected.apply)(position, chosen),
                strict=True,
            ):
                np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-9)


def test_a_move_is_the_same_with_rows_in_one_chunk_and_in_several(
    of_units: Any, of_depth: Any
) -> None:
    """A move along the residuals takes two derivatives of a density that sums chunks."""
    rng = np.random.default_rng(5)
    zero = jnp.zeros(())
    for model, architecture in (of_units, of_depth):
        position, found = model.density.draw_prior(3), []
        rows = rng.normal(size=(40, model.network.sizes[0])), rng.normal(size=40)
        for chunk in (0, 16):
            data = model.density._replace(chunk=chunk).place(*rows)
            density = partial(model.density.log_density, data=data)
            for jump in jumps_of(architecture, ("conditional",), density).values():
                chosen = Chosen(jnp.asarray(True), *(jnp.asarray(0),) * 2, zero + 0.4, zero, zero)
                found.append(np.append(*jax.jit(jump.apply)(position, chosen)))
        half = len(found) // 2
        np.testing.assert_allclose(found[:half], found[half:], rtol=1e-8)


def test_no_gradient_moves_an_indicator(of_units: Any, of_depth: Any) -> None:
    for model, architecture in (of_units, of_depth):
        gradient = np.asarray(jax.jit(jax.grad(model.logdensity_fn))(model.density.draw_prior(2)))
        assert (gradient[architecture.indicators] == 0).all()
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    ("prior", "learned", "axes"),
    [
        ({"kind": "relevance"}, 6, ("feature",)),
        ({"kind": "hierarchical", "hyper": {"kind": "half_normal", "scale": 1.0}}, 5, ()),
    ],
)
def test_scales_that_are_learned_are_read_with_the_weights(
    prior: dict[str, Any], learned: int, axes: tuple[str, ...], dataset: Dataset
) -> None:
    """Only arrays with entries that are not in use are left out: the network's own are read."""
    model, _ = build({**UNITS, "prior": prior}, dataset)
    named = builder.name_variables(model, model.density.draw_prior(1)).values
    assert sum(name.startswith("scale_") for name in named) == learned
    assert not [name for name in named if name.endswith("_padded")]
    assert {"scale_weights_1", "scale_weights_3"} < named.keys()
    assert model.density.dims["scale_weights_1"] == axes
