"""Earlier data in a model: in its own units, beside its prior, and what is refused."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.builder import Model
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import TRAIN, UNUSED, Split
from nlobayes.data.transforms import target_transform, unstandardise
from nlobayes.model.earlier_data import Moments, divide
from nlobayes.types import Dataset, EarlierData
from tests.jobs import model_job
from tests.refusals import refused

Gaussian = tuple[np.ndarray, np.ndarray]


def earlier_at(dataset: Dataset, rows: np.ndarray, **changes: Any) -> EarlierData:
    rng = np.random.default_rng(1)
    earlier = EarlierData(
        inputs=dataset.inputs[rows],
        root=rng.normal(size=(2, len(rows))),
        observed=rng.normal(size=2),
        input_names=dataset.input_names,
        target=dataset.target_names[0],
        units=dataset.units,
        scale=dataset.transforms["target"]["scale"],
    )
    return earlier._replace(**changes)


def solve(log_density: Any, size: int) -> Gaussian:
    """Give mean and covariance of a position whose log density is quadratic."""
    origin = jnp.zeros(size)
    covariance = np.linalg.inv(-np.asarray(jax.jit(jax.hessian(log_density))(origin)))
    return covariance @ np.asarray(jax.jit(jax.grad(log_density))(origin)), covariance


def at(model: Model, dataset: Dataset, rows: np.ndarray, gaussian: Gaussian) -> Moments:
    """Give the moments of f at rows, on the model scale."""
    predict, features = builder.predict_with(model), jnp.asarray(dataset.features[rows])
    slope = np.asarray(jax.jit(jax.jacobian(predict))(jnp.zeros(model.density.size), features))
    target, (mean, covariance) = target_transform(dataset.transforms), gaussian
    scaled = slope * np.asarray(target.sd)
    return Moments(unstandardise(target, slope @ mean), scaled @ covariance @ scaled.T)


def test_old_rows_remembered_and_new_rows_are_the_union(dataset: Dataset) -> None:
    """Of a linear network, exactly: the same posterior of the weights."""
    train = np.flatnonzero(dataset.split == TRAIN)
    parts = []
    for left_out in (train[15:], train[:15]):
        split = dataset.split.copy()
        split[left_out] = UNUSED
        parts.append(dataset._replace(split=split))
    (old, new), size = parts, 6
    model = builder.build_model(model_job(), old)
    prior, posterior = (
        at(model, old, train[:15], solve(fn, size))
        for fn in (model.density.log_prior, model.logdensity_fn)
    )
    root, observed = divide(posterior, prior)
    earlier = earlier_at(dataset, train[:15], root=root, observed=observed)
    found = solve(builder.build_model(model_job(), new, earlier).logdensity_fn, size)
    expected = solve(builder.build_model(model_job(), dataset).logdensity_fn, size)
    without = solve(builder.build_model(model_job(), new).logdensity_fn, size)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-7)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-9)
    assert np.abs(without[0] - expected[0]).max() > 1e-3


def test_earlier_data_is_read_in_the_units_of_another_dataset(
    dataset: Dataset, points: Selection, choices: Choices
) -> None:
    """Whose constants of features and target differ."""
    names = (dataset.input_names, dataset.target_names)
    assert isinstance(choices.split, Split)
    other = make_dataset(points, *names, choices._replace(split=choices.split._replace(seed=9)))
    assert other.transforms != dataset.transforms
    rows = np.array([3, 50, 7])
    earlier = earlier_at(dataset, rows)
    bare, model = (builder.build_model(model_job(4), other, given) for given in (None, earlier))
    position = model.density.draw_prior(2)
    outputs = builder.predict_with(bare)(position, jnp.asarray(other.features[rows]))
    f = unstandardise(target_transform(other.transforms), np.asarray(outputs))
    expected = -np.sum((earlier.root @ f - earlier.observed) ** 2) / 2
    found = model.density.log_prior(position) - bare.density.log_prior(position)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("inputs", {"input_names": ("m1",)}),
        ("target", {"target": "sigma_fb"}),
        ("scale", {"scale": "identity"}),
        ("units", {"units": {"m1": "TeV"}}),
    ],
)
def test_earlier_data_of_something_else_are_refused(
    dataset: Dataset, what: str, changes: dict[str, Any]
) -> None:
    (received,) = changes.values()
    expected = {
        "inputs": dataset.input_names,
        "target": "sigma_pb",
        "scale": "log10",
        "units": dataset.units,
    }[what]
    with refused("builder.other_earlier", what=what, received=received, expected=expected):
        builder.build_model(model_job(), dataset, earlier_at(dataset, np.arange(3), **changes))


RELATIVE_TO = {"column": "lo_pb", "unit": "pb"}


def relative(dataset: Dataset) -> Dataset:
    """The same features and targets of the network, of a target that has a reference."""
    reference = 10.0 ** np.random.default_rng(5).normal(size=len(dataset.observed))
    target = {**dataset.transforms["target"], "relative_to": RELATIVE_TO}
    return dataset._replace(
        observed=dataset.observed * reference,
        relative_to=reference,
        transforms={**dataset.transforms, "target": target},
    )


def test_earlier_data_of_a_target_with_a_reference_has_it_taken_out(dataset: Dataset) -> None:
    """What was remembered of log10 target is, less log10 of the reference, known of f."""
    rows = np.flatnonzero(dataset.split == TRAIN)[:7]
    known = relative(dataset)
    assert known.relative_to is not None
    earlier = earlier_at(dataset, rows)
    shifted = earlier._replace(
        observed=earlier.observed + earlier.root @ np.log10(known.relative_to[rows]),
        relative_to=RELATIVE_TO,
        reference=known.relative_to[rows],
    )
    densities = [
        builder.build_model(model_job(), data, remembered).logdensity_fn
        for data, remembered in ((dataset, earlier), (known, shifted))
    ]
    position = jnp.asarray(np.random.default_rng(2).normal(size=6))
    assert float(densities[0](position)) == pytest.approx(float(densities[1](position)), rel=1e-10)
    with refused("references.of_earlier", received=None, allowed=RELATIVE_TO):
        builder.build_model(model_job(), known, earlier)


def test_earlier_data_are_of_one_output(dataset: Dataset) -> None:
    model = model_job(likelihood={"kind": "heteroscedastic", "scale": 0.1})
    with refused("builder.earlier_of_one_output", outputs=2):
        builder.build_model(model, dataset, earlier_at(dataset, np.arange(3)))


def test_earlier_data_that_are_named_must_be_given(dataset: Dataset) -> None:
    """Nothing is computed with the bare prior in its place."""
    model = model_job(prior={"kind": "fan_in", "earlier": {"file": "results/earlier/no.nc"}})
    with refused("builder.earlier_not_given", file="results/earlier/no.nc"):
        builder.build_model(model, dataset)
