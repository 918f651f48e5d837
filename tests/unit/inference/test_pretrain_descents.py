"""Optimisers and schedules of pretraining: written by hand, at the optimum, cycle by cycle."""

from collections.abc import Callable
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.optimisers import OPTIMISERS, SCHEDULES
from nlobayes.inference.pretrain import Fit, Problem, Rows, fit_map, keep_best
from nlobayes.study import pretraining
from tests.unit.inference.linear import ROWS, TRAIN, VALIDATION, linear_problem, ridge

EPSILON = 1e-8
START = np.array([0.5, 1.5, -1.0])


def adam(gradients: list[np.ndarray], largest: bool = False) -> np.ndarray:
    """The last step of Adam or AMSGrad, at rate 1, from the moments of all gradients so far."""
    first, second = np.zeros(3), np.zeros(3)
    seconds = []
    for number, gradient in enumerate(gradients, start=1):
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        seconds.append(second / (1 - 0.999**number))
    scale = np.max(seconds, axis=0) if largest else seconds[-1]
    return -first / (1 - 0.9 ** len(gradients)) / (np.sqrt(scale) + EPSILON)


BY_HAND: dict[str, tuple[dict[str, float], Callable[..., np.ndarray]]] = {
    "adam": ({}, lambda gradients, q: adam(gradients)),
    "amsgrad": ({}, lambda gradients, q: adam(gradients, largest=True)),
    "adamw": ({"weight_decay": 0.3}, lambda gradients, q: adam(gradients) - 0.3 * q),
    "sgd": (
        {"momentum": 0.6},
        lambda gradients, q: -np.sum([0.6**age * g for age, g in enumerate(gradients[::-1])], 0),
    ),
}
each_optimiser = pytest.mark.parametrize("kind", BY_HAND)


def full_gradient(q: np.ndarray) -> np.ndarray:
    return -np.asarray(jax.grad(linear_problem().log_density)(jnp.asarray(q))) / ROWS


def fit_linear(key: int = 0, **settings: Any) -> Fit:
    defaults: dict[str, Any] = {
        "epochs": 8,
        "batch": "full",
        "learning_rate": 0.1,
        "patience": None,
    }
    key_, start = jax.random.key(key), jnp.asarray(START)
    return fit_map(key_, start, linear_problem(), TRAIN, VALIDATION, **(defaults | settings))


def test_every_preset_has_its_optimiser_or_schedule() -> None:
    for union, built in ((pretraining.Optimiser, OPTIMISERS), (pretraining.Schedule, SCHEDULES)):
        presets = get_args(get_args(union)[0])
        kinds = [get_args(preset.model_fields["kind"].annotation)[0] for preset in presets]
        assert sorted(kinds) == sorted(built)


@each_optimiser
def test_every_step_is_the_one_written_by_hand(kind: str) -> None:
    settings, step = BY_HAND[kind]
    fit = fit_linear(optimiser=OPTIMISERS[kind](**settings), schedule=SCHEDULES["constant"]())
    position, gradients, path = START, [], [START]
    for _ in range(8):
        gradients.append(full_gradient(position))
        position = position + 0.1 * step(gradients, position)
        path.append(position)
    np.testing.assert_allclose(fit.path, path, rtol=1e-10)


@each_optimiser
@pytest.mark.parametrize(("batch", "rtol"), [("full", 1e-4), (5, 1e-2)])
@pytest.mark.by_day(5)
def test_every_optimiser_reaches_ridge_regression(kind: str, batch: Any, rtol: float) -> None:
    """A weight decay of 1e-6 moves the optimum by less than the tolerance."""
    settings = {"adamw": {"weight_decay": 1e-6}, "sgd": {"momentum": 0.6}}.get(kind, {})
    rate = {"amsgrad": 0.2, "sgd": 0.02}.get(kind, 0.05)
    fit = fit_linear(
        optimiser=OPTIMISERS[kind](**settings), epochs=1000, batch=batch, learning_rate=rate
    )
    np.testing.assert_allclose(fit.position, ridge(), rtol=rtol)


def test_weight_decay_leads_to_a_smaller_position_than_the_map() -> None:
    fit = fit_linear(optimiser=OPTIMISERS["adamw"](weight_decay=1.0), epochs=1000)
    assert np.linalg.norm(fit.position) < 0.99 * np.linalg.norm(ridge())
    found = -linear_problem().log_density(fit.position) / ROWS
    np.testing.assert_allclose(fit.loss[-1], found, rtol=1e-6)


def climb(schedule: str, epochs: int, rows: int = 2, **settings: Any) -> np.ndarray:
    """A slope of one everywhere: every step of SGD is its rate; two steps an epoch."""
    problem = Problem(
        log_prior=lambda q: 0.0 * q.sum(),
        log_likelihood=lambda q, rows: len(rows.target) * q.sum(),
        misfit=lambda q, rows: -q.sum(),
        log_density=lambda q: rows * q.sum(),
    )
    data = Rows(jnp.zeros((rows, 1)), jnp.zeros(rows))
    fit = fit_map(
        jax.random.key(0),
        jnp.zeros(1),
        problem,
        data,
        data,
        epochs=epochs,
        batch=1,
        learning_rate=0.5,
        patience=None,
        optimiser=OPTIMISERS["sgd"](momentum=0.0),
        schedule=SCHEDULES[schedule](**settings),
    )
    return np.diff(fit.path[:, 0])


def test_schedules_follow_their_formulas() -> None:
    """The sum of the rates of the two steps of each of ten epochs."""
    step = np.arange(20)

    def in_epochs(rates: np.ndarray) -> np.ndarray:
        return 0.5 * rates.reshape(10, 2).sum(axis=1)

    expected = {
        ("constant",): np.ones(20),
        ("cosine",): 0.5 * (1 + np.cos(np.pi * step / 20)),
        ("exponential", ("decay_rate", 0.01)): 0.01 ** (step / 20),
        ("exponential", ("decay_rate", 0.3), ("decay_epochs", 4)): 0.3 ** (step / 8),
    }
    for (kind, *settings), rates in expected.items():
        found = climb(kind, 10, **dict(settings))  # type: ignore[arg-type]
        np.testing.assert_allclose(found, in_epochs(rates), rtol=1e-9, err_msg=kind)


TOP, SLOPE = 1.0, 0.25


def ascend(epochs: int, patience: int | None, cycles: int = 3, momentum: float = 0.5) -> Fit:
    """A constant slope past the validation optimum, by gradient descent with momentum."""
    problem = Problem(
        log_prior=lambda q: 0.0 * q.sum(),
        log_likelihood=lambda q, rows: pytest.fail("a full batch needs the density alone"),
        misfit=lambda q, rows: abs(q - TOP).sum(),
        log_density=lambda q: SLOPE * q.sum(),
    )
    rows = Rows(jnp.zeros((1, 1)), jnp.zeros(1))
    return fit_map(
        jax.random.key(0),
        jnp.zeros(1),
        problem,
        rows,
        rows,
        epochs=epochs,
        batch="full",
        learning_rate=1.0,
        patience=patience,
        optimiser=OPTIMISERS["sgd"](momentum=momentum),
        schedule=SCHEDULES["cycles"](cycles=cycles, factor=0.1),
    )


def ascend_by_hand(epochs: int, patience: int) -> tuple[list[float], float, list[int]]:
    """The position after every epoch, the best one, and the epochs of each cycle."""
    path, best, lengths = [0.0], np.inf, []
    for rate in (1.0, 0.1, 0.01):
        position, velocity, stale, age = (0.0 if best == np.inf else best), 0.0, 0, 0
        while stale < patience and age < epochs:
            velocity = 0.5 * velocity + SLOPE
            position += rate * velocity
            path.append(position)
            age, stale = age + 1, stale + 1
            if abs(position - TOP) < abs(best - TOP):
                best, stale = position, 0
        lengths.append(age)
    return path, best, lengths


@pytest.mark.parametrize(("epochs", "patience"), [(16, 1), (16, 3), (2, 3), (6, 4)])
def test_cycles_begin_at_the_best_with_a_tenth_of_the_rate(epochs: int, patience: int) -> None:
    """Ended by patience, by their epochs, or one by either; without the momentum before."""
    path, best, lengths = ascend_by_hand(epochs, patience)
    fit = ascend(epochs, patience)
    ran = int(fit.epochs)
    assert ran == sum(lengths)
    np.testing.assert_allclose(fit.path[: ran + 1, 0], path, rtol=1e-12)
    np.testing.assert_allclose(fit.position[0], best, rtol=1e-12)
    assert fit.validation_error.shape == fit.loss.shape == (3 * epochs,)
    np.testing.assert_allclose(
        fit.validation_error[:ran], abs(np.array(path[1:]) - TOP), atol=1e-12
    )
    np.testing.assert_array_equal(
        fit.path[ran + 1 :, 0], np.full(3 * epochs - ran, fit.path[ran, 0])
    )


def test_cycles_of_minibatches_reach_ridge_regression() -> None:
    """AMSGrad as TensorBNN runs it; the position is that of the best validation error."""
    fit = fit_linear(
        optimiser=OPTIMISERS["amsgrad"](),
        schedule=SCHEDULES["cycles"](cycles=3, factor=0.1),
        epochs=300,
        batch=5,
        patience=300,
    )
    best = np.argmin(fit.validation_error)
    error = linear_problem().misfit(fit.position, VALIDATION)
    assert float(error) == float(fit.validation_error[best])
    np.testing.assert_allclose(fit.path[-1], ridge(), rtol=2e-2)
    spread = [np.ptp(fit.loss[cycle * 300 + 200 : cycle * 300 + 300]) for cycle in range(3)]
    assert spread[0] > 3 * spread[2]


@pytest.mark.parametrize("patience", [None, 3])
def test_a_full_batch_ignores_the_key(patience: int | None) -> None:
    def fit(key: int, batch: Any) -> list[bytes]:
        return [
            np.asarray(part).tobytes() for part in fit_linear(key, batch=batch, patience=patience)
        ]

    assert fit(1, "full") == fit(2, "full")
    assert fit(1, 5) == fit(1, 5)
    assert fit(1, 5) != fit(2, 5)


def test_a_full_batch_descends_as_one_batch_of_all_rows() -> None:
    """Equal up to the order of the sum."""
    np.testing.assert_allclose(fit_linear().path, fit_linear(batch=ROWS).path, rtol=1e-12)


@pytest.mark.parametrize(
    ("losses", "kept", "stored"),
    [
        ([3.0], 0, [3.0]),
        ([3.0, -1.0, 2.0], 1, [3.0, -1.0, 2.0]),
        ([2.0, 1.0, 1.0], 1, [2.0, 1.0, 1.0]),
        ([np.nan, 5.0, -np.inf, 4.0], 3, [np.inf, 5.0, np.inf, 4.0]),
        ([np.nan, np.nan], 0, [np.inf, np.inf]),
    ],
)
def test_the_fit_of_the_least_loss_is_kept(
    losses: list[float], kept: int, stored: list[float]
) -> None:
    """The first of equals; one that diverged never, unless all did."""
    empty = jnp.zeros(0)
    fits = [Fit(jnp.array([number]), *[empty] * 5) for number in range(len(losses))]
    found = keep_best(iter(fits), lambda position: losses[int(position[0])])
    assert found == (fits[kept], stored)
