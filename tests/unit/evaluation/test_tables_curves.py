"""Tables of data with one input: which draws are shown, and densities against SciPy."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.tables import curves as tables
from nlobayes.evaluation.tasks import regression
from nlobayes.evaluation.tasks.task import Choices, ScoringData
from nlobayes.types import Columns, PredictedDraws
from tests.rows import dataset_of
from tests.unit.evaluation.noises import make_noise

NOISE, SD = make_noise("gaussian", 0.2), 0.2
CHAINS, DRAWS, POINTS = 3, 25, 7
X = np.sort(np.random.default_rng(1).uniform(-2, 2, POINTS))


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    """Draws (draw, point) that are wide at the ends."""
    return np.sin(X) + X**2 * np.random.default_rng(2).normal(size=(CHAINS * DRAWS, POINTS)) / 4


@pytest.fixture(scope="module")
def found(draws: np.ndarray) -> dict[str, Columns]:
    return tables.tables(draws, draws[:2] + 1, CHAINS, X, NOISE)


def curve(table: Columns, **names: int) -> np.ndarray:
    chosen = np.all([table[name] == value for name, value in names.items()], axis=0)
    np.testing.assert_array_equal(table["covariate"][chosen], X)
    return table["f"][chosen]


@pytest.mark.parametrize(("count", "most", "expected"), [
    (9, 3, [0, 4, 8]), (3, 9, [0, 1, 2]), (5, 1, [0]), (1, 4, [0]), (0, 4, []),
])  # fmt: skip
def test_numbers_are_chosen_evenly(count: int, most: int, expected: list[int]) -> None:
    assert tables.evenly(count, most).tolist() == expected


@pytest.mark.parametrize(("chains", "draws", "of_each"), [
    (1, 500, 40), (3, 75, 13), (4, 4000, 10), (4, 8, 2), (80, 800, 1),
])  # fmt: skip
def test_as_many_draws_of_every_chain_are_chosen(chains: int, draws: int, of_each: int) -> None:
    chosen = tables.draws_of_chains(draws, chains)
    counts = np.bincount(chosen // (draws // chains), minlength=chains)
    assert counts.tolist() == [of_each] * chains
    assert len({*chosen}) == len(chosen)


def test_curves_are_the_draws_that_they_name(found: dict[str, Columns], draws: np.ndarray) -> None:
    table, by_chain = found["curves"], draws.reshape(CHAINS, DRAWS, POINTS)
    assert len(table["f"]) == CHAINS * 13 * POINTS
    assert {*table["draw"]} == {*range(0, 25, 2)}
    for chain, draw in {*zip(table["chain"], table["draw"], strict=True)}:
        np.testing.assert_array_equal(curve(table, chain=chain, draw=draw), by_chain[chain, draw])


def test_quantiles_are_roots_of_the_mixture(found: dict[str, Columns], draws: np.ndarray) -> None:
    table = found["predictive_quantiles"]
    np.testing.assert_array_equal(table["covariate"], X)
    levels = {"q2_5": 0.025, "q16": 0.16, "q50": 0.5, "q84": 0.84, "q97_5": 0.975}
    for name, level in levels.items():
        below = stats.norm.cdf(table[name], draws, SD).mean(axis=0)
        np.testing.assert_allclose(below, level, rtol=0, atol=1e-6)


def test_density_is_that_of_the_mixture(found: dict[str, Columns], draws: np.ndarray) -> None:
    """Cells are narrower than the noise: the density bends little within them."""
    table = found["density"]
    expected = [
        stats.norm.pdf(value, draws[:, np.searchsorted(X, x)], SD).mean()
        for x, value in zip(table["covariate"], table["value"], strict=True)
    ]
    np.testing.assert_allclose(table["density"], expected, rtol=0, atol=5e-3 * max(expected))


@pytest.mark.parametrize("scale", [0.2, 1e-4])
def test_cells_hold_all_but_the_ends_of_the_probability(draws: np.ndarray, scale: float) -> None:
    """Also where the noise is far narrower than a cell."""
    table = tables.density(draws, X, make_noise("gaussian", scale))
    shape = (tables.CELLS, POINTS)
    width = np.diff(table["value"].reshape(shape), axis=0)[0]
    held = width * table["density"].reshape(shape).sum(axis=0)
    assert (held > 1 - 2 * tables.SHOWN - 1e-6).all()
    assert (held <= 1 + 1e-9).all()


def test_noise_of_every_point_is_its_own() -> None:
    """Wide at the last of more points than are shown."""
    x = np.linspace(0, 1, 1001)
    scales = np.where(x < 1, 0.1, 5.0)
    noise, nothing = make_noise("gaussian", scales), np.zeros((2, 1001))
    found = tables.tables(nothing, nothing, 1, x, noise)
    spread = found["predictive_quantiles"]["q84"] / 0.99446
    assert len(spread) == tables.MOST_POINTS
    np.testing.assert_allclose(spread[[0, -2, -1]], [0.1, 0.1, 5.0], rtol=1e-4)
    last = found["density"]["covariate"] == 1
    assert found["density"]["density"][last].max() == pytest.approx(stats.norm.pdf(0) / 5, rel=1e-3)


def given(inputs: int) -> ScoringData:
    """Predictions of 90 rows with so many inputs, in three chains."""
    rng, rows = np.random.default_rng(5), 90
    x, split = rng.uniform(-1, 1, (rows, inputs)), rng.permutation(np.repeat([0, 1, 2], 30))
    y = x[:, 0] ** 2 + rng.normal(0, 0.1, rows)
    data = dataset_of(x, y, split=split, reference=np.flatnonzero(split == 2))
    f = x[:, 0] ** 2 + rng.normal(0, 0.05, (60, 1))
    return ScoringData(
        data, x[:, 0], PredictedDraws(f, "gaussian", np.array(0.1)), PredictedDraws(f[:4]), 3
    )


def test_test_rows_of_one_input_are_shown_in_their_order() -> None:
    one, choices = given(1), Choices(3, 0.05, 0.3, "gaussian")
    scores = regression.score(one, choices)
    found = regression.tables(one, choices, scores)
    test = np.flatnonzero(one.data.split == 2)
    test = test[np.argsort(one.covariate[test])]
    first = found["curves"]["f"][: len(test)]
    np.testing.assert_array_equal(found["curves"]["covariate"][: len(test)], one.covariate[test])
    np.testing.assert_array_equal(first, one.posterior.function[0, test])
    np.testing.assert_array_equal(found["maps"]["f"][-30:], one.baseline.function[3, test])
    scale = scores["predictive_noise"]["scale"]
    median = found["predictive_quantiles"]["q50"]
    below = stats.norm.cdf(median, one.posterior.function[:, test], scale).mean(axis=0)
    np.testing.assert_allclose(below, 0.5, rtol=0, atol=1e-5)
