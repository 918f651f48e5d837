"""The worst slab is the worst of all, is found where it was planted, and is scored without bias."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.scores.of_split import evaluate
from nlobayes.evaluation.scores.regression.worst_slab import (
    FEWEST_ROWS,
    Slab,
    worst_slab,
    worst_slab_coverage,
)
from tests.unit.evaluation.noises import make_noise


def every_coverage(
    inside: np.ndarray, features: np.ndarray, directions: np.ndarray
) -> Iterator[float]:
    """Yield the coverage of every slab with a fifth of the rows, from and to every row."""
    for direction in directions:
        along = (features * direction).sum(axis=1)
        for low, high in itertools.combinations_with_replacement(sorted(along), 2):
            rows = (along >= low - 1e-12) & (along <= high + 1e-12)
            if rows.sum() >= 0.2 * len(rows):
                yield float(inside[rows].mean())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("features", [1, 3])
def test_no_slab_has_a_smaller_coverage(seed: int, features: int) -> None:
    """Of 23 and 24 rows, half of the cases with values that repeat."""
    rng = np.random.default_rng(seed)
    rows, normals = (
        23 + seed % 2,
        np.eye(features) if seed % 4 < 2 else rng.normal(size=(9, features)),
    )
    x = (
        rng.normal(size=(rows, features))
        if seed % 4 >= 2
        else rng.integers(4, size=(rows, features)) * 1.0
    )
    inside = rng.random(rows) < rng.choice([0.3, 0.68, 0.95])
    found = worst_slab(inside, x, normals).contains(x)
    assert found.sum() >= 0.2 * rows
    assert inside[found].mean() == pytest.approx(min(every_coverage(inside, x, normals)), abs=1e-12)


@pytest.mark.parametrize("covered", [True, False])
def test_equal_coverage_everywhere_gives_all_rows(covered: bool) -> None:
    x = np.random.default_rng(1).normal(size=(30, 2))
    slab = worst_slab(np.full(30, covered), x, np.eye(2))
    assert slab.contains(x).all()


def test_a_planted_slab_is_found_where_no_input_alone_shows_it() -> None:
    """A quarter of the rows, across the diagonal, is covered by 30 %: within four binomial errors.

    Halves of 2000 rows miss its edges by a few rows. Tenths of each input cover 50 % or more.
    """
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4000, 2))
    planted = Slab(np.array([1.0, 1.0]) / np.sqrt(2), *stats.norm.ppf([0.4, 0.65]))
    inside = rng.random(4000) < np.where(planted.contains(x), 0.3, 0.8)
    found = worst_slab_coverage(inside, x, rng)
    assert not isinstance(found, str)
    coverage, low, high = found
    assert coverage == pytest.approx(0.3, abs=4 * np.sqrt(0.3 * 0.7 / 1000))
    assert low < coverage < high < 0.4
    for values in x.T:
        tenths = np.array_split(inside[np.argsort(values)], 10)
        assert min(map(np.mean, tenths)) > 0.5


@pytest.mark.slow
def test_an_exact_forecaster_has_its_nominal_coverage_on_average() -> None:
    """Of 400 data sets: within four standard errors; by its own rows the slab is far worse."""
    rng = np.random.default_rng(4)
    fair, selected = [], []
    for _ in range(400):
        x, inside = rng.normal(size=(60, 2)), rng.random(60) < 0.68
        coverage = worst_slab_coverage(inside, x, rng)
        assert not isinstance(coverage, str)
        fair.append(coverage[0])
        own = worst_slab(inside, x, rng.normal(size=(20, 2)))
        selected.append(inside[own.contains(x)].mean())
    assert np.mean(fair) == pytest.approx(0.68, abs=4 * stats.sem(fair))
    assert stats.sem(fair) < 0.01
    assert np.mean(selected) < 0.5


def test_the_same_seed_gives_the_same_slab_and_another_seed_another() -> None:
    x, inside = np.random.default_rng(5).normal(size=(200, 3)), np.arange(200) % 3 > 0
    first, again, other = (
        worst_slab_coverage(inside, x, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_few_rows_have_no_coverage_and_say_why() -> None:
    rng = np.random.default_rng(6)
    few = worst_slab_coverage(np.ones(FEWEST_ROWS - 1, bool), rng.normal(size=(49, 2)), rng)
    assert few == "the worst slab needs 50 rows or more, there are 49"


def test_slabs_that_are_empty_among_the_other_rows_have_no_coverage() -> None:
    """A seed in 400 gives such halves of 50 rows; this is one."""
    rng = np.random.default_rng(746)
    x, inside = rng.normal(size=(50, 1)), rng.random(50) < 0.68
    found = worst_slab_coverage(inside, x, rng)
    assert found == "the worst slab of one half of the rows contains no row of the other half"


def test_it_is_a_score_of_rows_whose_inputs_are_known() -> None:
    """Draws without spread and noise of sd 1: an observation below 0.994 sd is covered."""
    rng = np.random.default_rng(7)
    x, observed = rng.normal(size=(300, 2)), rng.normal(size=300)
    given = np.zeros((1, 300)), observed, make_noise("gaussian", 1.0)
    scores = evaluate(*given, np.random.default_rng(8), scale="identity", features=x)
    low, high = (scores[f"coverage_68_worst_slab_{end}"] for end in ("low", "high"))
    assert 0 < low < scores["coverage_68_worst_slab"] < high < 1
    unknown = evaluate(*given, np.random.default_rng(8), scale="identity")
    assert scores.keys() - unknown.keys() == {
        "coverage_68_worst_slab",
        *(f"coverage_68_worst_slab_{end}" for end in ("low", "high")),
    }
    assert {key: scores[key] for key in unknown if key != "undefined"} == {
        key: unknown[key] for key in unknown if key != "undefined"
    }
    short = evaluate(
        np.zeros((1, 30)), observed[:30], given[2], rng, scale="identity", features=x[:30]
    )
    assert short["coverage_68_worst_slab"] is None
    assert "50 rows" in short["undefined"]["coverage_68_worst_slab"]
