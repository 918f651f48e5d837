"""Approximate methods on a network without hidden layers, whose posterior is known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from nlobayes import builder
from nlobayes.data.splits import TRAIN
from nlobayes.evaluation.reweighting.importance import importance_weights
from nlobayes.inference import gaussians as gaussian
from nlobayes.inference import mode_mixture
from nlobayes.inference.curvature import MOST_PARAMETERS
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods.laplace import Laplace
from nlobayes.study.jobs import ApproximateJob, ModelJob
from nlobayes.types import Dataset
from tests.refusals import invalid, refused
from tests.unit.commands.linear import MODEL, SCALE, SIGMA, design, posterior
from tests.unit.methods.conftest import Exact, covariance_of

DRAWS = 4000
LAPLACE: dict[str, Any] = {
    "modes": 1,
    "draws": DRAWS,
    "covariance": "full",
    "rank": 2,
    "weights": "equal",
    "predictive": "sampled",
}
LEARNED = {**MODEL, "likelihood": {"kind": "gaussian", "sigma": None}}
NONLINEAR = {**MODEL, "network": {"hidden": [3]}}


@pytest.fixture(scope="module")
def begin(model: builder.Model, dataset: Dataset, exact: Exact) -> MethodInput:
    """From the MAP, twice."""
    return builder.approach(model, dataset, [exact.mean] * 2)


def one_of(begin: MethodInput, count: int = 1) -> MethodInput:
    return begin._replace(maps=begin.maps[:count], starts=begin.starts[:count])


def named(model: builder.Model, positions: Any) -> np.ndarray:
    """Weights and, last, the bias of draws (draw, parameter)."""
    values = builder.name_variables(model, positions).values
    return np.column_stack([values["weights_1"][..., 0], values["biases_1"]])


@pytest.mark.statistical
def test_full_laplace_reproduces_the_conjugate_posterior(
    model: builder.Model, begin: MethodInput, dataset: Dataset
) -> None:
    """Within five standard errors of 4000 draws: 0.08 sd of a mean, 11 % of a variance."""
    drawn = Laplace(kind="laplace", **LAPLACE).sample(jax.random.key(3), one_of(begin))
    found, exact = named(model, drawn.positions), posterior(dataset)
    sd = np.sqrt(np.diag(exact.covariance))
    np.testing.assert_allclose((found.mean(axis=0) - exact.mean) / sd, 0, atol=0.08)
    whitened = np.linalg.solve(np.linalg.cholesky(exact.covariance), (found - exact.mean).T)
    np.testing.assert_allclose(np.cov(whitened), np.eye(len(sd)), atol=0.115)


def top_of(density: Any, start: Any) -> np.ndarray:
    """Climb to the top of a log density by Newton's method, each step at most one long."""
    both = jax.jit(lambda q: (jax.grad(density)(q), jax.hessian(density)(q)))
    position = np.asarray(start)
    for _ in range(60):
        slope, hessian = both(position)
        values, vectors = np.linalg.eigh(-hessian)
        step = vectors @ (vectors.T @ slope / np.abs(values))
        position = position + step / max(1.0, float(np.linalg.norm(step)))
    np.testing.assert_allclose(slope, 0, atol=1e-6)
    return position


@pytest.mark.statistical
def test_draws_of_a_learned_sigma_have_the_spread_of_the_hessian(dataset: Dataset) -> None:
    """At the MAP its curvature is about 2 a row; 11 % are five standard errors of a variance.

    The Hessian has 2 times the squared residuals over sigma^2, here 2 % less than 2 a row.
    """
    model = builder.build_model(ModelJob.model_validate(LEARNED), dataset)
    density = model.logdensity_fn
    top = top_of(density, jnp.zeros(model.density.size))
    begin, place = builder.approach(model, dataset, [top]), model.density.places["noise"].start
    curvature = np.asarray(begin.gauss_newton.dense(begin.starts[0]))
    rows, hessian = np.sum(dataset.split == TRAIN), -np.asarray(jax.jit(jax.hessian(density))(top))
    np.testing.assert_allclose(curvature[place, place] / (2 * rows), 1, atol=0.02)
    variance = np.linalg.inv(hessian)[place, place]
    np.testing.assert_allclose(np.linalg.inv(curvature)[place, place] / variance, 1, atol=0.05)
    drawn = Laplace(kind="laplace", **LAPLACE).sample(jax.random.key(3), begin).positions[:, place]
    np.testing.assert_allclose(np.var(drawn) / variance, 1, atol=0.11 + 0.05)


def test_each_form_is_that_of_the_matrix(model: builder.Model, begin: MethodInput) -> None:
    """The matrix is minus the Hessian of the density, as the network is linear."""
    top, forms = begin.starts[0], begin.gauss_newton
    precision = -np.asarray(jax.jit(jax.hessian(model.logdensity_fn))(top))
    np.testing.assert_allclose(
        covariance_of(gaussian.full(forms, top, "")),
        np.linalg.inv(precision),
        rtol=1e-7,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        covariance_of(gaussian.diagonal(forms, top)), np.diag(1 / np.diag(precision)), rtol=1e-7
    )
    vector = jnp.arange(1.0, top.size + 1)
    np.testing.assert_allclose(forms.product(top)(vector), precision @ vector, rtol=1e-9)
    rank = 2
    values, vectors = np.linalg.eigh(precision - np.eye(top.size))  # the prior is standard normal
    kept = vectors[:, -rank:]
    shrunk = kept @ np.diag(values[-rank:] / (1 + values[-rank:])) @ kept.T
    about = gaussian.low_rank(forms, top, rank)
    np.testing.assert_allclose(covariance_of(about), np.eye(top.size) - shrunk, atol=1e-8)
    determinant = np.linalg.slogdet(covariance_of(about))[1]
    np.testing.assert_allclose(about.log_determinant, determinant, rtol=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("form", ["full", "diagonal"])
def test_a_linearised_network_has_the_mean_and_the_variance_of_the_jacobian(
    form: str, dataset: Dataset
) -> None:
    """f at the MAP, and J S J', within five standard errors of 4000 draws; J by differences."""
    model = builder.build_model(ModelJob.model_validate(NONLINEAR), dataset)
    top = 0.5 * np.random.default_rng(1).normal(size=model.density.size)
    begin = builder.approach(model, dataset, [top])
    method = Laplace(kind="laplace", **{**LAPLACE, "covariance": form, "predictive": "linearised"})
    function = builder.name_draws(model, dataset, method.sample(jax.random.key(2), begin)).function
    f = jax.jit(builder.observer(model, dataset))
    steps = 1e-5 * np.eye(len(top))
    slopes = [(f(top + step)["f"] - f(top - step)["f"]) / 2e-5 for step in steps]
    jacobian = np.stack(slopes, axis=1)
    about = gaussian.gaussian_about(begin.gauss_newton, begin.starts[0], method.covariance, 1)
    sd = np.sqrt(np.diag(jacobian @ covariance_of(about) @ jacobian.T))
    off = (function[0].mean(axis=0) - f(jnp.asarray(top))["f"]) / sd
    np.testing.assert_allclose(off, 0, atol=0.08)
    np.testing.assert_allclose(function[0].var(axis=0) / sd**2, 1, atol=0.11)


def test_draws_of_a_linearised_network_are_the_same_weights_about_their_own_maps(
    model: builder.Model, dataset: Dataset, begin: MethodInput
) -> None:
    """The network is linear: f is that of `sampled`, whatever the centre of a draw."""
    apart = begin._replace(starts=begin.starts + jnp.array([[0.0], [1 / 6]]))
    settings = {**LAPLACE, "modes": 2, "draws": 5}
    sampled, linearised = (
        Laplace(kind="laplace", **{**settings, "predictive": each}).sample(jax.random.key(0), apart)
        for each in ("sampled", "linearised")
    )
    np.testing.assert_array_equal(sampled.positions, linearised.positions)
    assert linearised.centres is not None
    np.testing.assert_array_equal(linearised.centres, apart.starts[jnp.array([0, 0, 0, 1, 1])])
    one, other = (builder.name_draws(model, dataset, each) for each in (sampled, linearised))
    np.testing.assert_allclose(one.function, other.function, rtol=1e-9)
    assert one.centres is None
    assert other.centres is not None


def test_log_evidence_is_that_of_the_linear_regression(
    begin: MethodInput, dataset: Dataset
) -> None:
    drawn = Laplace(kind="laplace", **LAPLACE).sample(jax.random.key(0), one_of(begin))
    train = dataset.split == TRAIN
    rows, features = design(dataset)[train], dataset.features.shape[1]
    prior = np.diag([SCALE**2 / features] * features + [1.0])
    marginal = rows @ prior @ rows.T + SIGMA**2 * np.eye(len(rows))
    expected = multivariate_normal(cov=marginal).logpdf(dataset.target[train])
    np.testing.assert_allclose(drawn.of_starts["log_evidence"], [expected], rtol=1e-9)


def test_draws_follow_the_key_and_differ_between_modes(begin: MethodInput) -> None:
    method = Laplace(kind="laplace", **{**LAPLACE, "modes": 2, "draws": 6})
    first, again, other = (method.sample(jax.random.key(k), begin).positions for k in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()
    assert (first[:3] != first[3:]).all()


def test_log_density_is_that_of_the_mixture_as_dealt(begin: MethodInput) -> None:
    """Two Gaussians of three and two draws, a sixth of a unit apart."""
    apart = begin._replace(starts=begin.starts + jnp.array([[0.0], [1 / 6]]))
    forms: tuple[gaussian.Covariance, ...] = ("full", "diagonal", "low_rank")
    for form in forms:
        method = Laplace(kind="laplace", **{**LAPLACE, "modes": 2, "draws": 5, "covariance": form})
        drawn = method.sample(jax.random.key(0), apart)
        assert drawn.log_density is not None
        parts = [
            gaussian.gaussian_about(apart.gauss_newton, start, form, 2) for start in apart.starts
        ]
        each = [
            np.log(share)
            + multivariate_normal(part.mean, covariance_of(part)).logpdf(drawn.positions)
            for part, share in zip(parts, (0.6, 0.4), strict=True)
        ]
        np.testing.assert_allclose(drawn.log_density, np.logaddexp(*each), rtol=1e-6)


def log_ratios(model: builder.Model, dataset: Dataset, drawn: MethodDraws) -> np.ndarray:
    found = builder.name_draws(model, dataset, drawn)
    assert found.log_approximation is not None
    return (found.log_density - found.log_approximation)[0]


def test_ratios_are_constant_where_laplace_is_exact_and_have_a_tail_where_it_is_narrow(
    model: builder.Model, begin: MethodInput, dataset: Dataset
) -> None:
    """With the largest variance s of exact draws, whitened by the approximation, k is 1 - 1 / s."""
    key, begin = jax.random.key(1), one_of(begin)
    exact = log_ratios(model, dataset, Laplace(kind="laplace", **LAPLACE).sample(key, begin))
    assert np.ptp(exact) < 1e-6
    assert importance_weights(exact).reliable
    narrow = {**LAPLACE, "covariance": "diagonal", "draws": 40_000}
    found = importance_weights(
        log_ratios(model, dataset, Laplace(kind="laplace", **narrow).sample(key, begin))
    )
    forms, top = begin.gauss_newton, begin.starts[0]
    own, full = map(covariance_of, (gaussian.diagonal(forms, top), gaussian.full(forms, top, "")))
    largest = np.linalg.eigvals(np.linalg.solve(own, full)).real.max()
    assert found.pareto_k == pytest.approx(1 - 1 / largest, abs=0.1)
    assert found.pareto_k > 0.4


def test_an_output_layer_drawn_exactly_leaves_the_ratios_of_the_rest(dataset: Dataset) -> None:
    network = {"hidden": [2], "activation": "tanh", "output": "marginalised"}
    model = builder.build_model(ModelJob.model_validate({**MODEL, "network": network}), dataset)
    begin = builder.approach(model, dataset, [np.full(model.density.size, 0.3)])
    drawn = Laplace(kind="laplace", **{**LAPLACE, "draws": 30}).sample(jax.random.key(1), begin)
    assert drawn.log_density is not None
    rest = jax.jit(jax.vmap(begin.logdensity_fn))(model.sampled.reduce(drawn.positions))
    expected = rest - drawn.log_density
    np.testing.assert_allclose(log_ratios(model, dataset, drawn), expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("draws", "evidence", "weights", "dealt"),
    [
        (10, [0.0, -9.0, 5.0], "equal", [4, 3, 3]),
        (10, [0.0, float(np.log(3)), -700.0], "evidence", [3, 7, 0]),
        (4, [-1e4, -1e4], "evidence", [2, 2]),
    ],
)
def test_draws_are_dealt_by_their_weights(
    draws: int, evidence: list[float], weights: Any, dealt: list[int]
) -> None:
    found = mode_mixture.deal(draws, evidence, weights)
    assert sorted(found) == sorted(dealt)
    assert sum(found) == draws


def test_what_cannot_be_made_is_refused_with_a_remedy(begin: MethodInput) -> None:
    key = jax.random.key(0)
    with refused("inference.maps_for_modes", maps=2, modes=1):
        Laplace(kind="laplace", **LAPLACE).sample(key, begin)
    with refused("inference.rank", rank=6, parameters=begin.starts.shape[1]):
        Laplace(kind="laplace", **{**LAPLACE, "covariance": "low_rank", "rank": 6}).sample(
            key, one_of(begin)
        )
    with refused("inference.linearised_integrated"):
        linearised = Laplace(kind="laplace", **{**LAPLACE, "predictive": "linearised"})
        linearised.sample(key, one_of(begin)._replace(maps=jnp.zeros((1, 9))))
    with refused("inference.no_hyperparameters"):
        Laplace(kind="laplace", **{**LAPLACE, "hyperparameters": "evidence"}).sample(
            key, one_of(begin)
        )
    many = jnp.zeros((1, MOST_PARAMETERS + 1))
    with refused("inference.dense_curvature", parameters=MOST_PARAMETERS + 1):
        Laplace(kind="laplace", **LAPLACE).sample(key, begin._replace(starts=many))
    with invalid("study.few_draws_of_modes", draws=3, modes=4):
        method = {"kind": "laplace", "modes": 4, "draws": 3}
        ApproximateJob.model_validate({"model": MODEL, "method": method, "seed": 1})


def test_hyperparameters_of_highest_evidence_are_those_of_the_exact_marginal_likelihood(
    dataset: Dataset,
) -> None:
    """Of linear regression, whose noise and whose prior scales of weights and bias are learned.

    Its output bias is N(0, 1). The evidence is that of the targets, N(0, X S X' + sigma^2), times
    the half-normal priors, as densities of logarithms.
    """
    hyper = {"kind": "half_normal", "scale": 1.0}
    stated = {**LEARNED, "prior": {"kind": "hierarchical", "hyper": hyper}}
    model = builder.build_model(ModelJob.model_validate(stated), dataset)
    train, features = dataset.split == TRAIN, dataset.features.shape[1]
    rows, target = design(dataset)[train], dataset.target[train]

    def minus(logs: np.ndarray) -> float:
        sigma, scale = np.exp(logs)
        prior = np.diag([scale**2 / features] * features + [1.0])
        marginal = rows @ prior @ rows.T + sigma**2 * np.eye(len(rows))
        own = np.sum(logs - np.exp(logs) ** 2 / 2)
        return -float(multivariate_normal(cov=marginal).logpdf(target) + own)

    exact = minimize(minus, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-7}).x
    places = model.density.places
    assert {*places} == {"noise", "scale_weights_1", "weights_1_whitened", "biases_1_whitened"}
    begin = builder.approach(model, dataset, [np.zeros(model.density.size)])
    settings = {**LAPLACE, "draws": 2, "hyperparameters": "evidence", "predictive": "linearised"}
    drawn = Laplace(kind="laplace", **settings).sample(jax.random.key(0), begin)
    assert drawn.centres is not None
    assert drawn.of_starts["evidence_slope"][0] < 1e-2
    found = drawn.centres[0]
    logs = np.array([found[places[name]][0] for name in ("noise", "scale_weights_1")])
    np.testing.assert_allclose(logs, exact, atol=1e-4)
    slope = np.array(jax.jit(jax.grad(model.logdensity_fn))(found))
    slope[begin.hyperparameters] = 0
    np.testing.assert_allclose(slope, 0, atol=1e-6)
