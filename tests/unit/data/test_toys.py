"""Toy problems: the published points, the published function, and nothing random but the seed."""

import numpy as np
import pytest

from nlobayes.data.simulators.toy import CLOUDS, TOYS, simulate
from tests.refusals import refused

TRAIN_ROWS = {"tensorbnn_sparse": 11, "tensorbnn_variable": 2055, "marek": 31}


def rows(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    columns = simulate(name=name, seed=seed).columns
    return columns["x"], columns["y"]


@pytest.mark.parametrize("name", TOYS)
def test_rows_are_train_then_validation_then_an_even_test_grid(name: str) -> None:
    x, _ = rows(name)
    toy, train = TOYS[name], TRAIN_ROWS[name]
    assert len(x) == train + toy.validation_rows + toy.test_rows
    test = x[train + toy.validation_rows :]
    assert (test[0], test[-1]) == toy.tested
    np.testing.assert_allclose(np.diff(test), test[1] - test[0])
    inside = [(low <= v <= high + 1e-9) for v in x[:train] for low, high in [(-2.0, 2.0)]]
    assert all(inside)


@pytest.mark.parametrize("name", ["tensorbnn_sparse", "tensorbnn_variable"])
def test_waves_are_noise_free(name: str) -> None:
    x, y = rows(name)
    np.testing.assert_array_equal(y, x * np.sin(2 * np.pi * x) - np.cos(np.pi * x))


def test_marek_set_has_a_gap_and_noise_of_a_tenth() -> None:
    x, y = rows("marek")
    train = x[:31]
    assert train[:12] == pytest.approx(np.arange(-1.1, -0.54, 0.05))
    assert train[12:] == pytest.approx(np.arange(0.5, 1.401, 0.05))
    noise = np.concatenate(
        [rows("marek", seed)[1] - (x / 2 + x**2 - x**4 / 4)[: len(y)] for seed in range(1)]
    )
    assert noise[:31].std() == pytest.approx(0.1, rel=0.4)


@pytest.mark.parametrize(("name", "accuracy"), [("xor", 0.998), ("xor_noisy", 0.85)])
def test_clouds_lie_around_four_corners(name: str, accuracy: float) -> None:
    """200, 100 and 200 rows; signs determine the class, nearly always if clouds are narrow."""
    columns = simulate(name=name, seed=0).columns
    x, label = np.column_stack([columns["x1"], columns["x2"]]), columns["label"]
    assert len(label) == 500
    for split in (slice(200), slice(200, 300), slice(300, 500)):
        assert label[split].mean() == 0.5
    unequal = np.sign(x[:, 0]) != np.sign(x[:, 1])
    assert np.mean(unequal == label) > accuracy
    corners = np.round(x.reshape(-1, 4, 2).mean(axis=0) * 2) / 2
    assert np.abs(corners).tolist() == [[0.5, 0.5]] * 4
    assert (x.reshape(-1, 4, 2) - corners).var() == pytest.approx(CLOUDS[name], rel=0.15)


def test_seed_decides_every_value() -> None:
    for first, again, other in zip(*(rows("marek", seed) for seed in (1, 1, 2)), strict=True):
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)


def test_unknown_problem_names_the_known_ones() -> None:
    with refused("data.unknown_toy", name="cubic", known=[*TOYS, *CLOUDS]):
        simulate(name="cubic", seed=0)
