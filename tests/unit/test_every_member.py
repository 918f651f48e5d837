"""Every prior, prior of slopes and likelihood, as its settings build it: finite and repeatable.

A new member is taken up by the name of its file. The densities themselves are in `model/by_hand`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.likelihoods import LIKELIHOODS
from nlobayes.priors import PRIORS
from nlobayes.priors.slopes import ExponentialSlopes, NormalSlopes, TensorBNNSlopes
from nlobayes.settings.values import Choice
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.jobs import model_job

SLOPES: dict[str, type[Choice]] = {
    "exponential": ExponentialSlopes,
    "normal": NormalSlopes,
    "tensorbnn": TensorBNNSlopes,
}


def ours(family: Mapping[str, type[Choice]]) -> list[str]:
    """Name the members that need no file of the user."""
    return [name for name, one in family.items() if "file" not in one.model_fields]


CASES = [
    *(("prior", name) for name in ours(PRIORS)),
    *(("slopes", name) for name in SLOPES),
    *(("likelihood", name) for name in ours(LIKELIHOODS)),
]


def settings(kind: type[Choice], name: str, inputs: Sequence[str] = ()) -> dict[str, Any]:
    """Name a member, with one half for every constant that has no default, or one of each input."""
    required = [key for key, field in kind.model_fields.items() if field.is_required()]
    of_inputs = dict.fromkeys(inputs, 0.5)
    return {key: of_inputs if key == "inputs" else 0.5 for key in required} | {"kind": name}


def job(family: str, name: str, inputs: Sequence[str]) -> ModelJob:
    prior = settings(PRIORS["fan_in"], "fan_in")
    likelihood = settings(LIKELIHOODS["gaussian"], "gaussian")
    if family == "prior":
        prior = settings(PRIORS[name], name, inputs)
    elif family == "slopes":
        prior["slopes"] = settings(SLOPES[name], name)
    else:
        likelihood = settings(LIKELIHOODS[name], name)
    activation = "prelu" if family == "slopes" else "tanh"
    return model_job(3, prior=prior, likelihood=likelihood, activation=activation)


def learned_by(model: ModelJob, dataset: Dataset) -> Dataset:
    """Give two classes where the likelihood is of classes."""
    if not model.likelihood.of_classes:
        return dataset
    target = (dataset.target > 0).astype(float)
    labels = dataset.transforms["target"] | {"labels": (0, 1)}
    return dataset._replace(target=target, transforms=dataset.transforms | {"target": labels})


@pytest.mark.parametrize(("family", "name"), CASES)
@pytest.mark.by_day(9)
def test_draws_and_density_are_finite_and_follow_the_seed(
    family: str, name: str, dataset: Dataset
) -> None:
    given = job(family, name, dataset.feature_names)
    model = builder.build_model(given, learned_by(given, dataset))
    first, again, other = (np.asarray(model.density.draw_prior(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    value, gradient = jax.jit(jax.value_and_grad(model.logdensity_fn))(first)
    assert np.isfinite(first).all()
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert np.any(gradient != 0)
