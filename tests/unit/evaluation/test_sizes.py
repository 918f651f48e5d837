"""Scores of all sizes of a network together, of the modal size, and of each draw, by hand."""

import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.data.splits import SPLITS
from nlobayes.evaluation.tasks import classification, regression
from nlobayes.evaluation.tasks.sizes import draws_table, modal_draws, score_sizes, scores_table
from nlobayes.evaluation.tasks.task import ScoringData
from nlobayes.types import PredictedDraws
from tests.rows import dataset_of

CHAINS, DRAWS, POINTS, SIGMA = 2, 6, 30, 0.3
WIDTHS = np.array([3.0, 4, 3, 3, 4, 5, 3, 5, 5, 3, 4, 3])
DEPTHS = np.array([1.0, 1, 2, 2, 1, 1, 2, 1, 2, 2, 1, 1])
MODAL = [2, 3, 6, 9]
"""Draws of width 3 and depth 2: most are of width 3, but not of depth 1."""
SIZES = {"width_1": WIDTHS, "depth": DEPTHS}
SPLIT = np.resize([0, 1, 2], POINTS)


def given_of(function: np.ndarray, target: np.ndarray, kind: str, **noise: object) -> ScoringData:
    observed = 10.0**target if kind == "log10" else target
    transforms = {"target": {"scale": kind, "mean": 0.0, "sd": 1.0}}
    known = {"observed": observed, "split": SPLIT, "transforms": transforms}
    data = dataset_of(np.empty((POINTS, 0)), target, **known)
    predicted = PredictedDraws(function, **noise)  # type: ignore[arg-type]
    return ScoringData(data, target, predicted, predicted, CHAINS, sizes=SIZES)


@pytest.fixture
def numbers() -> ScoringData:
    """Draws about a target in dex, with a Gaussian likelihood of one sigma."""
    rng = np.random.default_rng(1)
    target = rng.normal(size=POINTS)
    function = target + rng.normal(0, 0.4, (CHAINS * DRAWS, POINTS))
    return given_of(function, target, "log10", family="gaussian", scale=np.asarray(SIGMA))


@pytest.fixture
def classes() -> ScoringData:
    """Probabilities of three classes."""
    rng = np.random.default_rng(2)
    target = rng.integers(0, 3, POINTS).astype(float)
    logits = rng.normal(np.eye(3)[target.astype(int)], 1.5, (CHAINS * DRAWS, POINTS, 3))
    return given_of(np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True), target, "classes")


def test_the_modal_size_is_that_of_all_numbers_together() -> None:
    assert np.flatnonzero(modal_draws(SIZES)).tolist() == MODAL


@pytest.mark.parametrize("split", [1, 2])
def test_scores_of_numbers_are_those_of_the_chosen_draws(numbers: ScoringData, split: int) -> None:
    found, rows = score_sizes(regression, numbers), split == SPLIT
    assert found["modal"] == {"width_1": 3, "depth": 2}
    assert (found["draws"], found["draws_of_modal"]) == (CHAINS * DRAWS, len(MODAL))
    target = np.log10(numbers.data.observed[rows])
    for name, chosen in (("marginal", [*range(CHAINS * DRAWS)]), ("modal", MODAL)):
        draws = numbers.posterior.function[chosen][:, rows]
        density = np.mean([norm.pdf(target, draw, SIGMA) for draw in draws], axis=0)
        rmse = np.sqrt(np.mean((draws.mean(axis=0) - target) ** 2))
        expected = {"lppd": np.log(density).mean(), "rmse_log10": rmse}
        assert found[SPLITS[split]][name] == pytest.approx(expected)


@pytest.mark.parametrize("split", [1, 2])
def test_each_chain_and_each_size_has_scores_of_its_own(numbers: ScoringData, split: int) -> None:
    """Those of a run that has these draws alone."""

    def alone(chosen: np.ndarray) -> dict[str, float]:
        posterior = numbers.posterior._replace(function=numbers.posterior.function[chosen])
        sizes = {name: drawn[chosen] for name, drawn in SIZES.items()}
        of = numbers._replace(posterior=posterior, sizes=sizes, chains=1)
        return score_sizes(regression, of)[SPLITS[split]]["marginal"]

    found = score_sizes(regression, numbers)[SPLITS[split]]
    draws = np.arange(CHAINS * DRAWS)
    assert found["by_chain"] == [pytest.approx(alone(draws // DRAWS == n)) for n in range(CHAINS)]
    for one in found["by_size"]:
        chosen = (one["width_1"] == WIDTHS) & (one["depth"] == DEPTHS)
        assert one["draws"] == chosen.sum()
        assert {key: one[key] for key in ("lppd", "rmse_log10")} == pytest.approx(alone(chosen))
    assert sum(one["draws"] for one in found["by_size"]) == CHAINS * DRAWS


def test_scores_of_classes_are_those_of_the_mean_probabilities(classes: ScoringData) -> None:
    found, rows = score_sizes(classification, classes)["test"], SPLIT == 2
    truth = classes.data.target[rows].astype(int)
    for name, chosen in (("marginal", [*range(CHAINS * DRAWS)]), ("modal", MODAL)):
        mean = classes.posterior.function[chosen][:, rows].mean(axis=0)
        lppd = np.log(mean[np.arange(len(truth)), truth]).mean()
        accuracy = np.mean(mean.argmax(axis=1) == truth)
        assert found[name] == pytest.approx({"lppd": lppd, "accuracy": accuracy})
    assert found["marginal"] != found["modal"]


def test_every_draw_has_scores_of_its_own(numbers: ScoringData, classes: ScoringData) -> None:
    table = draws_table(regression, numbers, np.array([3, 7, 11, 15, 19, 23]))
    assert len(table["split"]) == 3 * CHAINS * DRAWS
    place = 2 * CHAINS * DRAWS + DRAWS + 4
    facts = {name: table[name][place] for name in ("split", "chain", "draw", "width_1", "depth")}
    assert facts == {"split": "test", "chain": 1, "draw": 19, "width_1": 4, "depth": 1}
    rows = SPLIT == 2
    error = numbers.posterior.function[10][rows] - np.log10(numbers.data.observed[rows])
    assert table["rmse_log10"][place] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert table["log_likelihood"][place] == pytest.approx(norm.logpdf(error, 0, SIGMA).mean())
    assert "accuracy" in draws_table(classification, classes, np.arange(DRAWS))


def test_of_several_targets_the_rmse_is_their_mean(numbers: ScoringData) -> None:
    data = numbers.data
    function = np.stack([numbers.posterior.function, numbers.posterior.function + 1], axis=2)
    two = numbers._replace(
        data=data._replace(observed=np.stack([data.observed] * 2, axis=1)),
    )
    rows = SPLIT == 0
    key, both = regression.measure(two, function, rows)
    _, first = regression.measure(numbers, function[..., 0], rows)
    _, second = regression.measure(numbers, function[..., 1], rows)
    assert key == "rmse_log10"
    np.testing.assert_allclose(both, (first + second) / 2)


def test_the_table_has_a_row_for_each_split_and_prediction(numbers: ScoringData) -> None:
    scores = score_sizes(regression, numbers)
    table = scores_table(scores)
    assert table["split"].tolist() == ["val", "val", "test", "test"]
    assert table["prediction"].tolist() == 2 * ["marginal", "modal"]
    assert table["draws"].tolist() == 2 * [CHAINS * DRAWS, len(MODAL)]
    assert table["lppd"][3] == scores["test"]["modal"]["lppd"]
