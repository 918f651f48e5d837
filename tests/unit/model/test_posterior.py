"""Names, dims, coords and shapes of what a posterior is read by."""

import jax
import numpy as np
import pytest

from nlobayes.likelihoods import LikelihoodSettings
from nlobayes.model.density import build_density
from nlobayes.model.networks import Network
from nlobayes.model.posterior import build_posterior
from nlobayes.model.prior import Prior
from tests.members import likelihood, prior

NAMES = ("mass", "mixing")
DIMS = {
    "weights_1": ("feature", "hidden_1"),
    "biases_1": ("hidden_1",),
    "weights_2": ("hidden_1", "hidden_2"),
    "biases_2": ("hidden_2",),
    "weights_3": ("hidden_2", "output"),
    "biases_3": ("output",),
}
LENGTHS = {"feature": 2, "hidden_1": 4, "hidden_2": 3, "output": 1}


@pytest.mark.parametrize(
    "likelihood", [likelihood("gaussian", sigma=0.1), likelihood("gaussian", sigma=None, scale=0.3)]
)
@pytest.mark.parametrize(
    "prior",
    [
        prior("fan_in", scale=1.0),
        prior("gaussian", precision=0.7 ** (-2), non_centered=True),
        prior("gaussian", precision=0.7 ** (-2), non_centered=False),
    ],
)
def test_variables_are_named_and_shaped(prior: Prior, likelihood: LikelihoodSettings) -> None:
    """Whitened or not, the same names: twins in units of the prior sd never appear."""
    network = Network((2, 4, 3, 1), "tanh")
    posterior = build_posterior(network, prior, likelihood, feature_names=NAMES, layout="columns")
    density = build_density(posterior, chunk=0)
    noise = {"noise": ()} if likelihood.learns_hyperparameters else {}
    variables = jax.eval_shape(density.variables, density.draw_prior(0))
    assert density.dims == DIMS | noise
    assert {name: value.shape for name, value in variables.items()} == {
        name: tuple(LENGTHS[dim] for dim in dims) for name, dims in (DIMS | noise).items()
    }
    assert {dim: len(values) for dim, values in density.coords.items()} == LENGTHS
    assert tuple(density.coords["feature"]) == NAMES
    assert density.layout == "columns"
    weights = sum(int(np.prod([LENGTHS[dim] for dim in dims])) for dims in DIMS.values())
    assert density.size == weights + len(noise)
