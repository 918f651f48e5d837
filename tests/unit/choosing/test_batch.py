"""The choice of a batch against refits by brute force, and its bad input."""

from __future__ import annotations

import numpy as np
import pytest

from nlobayes.choosing.batch import choose
from nlobayes.errors import InputError

CANDIDATES, REFERENCE = np.arange(40), np.arange(40, 65)


def covariances(draws: int = 3, points: int = 65, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Squared exponential covariances of several length scales given four rows, and noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (points + 4, 2))
    distance = np.square(x[:, None] - x).sum(axis=-1)
    found = []
    for length in np.linspace(0.4, 0.9, draws):
        prior = np.exp(-distance / 2 / length**2)
        old = slice(points, None)
        gain = np.linalg.solve(prior[old, old] + 0.01 * np.eye(4), prior[old])
        found.append((prior - prior[:, old] @ gain)[:points, :points])
    noise = np.linspace(0.01, 0.1, draws)[:, None] * np.ones(points)
    return np.array(found), noise


def variance_given(found: np.ndarray, noise: np.ndarray, rows: list[int]) -> float:
    """Mean variance at the reference points given rows, by dense algebra for each draw."""
    each = []
    for own, sd2 in zip(found, noise, strict=True):
        of_rows = own[np.ix_(rows, rows)] + np.diag(sd2[rows])
        across = own[np.ix_(rows, REFERENCE)]
        left = np.diag(own)[REFERENCE] - (across * np.linalg.solve(of_rows, across)).sum(axis=0)
        each.append(left.mean())
    return float(np.mean(each))


@pytest.mark.parametrize("noise_free", [False, True])
def test_every_choice_is_that_of_refits(noise_free: bool) -> None:
    found, noise = covariances()
    noise = np.full_like(noise, 1e-8) if noise_free else noise
    expected: list[int] = []
    for _ in range(6):
        free = [one for one in CANDIDATES.tolist() if one not in expected]
        left = [variance_given(found, noise, [*expected, one]) for one in free]
        expected.append(int(free[int(np.argmin(left))]))
    assert choose(found, noise, CANDIDATES, REFERENCE, 6).tolist() == expected


def test_a_batch_is_better_than_its_points_chosen_alone() -> None:
    """Those of the largest gain alone lie together; the batch is spread."""
    found, noise = covariances()
    gain = [-variance_given(found, noise, [one]) for one in CANDIDATES.tolist()]
    alone = np.argsort(gain)[-6:].tolist()
    chosen = choose(found, noise, CANDIDATES, REFERENCE, 6).tolist()
    assert variance_given(found, noise, chosen) < 0.8 * variance_given(found, noise, alone)


def test_points_may_be_candidates_and_reference_in_any_order() -> None:
    found, noise = covariances()
    order = np.random.default_rng(1).permutation(65)
    one = choose(found, noise, CANDIDATES, REFERENCE, 5)
    moved = choose(
        found[:, order][:, :, order],
        noise[:, order],
        np.argsort(order)[CANDIDATES],
        np.argsort(order)[REFERENCE],
        5,
    )
    assert order[moved].tolist() == one.tolist()
    assert len({*choose(found, noise, np.arange(65), np.arange(65), 65)}) == 65


@pytest.mark.parametrize("noise_sd", [0.0, 0.01])
def test_a_repeated_point_is_chosen_after_all_others(noise_sd: float) -> None:
    """Points 0 and 1 are the same: the second one tells nothing that the first did not."""
    found, noise = covariances(points=65)
    index = np.r_[0, 0, 2:65]
    found = found[:, index][:, :, index]
    noise = np.full_like(noise, noise_sd**2)
    chosen = choose(found, noise, np.arange(8), REFERENCE, 8).tolist()
    assert sorted(chosen) == [*range(8)]
    assert abs(chosen.index(0) - chosen.index(1)) == abs(7 - min(map(chosen.index, (0, 1))))
    assert choose(found, noise, np.array([3, 3]), REFERENCE, 1).tolist() == [3]


def test_a_draw_that_knows_everything_has_no_say() -> None:
    found, noise = covariances()
    both = np.concatenate([np.zeros_like(found[:1]), found])
    silent = np.concatenate([np.zeros_like(noise[:1]), noise])
    expected = choose(found, noise, CANDIDATES, REFERENCE, 5)
    assert choose(both, silent, CANDIDATES, REFERENCE, 5).tolist() == expected.tolist()


def test_single_precision_chooses_as_well() -> None:
    found, noise = covariances()
    chosen = choose(found.astype(np.float32), noise, CANDIDATES, REFERENCE, 6).tolist()
    exact = choose(found, noise, CANDIDATES, REFERENCE, 6).tolist()
    left, least = (variance_given(found, noise, rows) for rows in (chosen, exact))
    assert left < 1.001 * least


@pytest.mark.parametrize(("count", "kept"), [(0, 40), (2, 1), (1, 0)])
def test_a_batch_larger_than_its_candidates_is_one_line(count: int, kept: int) -> None:
    with pytest.raises(InputError) as caught:
        choose(*covariances(), CANDIDATES[:kept], REFERENCE, count)
    assert caught.value.code == "choosing.count"
    assert len(str(caught.value).splitlines()) == 1


def test_no_points_of_interest_are_one_line() -> None:
    with pytest.raises(InputError, match="no points of interest"):
        choose(*covariances(), CANDIDATES, REFERENCE[:0], 1)
