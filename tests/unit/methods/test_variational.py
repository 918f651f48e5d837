"""Variational inference on a network without hidden layers, whose posterior is known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.inference.curvature import MOST_PARAMETERS
from nlobayes.inference.gaussians import Gaussian
from nlobayes.inference.method import MethodInput
from nlobayes.methods.variational import Variational
from nlobayes.types import Dataset
from tests.refusals import refused
from tests.unit.methods.conftest import Exact, covariance_of

SETTINGS: dict[str, Any] = {
    "modes": 1,
    "draws": 10,
    "covariance": "full",
    "rank": 2,
    "weights": "equal",
    "steps": 3000,
    "draws_per_step": 8,
    "step_size": 0.03,
}
OFF = 0.2
"""How far from the mean a start is, in sds of the prior: many sds of the posterior."""


@pytest.fixture(scope="module")
def begin(model: builder.Model, dataset: Dataset, exact: Exact) -> MethodInput:
    return builder.approach(model, dataset, [exact.mean + OFF, exact.mean - OFF])


def learn(begin: MethodInput, **changes: Any) -> tuple[Gaussian, dict[str, float]]:
    """Give the Gaussian about the first start, and what is said of it."""
    method = Variational(kind="variational", **{**SETTINGS, **changes})
    return method._learn(jax.random.key(3), begin.starts[0], begin)


@pytest.mark.parametrize(("form", "rank"), [("full", 1), ("low_rank", 5)])
def test_a_form_that_holds_the_posterior_becomes_it(
    form: str, rank: int, begin: MethodInput, exact: Exact
) -> None:
    """Exactly: draws of the exact Gaussian give gradients without noise.

    Of six parameters a diagonal and rank five are any covariance. The slope of the ELBO is then
    about its standard error.
    """
    mean, precision, evidence = exact
    about, said = learn(begin, covariance=form, rank=rank)
    root = np.linalg.cholesky(precision)
    np.testing.assert_allclose(root.T @ (about.mean - mean), 0, atol=1e-6)
    whitened = root.T @ covariance_of(about) @ root
    np.testing.assert_allclose(whitened, np.eye(len(mean)), atol=1e-6)
    np.testing.assert_allclose(said["elbo"], evidence, rtol=1e-9)
    assert 1 / 3 < said["slope_over_error"] < 3


def test_mean_field_understates_variances_by_the_known_factor(
    begin: MethodInput, exact: Exact
) -> None:
    """Its variance is one over the precision of a parameter given all others.

    The ELBO lacks half the log of the product of these over the determinant (Turner and Sahani
    2011, section 5.2).
    """
    mean, precision, evidence = exact
    about, said = learn(begin, covariance="diagonal", draws_per_step=64)
    given = np.diag(precision)
    np.testing.assert_allclose(np.diag(covariance_of(about)) * given, 1, rtol=0.03)
    np.testing.assert_allclose((about.mean - mean) * np.sqrt(given), 0, atol=0.03)
    lacks = (np.log(given).sum() - np.linalg.slogdet(precision)[1]) / 2
    assert lacks > 0.1
    np.testing.assert_allclose(evidence - said["elbo"], lacks, atol=4 * said["elbo_error"])
    assert said["slope_over_error"] < 3


def test_a_rank_more_is_nearer(begin: MethodInput, exact: Exact) -> None:
    """From mean field to any covariance; the estimates of the ELBO have errors below 0.03."""
    forms = {"diagonal": ("diagonal", 1), "low_rank": ("low_rank", 2), "full": ("full", 1)}
    settings = {name: {"covariance": form, "rank": rank} for name, (form, rank) in forms.items()}
    found = {name: learn(begin, **each)[1]["elbo"] for name, each in settings.items()}
    assert found["diagonal"] + 0.05 < found["low_rank"] < found["full"] + 1e-6
    assert found["full"] <= exact.log_evidence + 1e-6


def test_what_has_not_converged_says_so(begin: MethodInput) -> None:
    """Two hundred steps of a thousandth of an sd do not reach the mean."""
    found = learn(begin, covariance="diagonal", steps=200, step_size=1e-3)[1]
    longer = learn(begin, covariance="diagonal")[1]
    assert longer["slope_over_error"] < 3 < 10 < found["slope_over_error"]
    assert found["elbo"] < longer["elbo"]


def test_what_cannot_be_made_is_refused(begin: MethodInput) -> None:
    key = jax.random.key(0)
    with refused("inference.maps_for_modes", maps=2, modes=1):
        Variational(kind="variational", **SETTINGS).sample(key, begin)
    one = begin._replace(starts=begin.starts[:1])
    with refused("inference.rank", rank=6, parameters=6):
        Variational(kind="variational", **{**SETTINGS, "covariance": "low_rank", "rank": 6}).sample(
            key, one
        )
    many = jnp.zeros((1, MOST_PARAMETERS + 1))
    with refused("inference.dense_curvature", parameters=MOST_PARAMETERS + 1):
        Variational(kind="variational", **SETTINGS).sample(key, begin._replace(starts=many))
