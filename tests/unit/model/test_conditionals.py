"""Hyperparameters drawn given the weights: the weights stay, the prior is left as it is."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2, gamma, halfcauchy, kstest, norm

from nlobayes.model.conditionals import Conjugates, find_conjugates
from nlobayes.model.density import Density
from nlobayes.model.networks import Network
from nlobayes.model.prior import WHITENED
from nlobayes.priors.hierarchical import GammaPrecision, HalfCauchyScale, HalfNormalScale
from tests.densities import density_of
from tests.members import likelihood, prior

NETWORK = Network((2, 3, 1), "tanh")
DRAWS, SIGNIFICANCE = 2000, 0.001
PRECISION = GammaPrecision(kind="gamma_precision", shape=2.0, rate=0.5)
CAUCHY = HalfCauchyScale(kind="half_cauchy", scale=0.4)
LAYERS = ("weights_1", "biases_1", "weights_2")
PRIORS: dict[str, Any] = {
    "precision": prior("hierarchical", hyper=PRECISION, shared="network"),
    "half-Cauchy": prior("hierarchical", hyper=CAUCHY, shared="layer"),
    "means": prior("tensorbnn", mean_sd=0.7),
}
HELD = {
    "precision": ["precision_weights", "precision_biases"],
    "half-Cauchy": [f"scale_{name}" for name in LAYERS],
    "means": [f"mean_{name}" for name in (*LAYERS, "biases_2")],
}
STATED = {
    "precision": gamma(2.0, scale=2.0),
    "half-Cauchy": halfcauchy(scale=0.4),
    "means": norm(scale=0.7),
}
GOVERNED = {"weights": ("weights_1", "weights_2"), "biases": ("biases_1",)}
FAN_IN = {"weights_1": 2, "weights_2": 3}


def state(prior: Any) -> tuple[Density, Conjugates | None]:
    density = density_of(NETWORK.sizes, prior, likelihood("gaussian", sigma=0.3))
    return density, find_conjugates(prior, NETWORK, density)


@cache
def stated(name: str) -> tuple[Density, Conjugates]:
    density, conjugates = state(PRIORS[name])
    assert conjugates is not None
    return density, conjugates


def weights_of(variables: dict[str, Any]) -> dict[str, np.ndarray]:
    return {n: np.asarray(v) for n, v in variables.items() if n.startswith(("weights", "biases"))}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.by_day(1)
def test_every_weight_stays_and_every_held_entry_moves(name: str) -> None:
    density, (refresh, held) = stated(name)
    rng = np.random.default_rng(3)
    data = density.batch(*map(jnp.asarray, (rng.normal(size=(5, 2)), rng.normal(size=5))))
    position = density.draw_prior(1)
    new = jax.jit(refresh)(jax.random.key(0), position)
    before, after = (weights_of(density.variables(q)) for q in (position, new))
    for variable in before:
        np.testing.assert_allclose(after[variable], before[variable], rtol=1e-12)
    likelihood = density.log_likelihood(position, data)
    np.testing.assert_allclose(density.log_likelihood(new, data), likelihood, rtol=1e-12)
    assert (np.asarray(position)[held] != np.asarray(new)[held]).all()
    assert not np.allclose(density.log_prior(position), density.log_prior(new))


@pytest.mark.parametrize(
    "prior",
    [
        prior("fan_in", scale=1.0),
        prior("hierarchical", hyper=HalfNormalScale(kind="half_normal", scale=1.0), shared="layer"),
        prior("horseshoe", global_scale=1.0, slab_scale=2.0, slab_degrees=4.0, bias_scale=1.0),
    ],
    ids=lambda prior: type(prior).__name__,
)
def test_a_prior_that_is_not_conjugate_has_none(prior: Any) -> None:
    assert state(prior)[1] is None


def centred(variables: dict[str, np.ndarray], group: str) -> np.ndarray:
    """All c of a group (draw, weight): weights times sqrt(fan_in)."""
    parts = [
        variables[name].reshape(DRAWS, -1) * np.sqrt(FAN_IN.get(name, 1))
        for name in GOVERNED.get(group, (group,))
    ]
    return np.concatenate(parts, axis=1)


def p_values(name: str, variables: dict[str, np.ndarray]) -> list[float]:
    """Each hyperparameter against its prior, and its weights in units of it."""
    found = []
    for variable in HELD[name]:
        value, group = variables[variable], variable.split("_", 1)[1]
        scale = variables[f"scale_{group}"][:, np.newaxis]
        if name == "means":
            c = variables[group].reshape(DRAWS, -1)
            pull = np.sum((c - value[:, np.newaxis]) / scale, axis=1)
            law = norm(scale=np.sqrt(c.shape[1]))
        else:
            c = centred(variables, group)
            pull, law = np.sum((c / scale) ** 2, axis=1), chi2(c.shape[1])
        found += [kstest(value, STATED[name].cdf).pvalue, kstest(pull, law.cdf).pvalue]
    return found


def prior_draws(name: str, density: Density) -> jax.Array:
    """Positions (draw, parameter) from the prior; other hyperparameters than those held stay."""
    rng, other = np.random.default_rng(5), np.asarray(density.draw_prior(4))
    positions = np.tile(other, (DRAWS, 1))
    for variable, place in density.places.items():
        shape = (DRAWS, place.stop - place.start)
        if variable.endswith(WHITENED):
            positions[:, place] = rng.normal(size=shape)
        elif variable in HELD[name]:
            drawn = STATED[name].rvs(shape, random_state=rng)
            positions[:, place] = drawn if name == "means" else np.log(drawn)
    return jnp.asarray(positions)


@pytest.mark.statistical
@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.by_day(1)
def test_draws_of_the_prior_stay_draws_of_the_prior(name: str) -> None:
    """Weights and hyperparameters are drawn from their prior, then the latter three times anew.

    Kolmogorov-Smirnov for each hyperparameter, and for its weights in units of it.
    """
    density, (refresh, _) = stated(name)
    positions, redraw = prior_draws(name, density), jax.jit(jax.vmap(refresh))
    for number in range(3):
        positions = redraw(jax.random.split(jax.random.key(number), DRAWS), positions)
    named = {n: np.asarray(v) for n, v in jax.jit(jax.vmap(density.variables))(positions).items()}
    found = p_values(name, named)
    assert min(found) > SIGNIFICANCE / len(found)
