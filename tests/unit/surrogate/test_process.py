"""Predictions of an infinitely wide network against a dense Gaussian process of scikit-learn."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve

from nlobayes.model.infinite import (
    BIASES,
    COSINES,
    EXPONENTS,
    INPUTS,
    OUTPUT,
    Scales,
    Warp,
    covariance,
    scaled_inputs,
    scales_of,
    variance,
    warp_of,
)
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate import conditioned, process
from nlobayes.surrogate.nodes import NODES, spread
from nlobayes.surrogate.prediction import process_function
from nlobayes.types import NoiseTable, SurrogateContent
from tests.members import likelihood
from tests.rows import dataset_of

gaussian_process = pytest.importorskip("sklearn.gaussian_process")
ROWS, POINTS = 150, 40


def _draws(count: int = 2, *, cosines: bool = False) -> dict[str, np.ndarray]:
    """Scales and exponents of two draws, different from each other."""
    rng = np.random.default_rng(5)
    return {
        **({COSINES: np.linspace(0.6, 0.9, count)} if cosines else {}),
        INPUTS: np.exp(rng.normal(-0.5, 0.3, size=(count, 2))),
        EXPONENTS: rng.normal(1.0, 0.3, size=(count, 2)),
        BIASES: np.exp(rng.normal(0, 0.2, size=count)),
        OUTPUT: np.exp(rng.normal(0.5, 0.2, size=count)),
        NOISE: np.full(count, 0.1),
    }


def _rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    rng = np.random.default_rng(2)
    x = rng.gamma(2.0, size=(ROWS + POINTS, 2))
    mean, sd = x[:ROWS].mean(axis=0), x[:ROWS].std(axis=0)
    z = (x - mean) / sd
    target = np.sin(z[:ROWS, 0]) + 0.1 * rng.normal(size=ROWS)
    return z[:ROWS], target, z[ROWS:], warp_of(z[:ROWS], {"mean": mean, "scale": sd})


class _Kernel(gaussian_process.kernels.Kernel):  # type: ignore[name-defined]
    """The covariance of one draw as a kernel of scikit-learn without hyperparameters."""

    def __init__(self, activation: str, scales: Scales) -> None:
        self.activation, self.scales = activation, scales

    def __call__(self, left: Any, right: Any = None, eval_gradient: bool = False) -> Any:
        return covariance(self.activation, left, left if right is None else right, self.scales, np)

    def diag(self, inputs: np.ndarray) -> np.ndarray:
        return np.asarray(variance(self.activation, inputs, self.scales, np))

    def is_stationary(self) -> bool:
        return False


def values(
    activation: str, draws: list[conditioned.Conditioned], warp: Warp, points: np.ndarray
) -> np.ndarray:
    """Evaluate f (draw x node, point) of one target."""
    return process.evaluate(activation, process.together([draws]), warp, points)[..., 0]


@pytest.mark.parametrize("activation", ["erf", "relu"])
@pytest.mark.parametrize("cosines", [False, True])
def test_mean_and_sd_are_those_of_a_gaussian_process(activation: str, cosines: bool) -> None:
    """The mean to 1e-8; the sd to the stated loss of one per cent of the total sd."""
    features, target, points, warp = _rows()
    drawn = _draws(cosines=cosines)
    given = conditioned.condition(activation, drawn, {"features": features, "target": target}, warp)
    means, sds = [], []
    for number in range(2):
        one = {name: values[number] for name, values in drawn.items()}
        kernel = _Kernel(activation, scales_of(one))
        regressor = gaussian_process.GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None)
        regressor.fit(scaled_inputs(one, features, warp, np), target)
        mean, sd = regressor.predict(scaled_inputs(one, points, warp, np), return_std=True)
        found = values(activation, given[number : number + 1], warp, points)
        np.testing.assert_allclose(found.mean(axis=0), mean, atol=1e-8)
        total, expected = np.hypot(found.std(axis=0), 0.1), np.hypot(sd, 0.1)
        np.testing.assert_allclose(total, expected, rtol=conditioned.MOST_LOSS)
        means.append(mean)
        sds.append(sd)
    both = values(activation, given, warp, points)
    np.testing.assert_allclose(both.mean(axis=0), np.mean(means, axis=0), atol=1e-8)
    expected = np.sqrt(np.mean(np.square(sds), axis=0) + np.var(means, axis=0) + 0.01)
    np.testing.assert_allclose(
        np.hypot(both.std(axis=0), 0.1), expected, rtol=conditioned.MOST_LOSS
    )


@pytest.mark.parametrize("activation", ["erf", "relu"])
def test_a_row_that_is_left_out_is_predicted_as_a_new_point(activation: str) -> None:
    """By a process that is conditioned on all other rows, one of which repeats it."""
    features, target, _, warp = _rows()
    features[7] = features[3]
    rows = {"features": features, "target": target}
    (draw, _) = conditioned.condition(activation, _draws(), rows, warp)
    mean, sd = conditioned.left_out(draw, rows)
    for row in (0, 3, 20):
        others = {name: np.delete(values, row, axis=0) for name, values in rows.items()}
        (apart, _) = conditioned.condition(activation, _draws(), others, warp)
        seen = process.see(activation, apart, warp, features[row : row + 1], np)
        exact = process.moments(apart, seen, np)
        assert mean[row] == pytest.approx(exact[0][0], abs=1e-8)
        assert np.hypot(sd[row], 0.1) == pytest.approx(np.hypot(exact[1][0], 0.1), rel=0.01)


def test_it_may_be_conditioned_on_all_rows_with_the_warps_of_the_train_rows() -> None:
    """A held-out row of a negative value changes no warp."""
    x = np.array([[1.0, 4.0], [2.0, 3.0], [3.0, 5.0], [-9.0, 6.0]])
    plain = dataset_of(x, np.arange(4.0))
    constants = {"map": "raw", "mean": [2.0, 4.0], "scale": [0.8, 0.8]}
    data = plain._replace(
        features=(x - [2, 4]) / 0.8,
        split=np.array([0, 0, 0, 1]),
        transforms={**plain.transforms, "features": constants},
    )
    noise = likelihood("gaussian", sigma=0.2)
    few, many = (
        process.content_of(_draws(), noise, data, used)  # type: ignore[arg-type]
        for used in (data.split == 0, np.ones(4, bool))
    )
    assert (len(few[1]["target"]), len(many[1]["target"])) == (3, 4)
    np.testing.assert_array_equal(few[2].ratios, many[2].ratios)
    assert (few[2].ratios > 0).all()


def test_nodes_of_equal_draws_have_the_quantiles_of_their_normal() -> None:
    """Six nodes that all draws share would be 0.5 off."""
    values = spread(np.zeros((8, 1)), np.ones((8, 1)), np)
    assert values.mean() == pytest.approx(0, abs=1e-12)
    assert values.std() == pytest.approx(1)
    found = np.quantile(values, (0.05, 0.16, 0.5, 0.84, 0.95))
    np.testing.assert_allclose(found, [-1.645, -0.994, 0, 0.994, 1.645], atol=0.08)


def test_nodes_of_different_draws_have_the_quantiles_of_the_mixture() -> None:
    rng = np.random.default_rng(4)
    means, sds = 0.2 * rng.normal(size=(8, 1)), np.exp(0.2 * rng.normal(size=(8, 1)))
    found = np.quantile(spread(means, sds, np), (0.16, 0.5, 0.84))
    expected = np.quantile(means + sds * rng.standard_normal((8, 100_000)), (0.16, 0.5, 0.84))
    np.testing.assert_allclose(found, expected, atol=0.1)


def test_a_row_of_a_file_is_predicted_without_itself() -> None:
    """As by a file of all other rows; the spread of the nodes to the stated loss."""
    content = _content()
    found = _without_own_row(content)[..., 0]
    points = content.rows["features"]
    for row in (0, 20):
        rows = {name: np.delete(values, row, axis=0) for name, values in content.rows.items()}
        expected = process.evaluator(content._replace(rows=rows))(points[row : row + 1])[:, 0]
        assert found[:, row].mean() == pytest.approx(expected.mean(), abs=1e-8)
        sd = np.hypot(expected.std(), 0.1)
        assert np.hypot(found[:, row].std(), 0.1) == pytest.approx(sd, rel=0.01)


def _without_own_row(content: SurrogateContent) -> np.ndarray:
    activation, warp = process.stated(content)
    return process.without_own_row(activation, content.variables, content.rows, warp)


@pytest.mark.parametrize(("activation", "most"), [("erf", 40), ("relu", 60)])
def test_the_variance_is_of_few_directions(activation: str, most: int) -> None:
    """Their loss at new points is tested above."""
    features, target, _, warp = _rows()
    given = conditioned.condition(
        activation, _draws(), {"features": features, "target": target}, warp
    )
    assert max(len(one.projection) for one in given) < most


def test_a_point_alone_is_predicted_as_in_a_batch() -> None:
    features, target, points, warp = _rows()
    given = conditioned.condition("erf", _draws(), {"features": features, "target": target}, warp)
    batch = values("erf", given, warp, points)
    alone = values("erf", given, warp, points[:1])
    np.testing.assert_allclose(alone[:, 0], batch[:, 0], rtol=1e-8)


def _content() -> SurrogateContent:
    features, target, _, warp = _rows()
    few = np.zeros((1, 2))
    facts = {
        "activation": "erf",
        "warp": {name: values.tolist() for name, values in warp._asdict().items()},
    }
    rows = {"features": features, "target": target}
    return SurrogateContent(_draws(), few, few[0], few, few[0], (), facts, rows=rows)


@pytest.mark.parametrize("activation", ["erf", "relu"])
@pytest.mark.parametrize("cells", [1, process.CELLS])
def test_jax_predicts_as_numpy_does(
    activation: str, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JAX evaluates draw by draw; NumPy does so only if their covariances fill the cache."""
    monkeypatch.setattr(process, "CELLS", cells)
    points, content = _rows()[2], _content()
    content = content._replace(facts=content.facts | {"activation": activation})
    expected = process.evaluator(content)(points)
    found = process_function(content)(jnp.asarray(points))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def _of_two_targets() -> SurrogateContent:
    content = _content()
    target, noise = content.rows["target"], content.variables[NOISE]
    return content._replace(
        variables={**content.variables, NOISE: np.column_stack([noise, 3 * noise])},
        rows={**content.rows, "target": np.column_stack([target, target**2])},
        noises=(NoiseTable(few := np.zeros(1), few),) * 2,
    )


def test_each_of_several_targets_is_predicted_as_if_it_were_alone() -> None:
    points, whole = _rows()[2], _of_two_targets()
    assert process.is_whole(whole)
    assert not process.is_whole(whole._replace(noises=whole.noises[:1]))
    found = process.evaluator(whole)(points)
    in_jax = process_function(whole)(jnp.asarray(points))
    assert found.shape == (2 * NODES, POINTS, 2)
    np.testing.assert_allclose(in_jax, found, rtol=1e-7, atol=1e-9)
    for place in (0, 1):  # the rows that others follow from are chosen for all targets together
        drawn, rows = process.of_output(whole.variables, whole.rows, place)
        alone = process.evaluator(whole._replace(variables=drawn, rows=rows))(points)
        np.testing.assert_allclose(alone, found[..., place], atol=0.01 * drawn[NOISE].min())
        given_others = _without_own_row(whole._replace(variables=drawn, rows=rows))[..., 0]
        found_others = _without_own_row(whole)[..., place]
        np.testing.assert_allclose(given_others, found_others, atol=0.01 * drawn[NOISE].min())


def _smooth(noise: float, size: float) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Scales of one draw with an output of this scale, and 200 rows of one input."""
    rng = np.random.default_rng(8)
    x = np.sort(rng.uniform(-1.5, 1.5, 200))[:, np.newaxis]
    scales = ((BIASES, 0.9), (OUTPUT, size), (NOISE, noise))
    drawn = {INPUTS: np.full((1, 1), 0.6), **{name: np.full(1, value) for name, value in scales}}
    return drawn, {"features": x, "target": np.sin(x[:, 0]) + noise * rng.standard_normal(200)}


def _dense(
    drawn: dict[str, np.ndarray], x: np.ndarray, target: np.ndarray, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute mean and sd (point,) of f from the covariance of all rows."""
    scales = Scales(drawn[BIASES][0], drawn[OUTPUT][0])
    rows, at = (drawn[INPUTS][0, 0] * each for each in (x, points))
    own = covariance("erf", rows, rows, scales, np) + drawn[NOISE][0] ** 2 * np.eye(len(x))
    across = covariance("erf", at, rows, scales, np)
    gain = cho_solve(cho_factor(own), across.T).T
    left = variance("erf", at, scales, np) - (gain * across).sum(axis=1)
    return gain @ target, np.sqrt(np.maximum(left, 0))


SMOOTH = Warp(np.zeros(1), np.ones(1))


@pytest.mark.parametrize("noise", [1e-2, 1e-3])
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_rows_of_a_smooth_function_follow_from_few(noise: float, size: float) -> None:
    """Mean and sd of f, also without a row, are those given all rows."""
    drawn, rows = _smooth(noise, size)
    (draw,) = conditioned.condition("erf", drawn, rows, SMOOTH)
    assert len(draw.rows) < 25
    points = np.linspace(-1.4, 1.4, 50)[:, np.newaxis]
    mean, sd = process.moments(draw, process.see("erf", draw, SMOOTH, points, np), np)
    expected = _dense(drawn, rows["features"], rows["target"], points)
    np.testing.assert_allclose(mean, expected[0], atol=2e-3 * noise)
    np.testing.assert_allclose(np.hypot(sd, noise), np.hypot(expected[1], noise), rtol=1e-4)
    mean, sd = conditioned.left_out(draw, rows)
    for row in (0, 70, 199):
        x, target = (np.delete(rows[name], row, axis=0) for name in ("features", "target"))
        expected = _dense(drawn, x, target, rows["features"][row : row + 1])
        assert mean[row] == pytest.approx(expected[0][0], abs=2e-3 * noise)
        assert np.hypot(sd[row], noise) == pytest.approx(np.hypot(expected[1][0], noise), rel=1e-4)


def test_rows_below_the_rounding_are_all_kept() -> None:
    (draw,) = conditioned.condition("erf", *_smooth(1e-8, 30.0), SMOOTH)
    assert len(draw.rows) == 200


@pytest.mark.parametrize("size", [1, 31, 32, 33, 150])
def test_a_steep_triangle_is_inverted_to_rounding(size: int) -> None:
    """The inverse of a factor of condition 1e6 times the factor is 1 to 1e-9."""
    x = np.linspace(0, 1, size)
    steep = np.linalg.cholesky(np.exp(-20 * np.square(x[:, None] - x)) + 1e-10 * np.eye(size))
    inverse = conditioned.inverse_of(steep)
    np.testing.assert_allclose(inverse @ steep, np.eye(size), atol=1e-9)
    np.testing.assert_array_equal(np.triu(inverse, 1), 0)


def test_arrays_that_do_not_fit_each_other_are_told() -> None:
    content = _content()
    assert process.is_whole(content)
    shorter = {**content.rows, "target": content.rows["target"][1:]}
    assert not process.is_whole(content._replace(rows=shorter))
    assert not process.is_whole(content._replace(rows={"features": content.rows["features"]}))
    assert not process.is_whole(content._replace(facts={**content.facts, "activation": "tanh"}))
    without = {name: v for name, v in content.variables.items() if name != NOISE}
    assert not process.is_whole(content._replace(variables=without))


def test_pivots_are_of_full_rank_where_rounding_leaves_nothing_of_a_row() -> None:
    """The means at the rows are those of a dense solution to 1 % of the noise."""
    rng = np.random.default_rng(0)
    x = rng.random((480, 2))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    warp = warp_of(z, {"mean": x.mean(axis=0), "scale": x.std(axis=0)})
    target = np.sin(z[:, 0]) + z[:, 1]
    drawn = {
        INPUTS: np.array([[0.23379863309313112, 0.16816962088612247]]),
        BIASES: np.array([0.2463061086510742]),
        OUTPUT: np.array([51.10541679506428]),
        NOISE: np.array([2.412810854617253e-05]),
    }
    (draw,) = conditioned.condition("erf", drawn, {"features": z, "target": target}, warp)
    one = {name: values[0] for name, values in drawn.items()}
    inputs = scaled_inputs(one, z, warp, np)
    own = covariance("erf", inputs, inputs, Scales(one[BIASES], one[OUTPUT]), np)
    noise = conditioned.noise_variance(one, {"target": target})
    expected = own @ cho_solve(cho_factor(own + np.diag(noise)), target)
    np.testing.assert_allclose(draw.mean, expected, atol=0.01 * one[NOISE])
