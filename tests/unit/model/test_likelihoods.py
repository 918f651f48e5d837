"""Functions of a likelihood: its noise, its probabilities and its information."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pymc as pm
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import chisquare, kstest, laplace, norm, t

from nlobayes.model.networks import Network, forward, layers_of
from tests.densities import posterior_of
from tests.members import likelihood, prior
from tests.unit.model.by_hand import LIKELIHOODS, Observed, Reader

SIGNIFICANCE = 0.001
NUMBERS = [name for name, observed in LIKELIHOODS.items() if not observed.classes]
CLASSES = [name for name, observed in LIKELIHOODS.items() if observed.classes]
LAWS = {"gaussian": lambda _: norm, "laplace": lambda _: laplace, "student_t": lambda nu: t(nu)}
VARIABLES = {"noise": 0.37, "degrees_of_freedom": 5.3}


def variables_of(observed: Observed) -> dict[str, Any]:
    """Values of all that a likelihood may learn, the noise of each target its own."""
    noise = 0.37 if observed.targets == 1 else np.array([0.37, 1.1])
    return VARIABLES | {"noise": noise}


def draw_targets(
    observed: Observed, features: np.ndarray, error: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the target once at every row by PyMC, at fixed parameters; the outputs there."""
    rng, network = np.random.default_rng(1), Network((2, 3, observed.outputs), "tanh")
    shapes: dict[str, Any] = {"weights_1": (2, 3), "biases_1": 3}
    shapes |= {"weights_2": (3, observed.outputs), "biases_2": observed.outputs}
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    plain = prior("gaussian", precision=1.0, non_centered=False)
    settings: dict[str, Any] = {"errors": error is not None, "targets": observed.targets}
    model = posterior_of(network.sizes, plain, observed.likelihood, **settings).model
    fixed = weights | {"noise": variables_of(observed)["noise"]}
    fixed["degrees_of_freedom_above_2"] = VARIABLES["degrees_of_freedom"] - 2
    fixed["noise_precision"] = fixed["noise"] ** -2
    fixed["noise_above_floor"] = np.sqrt(fixed["noise"] ** 2 - 0.05**2)
    names = {variable.name for variable in model.free_RVs}
    blank = np.zeros(len(features) if observed.targets == 1 else (len(features), observed.targets))
    pm.set_data(
        {"features": features, "target_data": blank}
        | ({} if error is None else {"target_error": error}),
        model=model,
    )
    done = pm.do(model, {name: value for name, value in fixed.items() if name in names})
    drawn = pm.draw(done["target"], random_seed=2, mode="FAST_COMPILE")
    return drawn, forward(network, layers_of(network, weights), features, xp=np)


@pytest.mark.statistical
@pytest.mark.parametrize("errors", [False, True])
@pytest.mark.parametrize("name", NUMBERS)
def test_the_noise_is_that_of_draws_from_the_model(name: str, errors: bool) -> None:
    """Kolmogorov-Smirnov of 4000 standardised draws at as many points, errors of their own."""
    observed, rng = LIKELIHOODS[name], np.random.default_rng(3)
    shape = (4000,) if observed.targets == 1 else (4000, observed.targets)
    error = 10.0 ** rng.uniform(-2, 1, shape) if errors else None
    drawn, output = draw_targets(observed, rng.normal(size=(4000, 2)), error)
    noise = observed.likelihood.noise_about(output, variables_of(observed), error, np)
    assert drawn.shape == shape
    standard = (drawn - noise.centre) / noise.scale
    law = LAWS[noise.family](noise.degrees_of_freedom)
    for column in standard.reshape(4000, -1).T:
        assert kstest(column, law.cdf).pvalue > SIGNIFICANCE / (2 * len(NUMBERS))


@pytest.mark.statistical
@pytest.mark.parametrize("name", CLASSES)
def test_probabilities_are_frequencies_of_draws_from_the_model(name: str) -> None:
    """Chi squared over the classes at each of six points, 4000 draws each."""
    observed, points = LIKELIHOODS[name], np.random.default_rng(4).normal(size=(6, 2))
    drawn, output = draw_targets(observed, np.repeat(points, 4000, axis=0), None)
    probabilities = observed.likelihood.probabilities(output, np).reshape(6, 4000, -1)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1)
    for expected, classes in zip(probabilities[:, 0], drawn.reshape(6, 4000), strict=True):
        counts = np.bincount(classes, minlength=observed.classes)
        assert expected.min() > 0.002
        assert chisquare(counts, 4000 * expected).pvalue > SIGNIFICANCE / 12


@pytest.mark.parametrize("name", CLASSES)
def test_probabilities_are_those_of_the_log_likelihood(name: str) -> None:
    observed = LIKELIHOODS[name]
    output = jnp.asarray(np.random.default_rng(5).normal(size=(9, observed.outputs)))
    given = output[:, 0] if observed.outputs == 1 else output
    for label in range(observed.classes):
        log_p = observed.rows(Reader(jnp.zeros(0)), output, np.full(9, float(label)), 0.0)
        for xp in (np, jnp):
            found = observed.likelihood.probabilities(given, xp)[:, label]
            np.testing.assert_allclose(found, np.exp(log_p), rtol=1e-12)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("out", [-1e4, 1e4])
def test_probabilities_far_out_are_zero_and_one(name: str, out: float) -> None:
    observed = LIKELIHOODS[name]
    output = np.full((1, observed.outputs), 0.0)
    output[0, -1] = out
    given = output[:, 0] if observed.outputs == 1 else output
    found = observed.likelihood.probabilities(given, np)[0]
    assert found[-1] == (out > 0)
    np.testing.assert_allclose(found.sum(), 1)


def learned_by(likelihood: Any, variables: dict[str, Any]) -> dict[str, jax.Array]:
    """Take the variables that a likelihood learns."""
    names = {"noise": "sigma", "degrees_of_freedom": "degrees_of_freedom"}
    unset = {name: getattr(likelihood, setting, 0.0) is None for name, setting in names.items()}
    return {name: jnp.asarray(variables[name]) for name in names if unset[name]}


@pytest.mark.by_day(8)
@pytest.mark.parametrize("errors", [False, True])
@pytest.mark.parametrize("name", NUMBERS)
def test_information_is_the_expected_curvature(name: str, errors: bool) -> None:
    """J'R'RJ is the mean of the squared slope of log p(y | o, s, nu) over y, by quadrature.

    J has the slopes of what moves in the outputs o, and in the scale and the degrees that are
    learned. The mean is over the quantiles of y, by the midpoint rule in their logit.
    """
    observed, rng = LIKELIHOODS[name], np.random.default_rng(6)
    likelihood, targets = observed.likelihood, observed.targets
    outputs = rng.normal(size=(3, observed.outputs))
    error = rng.uniform(0.1, 0.5, (3, targets)) if errors else None
    variables = variables_of(observed)
    step = 0.02
    logit = step * (np.arange(1800) + 0.5)
    weights = step * np.exp(-logit) / (1 + np.exp(-logit)) ** 2
    for point, row in enumerate(outputs):
        e = None if error is None else error[point, 0] if targets == 1 else error[point]
        o = jnp.asarray(row[0] if observed.outputs == 1 else row)
        flat, unravel = ravel_pytree((o, learned_by(likelihood, variables)))

        def noise_at(place: jax.Array) -> Any:
            own, learned = unravel(place)  # noqa: B023
            return likelihood.noise_about(own, variables | learned, e, jnp)  # noqa: B023

        def moved_at(place: jax.Array) -> Any:
            own, learned = unravel(place)  # noqa: B023
            given = None if e is None else jnp.asarray(e)[None]  # noqa: B023
            return likelihood.moved(own[None], variables | learned, given, jnp)[0]

        def log_density(place: jax.Array, target: int, y: Any) -> Any:
            noise = noise_at(place)
            centre, scale = (jnp.broadcast_to(x, (targets,))[target] for x in noise[1:3])
            if noise.family == "student_t":
                return jax.scipy.stats.t.logpdf(y, noise.degrees_of_freedom, centre, scale)
            law = {"gaussian": jax.scipy.stats.norm, "laplace": jax.scipy.stats.laplace}
            return law[noise.family].logpdf(y, centre, scale)

        expected = np.zeros((flat.size, flat.size))
        for target in range(targets):
            noise = noise_at(flat)
            law = LAWS[noise.family](noise.degrees_of_freedom)
            centre, scale = (np.broadcast_to(x, (targets,))[target] for x in noise[1:3])
            beyond = law.isf(1 / (1 + np.exp(logit)))
            for y in (centre + scale * beyond, centre - scale * beyond):
                slopes = jax.vmap(jax.grad(log_density), (None, None, 0))(flat, target, y)
                expected += np.einsum("n,ni,nj->ij", weights, slopes, slopes)
        given = None if e is None else np.asarray(e)[None]
        root = likelihood.information_root(o[None], variables, given, jnp)[0]
        weighed = np.asarray(root @ jax.jacobian(moved_at)(flat).reshape(-1, flat.size))
        bound = 3e-5 * np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        assert np.all(np.abs(weighed.T @ weighed - expected) < bound)


@pytest.mark.parametrize("name", CLASSES)
def test_information_of_classes_is_the_expected_curvature(name: str) -> None:
    """The sum over classes, exact."""
    observed = LIKELIHOODS[name]
    outputs = np.random.default_rng(7).normal(size=(4, observed.outputs))
    given = outputs[:, 0] if observed.outputs == 1 else outputs
    root = observed.likelihood.information_root(given, {}, None, np)
    found = np.swapaxes(root, 1, 2) @ root
    p = observed.likelihood.probabilities(given, np)

    def log_p(o: jax.Array, label: int) -> jax.Array:
        return observed.rows(Reader(jnp.zeros(0)), o[None], jnp.array([float(label)]), 0.0)[0]

    for point in range(4):
        curvatures = [jax.hessian(log_p)(jnp.asarray(outputs[point]), k) for k in range(p.shape[1])]
        expected = -np.tensordot(p[point], np.stack(curvatures), axes=1)
        np.testing.assert_allclose(found[point], expected, rtol=1e-10, atol=1e-12)


def test_sigma_of_a_prediction_far_from_all_rows_is_a_positive_number() -> None:
    """A wide prior draws outputs of hundreds there, whose exponential is 0 or infinite."""
    output = np.array([[0.5, -300.0], [0.5, 300.0], [0.5, 2.0]], np.float32)
    noise = likelihood("heteroscedastic", scale=0.1).noise_about(output, {}, None, np)
    assert noise is not None
    assert np.all((noise.scale > 0) & np.isfinite(noise.scale))
    assert noise.scale[2] == pytest.approx(0.1 * np.exp(2.0))
