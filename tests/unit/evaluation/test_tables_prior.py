"""The tables of a prior predictive check, against numbers by hand."""

import numpy as np
import pytest

from nlobayes.evaluation import prior_draws as tables
from nlobayes.evaluation.prior_draws import PriorDraws

COVARIATE = np.array([30.0, 10.0, 20.0])
FUNCTIONS = np.array([[[3.0], [1.0], [5.0]], [[0.0], [0.0], [0.0]]])
"""Two draws at three rows; along the covariate the first is 1, 5, 3."""


def small(functions: np.ndarray = FUNCTIONS) -> PriorDraws:
    observed = np.array([[1.0], [2.0], [4.0]])
    return tables.in_order(PriorDraws(("y",), COVARIATE, functions, observed))


def test_rows_follow_the_covariate() -> None:
    draws = small()
    assert draws.covariate.tolist() == [10, 20, 30]
    assert draws.functions[0, :, 0].tolist() == [1, 5, 3]
    assert draws.observed[:, 0].tolist() == [2, 4, 1]


def test_scales_of_each_draw_and_of_the_target() -> None:
    """Along the covariate the target is 2, 4, 1 and the first draw 1, 5, 3."""
    found = tables.prior_scales(small())
    np.testing.assert_array_equal(found["draw"], [np.nan, 0, 1])
    np.testing.assert_allclose(found["mean"], [7 / 3, 3, 0])
    np.testing.assert_allclose(found["sd"], [np.sqrt(14 / 9), np.sqrt(8 / 3), 0])
    np.testing.assert_allclose(found["step"], [2.5, 3, 0])
    np.testing.assert_allclose(found["range"], [3, 4, 0])


def test_quantiles_of_many_draws_are_those_of_their_distribution() -> None:
    rng = np.random.default_rng(2)
    found = tables.prior_quantiles(small(rng.normal([[1.0], [2.0], [3.0]], 2.0, (20_000, 3, 1))))
    centres = np.array([2.0, 3.0, 1.0])
    for name, deviations in {"q2_5": -1.96, "q16": -0.994, "q50": 0, "q97_5": 1.96}.items():
        np.testing.assert_allclose(found[name], centres + 2 * deviations, atol=0.12)
    np.testing.assert_allclose(found["spread"], 2 * 0.994, atol=0.05)
    assert found["observed"].tolist() == [2, 4, 1]


def test_outputs_follow_each_other() -> None:
    functions = np.concatenate([FUNCTIONS, 10 * FUNCTIONS], axis=2)
    observed = np.array([[1.0, 7.0], [2.0, 8.0], [4.0, 9.0]])
    draws = tables.in_order(PriorDraws(("y", "z"), COVARIATE, functions, observed))
    quantiles, scales = tables.prior_quantiles(draws), tables.prior_scales(draws)
    assert quantiles["output"].tolist() == [0, 0, 0, 1, 1, 1]
    assert quantiles["q50"].tolist() == [0.5, 2.5, 1.5, 5, 25, 15]
    assert quantiles["observed"].tolist() == [2, 4, 1, 8, 9, 7]
    np.testing.assert_allclose(scales["range"], [3, 4, 0, 2, 40, 0])
    found = tables.prior_draws(draws)
    assert found["f"][found["output"] == 1].tolist() == [10, 50, 30, 0, 0, 0]


def test_the_largest_probability_comes_first_and_has_no_target() -> None:
    functions = np.array([[[0.2, 0.8], [0.7, 0.3], [0.5, 0.5]]])
    observed = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    draws = tables.with_largest(PriorDraws(("a", "b"), COVARIATE, functions, observed))
    assert draws.names == ("largest probability", "a", "b")
    assert draws.functions[0, :, 0].tolist() == [0.8, 0.7, 0.5]
    assert np.isnan(tables.prior_quantiles(draws)["observed"][:3]).all()
    scales = tables.prior_scales(draws)
    assert scales["output"].tolist() == [0, 1, 1, 2, 2]
    assert np.isnan(scales["draw"]).tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_overflows_is_missing_and_the_other_draws_stand(value: float) -> None:
    functions = np.concatenate([FUNCTIONS, FUNCTIONS[:1]])
    functions[2, 1, 0] = value
    draws = small(functions)
    f, scales = tables.prior_draws(draws)["f"], tables.prior_scales(draws)
    assert np.flatnonzero(np.isnan(f)).tolist() == [6]
    assert all(np.isnan(scales[name][3]) for name in ("mean", "sd", "step", "range"))
    assert tables.prior_quantiles(draws)["q50"].tolist() == [0.5, 2.5, 1.5]
