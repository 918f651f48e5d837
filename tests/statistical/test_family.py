"""Draws of every prior and likelihood from small problems whose posterior is known by quadrature.

Networks without hidden layer are linear. What is left of each problem after the conjugate part is
integrated over a grid; two grids, one finer, must agree far below the Monte-Carlo error.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_expit, log_softmax
from scipy.stats import cauchy, gamma, halfcauchy, halfnorm, invgamma, laplace, norm, qmc, t

from nlobayes import builder
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.statistical.test_exactness import assert_expectations, make_dataset, sample_model

pytestmark = pytest.mark.statistical

ROWS = 30
PINNED = 1e16
"""A precision at which biases are zero."""
SIGMA = 0.5

Variables = dict[str, jax.Array]


def gaussian_prior(**changes: float) -> dict[str, Any]:
    return {"kind": "gaussian", "precision": 1.0, "bias_precision": PINNED, **changes}


def assert_moments(
    stated: ModelJob,
    dataset: Dataset,
    quantities: Callable[[Variables], list[Any]],
    moments: tuple[np.ndarray, np.ndarray],
) -> None:
    """Compare means and variances of quantities of the variables with those known."""

    def observed(model: builder.Model) -> Callable[[jax.Array], jax.Array]:
        return lambda position: jnp.stack(quantities(model.density.variables(position)))

    draws = sample_model("nuts", stated, dataset, observed)[..., :-1]  # the last is kinetic energy
    mean, variance = moments
    expected = {f"mean {i}": float(value) for i, value in enumerate(mean)}
    expected |= {f"variance {i}": float(value) for i, value in enumerate(variance)}
    assert_expectations(np.concatenate([draws, (draws - mean) ** 2], axis=-1), expected)


def on_grid(
    log_density: Callable[..., Any], limits: list[tuple[float, float]], nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of every coordinate, checked by a grid of three quarters of the nodes."""

    def moments(nodes: int) -> np.ndarray:
        axes = [np.linspace(*limit, nodes) for limit in limits]
        flat = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")])
        parts = np.array_split(flat, 1 + flat.shape[1] // 20000, axis=1)
        log_weight = np.concatenate([log_density(*part) for part in parts])
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        mean = flat @ weight
        return np.stack([mean, ((flat - mean[:, None]) ** 2) @ weight])

    coarse, fine = moments(nodes * 3 // 4), moments(nodes)
    np.testing.assert_allclose(coarse, fine, rtol=2e-3, atol=2e-3)
    return fine[0], fine[1]


def mixture(
    log_weight: np.ndarray, means: np.ndarray, variances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (quantity,) of a mixture whose parts have these (part, quantity)."""
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ means
    return mean, weight @ (variances + (means - mean) ** 2)


def conjugate(
    x: np.ndarray, y: np.ndarray, sigma: Any, covariances: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence, means and variances of weights N(0, covariance), for each of many."""
    precision = np.linalg.inv(covariances) + (x.T @ x) / np.reshape(sigma, (-1, 1, 1)) ** 2
    posterior = np.linalg.inv(precision)
    along = (x.T @ y) / np.reshape(sigma, (-1, 1)) ** 2
    means = np.einsum("kij,kj->ki", posterior, np.broadcast_to(along, (len(posterior), x.shape[1])))
    log_evidence = 0.5 * np.sum(along * means, axis=1) - 0.5 * np.linalg.slogdet(precision)[1]
    log_evidence -= 0.5 * np.linalg.slogdet(covariances)[1]
    log_evidence -= len(y) * np.log(sigma) + 0.5 * y @ y / np.asarray(sigma) ** 2
    return log_evidence, means, np.diagonal(posterior, axis1=1, axis2=2)


def rows(features: int, seed: int = 3) -> tuple[np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(ROWS + 1, features)), rng


def weight(variables: Variables) -> Any:
    return variables["weights_1"][0, 0]


def test_regression_on_what_a_layer_of_the_user_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layer gives cos(x), whatever its weights: they keep their prior, the output is linear."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def mine(xp, x, weights, biases):\n    return xp.cos(x)\n")
    own = {"kind": "layer", "file": "mine.py", "function": "mine"}
    x, rng = rows(2)
    seen = np.cos(x)
    y = seen @ [0.7, -0.4] + SIGMA * rng.normal(size=ROWS + 1)
    _, means, variances = conjugate(seen[:-1], y[:-1], np.array([SIGMA]), np.eye(2)[np.newaxis])

    def quantities(v: Variables) -> list[Any]:
        return [*v["weights_2"][:, 0], v["weights_1"][0, 1]]

    assert_moments(
        model_job(2, prior=gaussian_prior(), sigma=SIGMA, activation=own),
        make_dataset(x, y),
        quantities,
        (np.append(means, 0.0), np.append(variances, 1.0)),
    )


def log_half_normal(log_sigma: Any) -> Any:
    return halfnorm.logpdf(np.exp(log_sigma)) + log_sigma


@pytest.mark.parametrize("targets", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_learned_noise(targets: int) -> None:
    """Of one target, and of two that share nothing: a grid over log sigma, weights conjugate."""
    x, rng = rows(2)
    truth = np.array([[0.7, -0.4], [0.2, 1.0]])[:, :targets]
    y = x @ truth + np.array([0.3, 1.2])[:targets] * rng.normal(size=(ROWS + 1, targets))
    dataset = make_dataset(x, y[:, 0])
    if targets == 2:
        dataset = dataset._replace(target=y, observed=y, target_names=("y", "z"))
    log_sigma, means, variances = np.linspace(-3, 2, 4001), [], []
    for column in y[:-1].T:
        sigma = np.exp(log_sigma)
        parts = conjugate(x[:-1], column, sigma, np.broadcast_to(np.eye(2), (len(sigma), 2, 2)))
        log_weight = parts[0] + log_half_normal(log_sigma)
        mean, variance = mixture(
            log_weight,
            np.column_stack([parts[1], log_sigma]),
            np.column_stack([parts[2], np.zeros(len(sigma))]),
        )
        means.append(mean)
        variances.append(variance)

    def quantities(v: Variables) -> list[Any]:
        noise = jnp.reshape(jnp.log(v["noise"]), -1)
        return [q for k in range(targets) for q in (*v["weights_1"][:, k], noise[k])]

    stated = model_job(prior=gaussian_prior(), likelihood={"kind": "gaussian", "sigma": None})
    assert_moments(stated, dataset, quantities, (np.concatenate(means), np.concatenate(variances)))


def test_student_t_with_learned_scale_and_degrees() -> None:
    """A grid over the weight, log sigma and log(nu - 2)."""
    x, rng = rows(1)
    y = 0.7 * x[:, 0] + 0.3 * rng.standard_t(3, ROWS + 1)

    def log_density(w: Any, log_sigma: Any, log_above: Any) -> Any:
        above = np.exp(log_above)
        log_prior = norm.logpdf(w) + log_half_normal(log_sigma)
        log_prior += gamma.logpdf(above, 2, scale=10) + log_above
        residual = y[:-1] - w[:, None] * x[:-1, 0]
        law = t(2 + above[:, None], scale=np.exp(log_sigma)[:, None])
        return log_prior + law.logpdf(residual).sum(axis=1)

    moments = on_grid(log_density, [(0.0, 1.4), (-3.0, 0.6), (-7.0, 5.0)], 44)
    assert_moments(
        model_job(
            prior=gaussian_prior(), likelihood={"kind": "student_t", "degrees_of_freedom": None}
        ),
        make_dataset(x, y),
        lambda v: [weight(v), jnp.log(v["noise"]), jnp.log(v["degrees_of_freedom"] - 2)],
        moments,
    )


@pytest.mark.slow
def test_laplace_with_learned_scale() -> None:
    """A grid over the weight and log b."""
    x, rng = rows(1)
    y = 0.7 * x[:, 0] + rng.laplace(0, 0.3, ROWS + 1)

    def log_density(w: Any, log_b: Any) -> Any:
        residual = y[:-1] - w[:, None] * x[:-1, 0]
        data = laplace.logpdf(residual, scale=np.exp(log_b)[:, None]).sum(axis=1)
        return norm.logpdf(w) + log_half_normal(log_b) + data

    moments = on_grid(log_density, [(0.0, 1.4), (-2.5, 0.5)], 300)
    stated = model_job(prior=gaussian_prior(), likelihood={"kind": "laplace"})
    dataset = make_dataset(x, y)
    assert_moments(stated, dataset, lambda v: [weight(v), jnp.log(v["noise"])], moments)


@pytest.mark.slow
def test_heteroscedastic_trend() -> None:
    """Sigma = 0.4 exp(0.8 x): a grid over the slope and the offset of log sigma."""
    x, rng = rows(1)
    y = 0.7 * x[:, 0] + 0.4 * np.exp(0.8 * x[:, 0]) * rng.normal(size=ROWS + 1)
    slope, offset = (
        a.ravel() for a in np.meshgrid(np.linspace(-1, 3, 161), np.linspace(-3, 3, 161))
    )
    sigma = 0.4 * np.exp(slope[:, None] * x[:-1, 0] + offset[:, None])
    design = np.column_stack([x[:-1, 0], np.ones(ROWS)])
    precision = np.einsum("ki,ij,il->kjl", sigma**-2, design, design) + np.eye(2)
    along = (sigma**-2 * y[:-1]) @ design
    covariance = np.linalg.inv(precision)
    means = np.einsum("kij,kj->ki", covariance, along)
    log_weight = norm.logpdf(slope) + norm.logpdf(offset) + 0.5 * np.sum(along * means, axis=1)
    log_weight -= 0.5 * np.linalg.slogdet(precision)[1]
    log_weight -= np.sum(np.log(sigma) + 0.5 * (y[:-1] / sigma) ** 2, axis=1)
    known = np.column_stack([means, slope, offset])
    spread = np.diagonal(covariance, axis1=1, axis2=2)
    moments = mixture(log_weight, known, np.column_stack([spread, np.zeros((len(slope), 2))]))
    stated = model_job(
        prior=gaussian_prior(bias_precision=1.0),
        likelihood={"kind": "heteroscedastic", "scale": 0.4},
    )

    def quantities(v: Variables) -> list[Any]:
        w, b = v["weights_1"][0], v["biases_1"]
        return [w[0], b[0], w[1], b[1]]

    assert_moments(stated, make_dataset(x, y), quantities, moments)


def in_classes(dataset: Dataset, labels: int) -> Dataset:
    transforms = {"target": {"labels": tuple(range(labels)), "sd": 1.0}}
    return dataset._replace(transforms=transforms)


@pytest.mark.slow
def test_bernoulli_logits() -> None:
    """A grid over weight and bias; temperature 0.7."""
    x, rng = rows(1)
    y = (rng.logistic(size=ROWS + 1) < (1.2 * x[:, 0] - 0.5) / 0.7).astype(float)

    def log_density(w: Any, b: Any) -> Any:
        logit = (w[:, None] * x[:-1, 0] + b[:, None]) / 0.7
        data = log_expit(np.where(y[:-1] > 0, logit, -logit)).sum(axis=1)
        return norm.logpdf(w) + norm.logpdf(b) + data

    moments = on_grid(log_density, [(-2, 4), (-3, 3)], 240)
    stated = model_job(
        prior=gaussian_prior(bias_precision=1.0),
        likelihood={"kind": "bernoulli", "temperature": 0.7},
    )
    dataset = in_classes(make_dataset(x, y), 2)
    assert_moments(stated, dataset, lambda v: [weight(v), v["biases_1"][0]], moments)


def test_categorical_logits() -> None:
    """A grid over the weights of three classes; temperature 0.7."""
    x, rng = rows(1)
    logits = np.outer(x[:, 0], [1.2, -0.5, 0.0]) / 0.7
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1).astype(float)

    def log_density(*w: Any) -> Any:
        logit = np.stack(w, axis=-1)[:, None, :] * x[:-1, :1] / 0.7
        chosen = y[None, :-1, None].astype(int)
        data = np.take_along_axis(log_softmax(logit, axis=-1), chosen, axis=-1)
        return norm.logpdf(w).sum(axis=0) + data.sum(axis=(1, 2))

    moments = on_grid(log_density, [(-4, 4)] * 3, 48)
    stated = model_job(
        prior=gaussian_prior(), likelihood={"kind": "categorical", "temperature": 0.7}
    )
    dataset = in_classes(make_dataset(x, y), 3)
    assert_moments(stated, dataset, lambda v: [*v["weights_1"][0]], moments)


HYPER: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "half_normal": (
        {"kind": "half_normal", "scale": 0.8},
        lambda s: halfnorm.logpdf(s, scale=0.8),
    ),
    "half_cauchy": (
        {"kind": "half_cauchy", "scale": 0.8},
        lambda s: halfcauchy.logpdf(s, scale=0.8),
    ),
    "gamma_precision": (
        {"kind": "gamma_precision", "shape": 2.0, "rate": 0.5},
        lambda s: gamma.logpdf(s**-2.0, 2.0, scale=2.0) + np.log(2.0) - 3 * np.log(s),
    ),
}


def linear_rows() -> tuple[np.ndarray, np.ndarray]:
    x, rng = rows(4)
    return x, x @ [0.9, -1.2, 0.5, 0.8] + 0.4 + SIGMA * rng.normal(size=ROWS + 1)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("half_normal", marks=pytest.mark.slow),
        "half_cauchy",
        pytest.param("gamma_precision", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_hierarchical_scales(name: str) -> None:
    """A grid over the logarithm of the scale, weights conjugate."""
    hyper, log_density = HYPER[name]
    x, y = linear_rows()
    design = np.column_stack([x, np.ones(ROWS + 1)])[:-1]
    log_scale = np.linspace(-5, 5, 2001)
    covariances = np.zeros((len(log_scale), 5, 5))
    covariances[:, range(4), range(4)] = np.exp(2 * log_scale)[:, None] / 4
    covariances[:, 4, 4] = 1.0
    parts = conjugate(design, y[:-1], SIGMA, covariances)
    log_weight = parts[0] + log_density(np.exp(log_scale)) + log_scale
    moments = mixture(
        log_weight,
        np.column_stack([parts[1], log_scale]),
        np.column_stack([parts[2], np.zeros(len(log_scale))]),
    )
    assert_moments(
        model_job(
            prior={"kind": "hierarchical", "hyper": hyper},
            sigma=SIGMA,
        ),
        make_dataset(x, y),
        lambda v: [*v["weights_1"][:, 0], v["biases_1"][0], jnp.log(v["scale_weights_1"])],
        moments,
    )


@pytest.mark.slow
def test_tensorbnn_scales() -> None:
    """The mean of each layer is integrated with its weights; a grid over both scales.

    Wide hyper-priors, of which the truncation is seen.
    """
    x, y = linear_rows()
    design = np.column_stack([x, np.ones(ROWS + 1)])[:-1]
    of_weights, of_bias = (
        a.ravel() for a in np.meshgrid(np.linspace(0.01, 4.5, 130), np.linspace(0.01, 4.5, 130))
    )
    covariances = np.zeros((len(of_bias), 5, 5))
    covariances[:, :4, :4] = of_weights[:, None, None] ** 2 * np.eye(4) + 0.5**2
    covariances[:, 4, 4] = of_bias**2 + 0.5**2
    parts = conjugate(design, y[:-1], SIGMA, covariances)
    log_prior = norm.logpdf([of_weights, of_bias], 0.5, 0.8).sum(axis=0)
    moments = mixture(
        parts[0] + log_prior,
        np.column_stack([parts[1], of_weights, of_bias]),
        np.column_stack([parts[2], np.zeros((len(of_bias), 2))]),
    )
    prior = {"kind": "tensorbnn", "mean_sd": 0.5, "scale_mean": 0.5, "scale_sd": 0.8}
    assert_moments(
        model_job(prior=prior, sigma=SIGMA),
        make_dataset(x, y),
        lambda v: [
            *v["weights_1"][:, 0],
            v["biases_1"][0],
            v["scale_weights_1"],
            v["scale_biases_1"],
        ],
        moments,
    )


@pytest.mark.slow
def test_horseshoe_weights() -> None:
    """2^17 quasi-random scales of two weights from the prior, weights conjugate given each."""
    x, rng = rows(2)
    y = x @ [1.5, 0.05] + 0.2 + SIGMA * rng.normal(size=ROWS + 1)
    design = np.column_stack([x, np.ones(ROWS + 1)])[:-1]
    u = qmc.Sobol(4, rng=np.random.default_rng(5)).random_base2(17)
    local, shared = halfcauchy.ppf(u[:, :2]), halfcauchy.ppf(u[:, 2:3], scale=0.5)
    slab = invgamma.ppf(u[:, 3:], 2.0, scale=2.0 * 1.5**2)
    variance = slab * (shared * local) ** 2 / (slab + (shared * local) ** 2) / 2
    covariances = np.zeros((len(u), 3, 3))
    covariances[:, range(2), range(2)] = np.maximum(variance, 1e-12)
    covariances[:, 2, 2] = 1.0
    log_evidence, means, variances = conjugate(design, y[:-1], SIGMA, covariances)
    prior = {"kind": "horseshoe", "global_scale": 0.5, "slab_scale": 1.5}
    assert_moments(
        model_job(prior=prior, sigma=SIGMA),
        make_dataset(x, y),
        lambda v: [*v["weights_1"][:, 0], v["biases_1"][0]],
        mixture(log_evidence, means, variances),
    )


FAMILIES: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "laplace": ({}, lambda w: laplace.logpdf(w, scale=2**-0.5)),
    "cauchy": ({}, lambda w: cauchy.logpdf(w, scale=1 / 2)),
    "student_t": ({"degrees_of_freedom": 3.0}, lambda w: t.logpdf(w, 3.0, scale=2**-0.5)),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_independent_weights(family: str) -> None:
    """A grid over two weights of a noisy problem, whose prior is felt; the bias is pinned."""
    changes, log_prior = FAMILIES[family]
    x, rng = rows(2)
    y = x @ [1.5, -0.1] + 2.0 * rng.normal(size=ROWS + 1)

    def log_density(*w: Any) -> Any:
        residual = y[:-1] - np.stack(w, axis=-1) @ x[:-1].T
        return log_prior(np.stack(w)).sum(axis=0) - 0.5 * np.sum((residual / 2.0) ** 2, axis=1)

    moments = on_grid(log_density, [(-1.5, 3.5), (-2.5, 2.5)], 240)
    prior = {"kind": family, "output_bias_scale": PINNED**-0.5, **changes}
    stated = model_job(prior=prior, sigma=2.0)
    assert_moments(stated, make_dataset(x, y), lambda v: [*v["weights_1"][:, 0]], moments)
