"""Pretraining: an unbiased loss, honest shuffling, the known optimum, and when it stops."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from nlobayes.inference.pretrain import Fit, Problem, Rows, fit_map, snapshot_epochs
from tests.unit.inference.linear import ROWS, TRAIN, VALIDATION, linear_problem, ridge


def flat_problem(
    log_likelihood: Callable[[jax.Array, Rows], jax.Array],
    misfit: Callable[[jax.Array, Rows], jax.Array] | None = None,
) -> Problem:
    """A problem with a likelihood only, and by default without validation error."""
    return Problem(
        log_prior=lambda q: 0.0 * q.sum(),
        log_likelihood=log_likelihood,
        misfit=misfit or (lambda q, rows: 0.0 * q.sum()),
        log_density=lambda q: pytest.fail("only a full batch asks for the density of all rows"),
    )


def fit_linear(key: int, **settings: float | None) -> Fit:
    defaults = {"epochs": 3, "batch": 5, "learning_rate": 0.01, "patience": None}
    return fit_map(
        jax.random.key(key),
        jnp.zeros(3),
        linear_problem(),
        TRAIN,
        VALIDATION,
        **(defaults | settings),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("batch", [1, 5])
def test_minibatches_average_to_the_full_loss_and_gradient(batch: int) -> None:
    """At a standstill the loss of an epoch is the mean over its batches: the prior counts once."""
    problem, rows = linear_problem(), TRAIN

    def loss_of_one_epoch(q: jax.Array) -> jax.Array:
        key = jax.random.key(0)
        settings = {"epochs": 1, "batch": batch, "learning_rate": 0.0, "patience": None}
        return fit_map(key, q, problem, rows, rows, **settings).loss[0]  # type: ignore[arg-type]

    def full_loss(q: jax.Array) -> jax.Array:
        return -(problem.log_likelihood(q, rows) + problem.log_prior(q)) / ROWS

    q = jnp.array([0.3, -1.0, 2.0])
    ours, expected = (jax.value_and_grad(loss)(q) for loss in (loss_of_one_epoch, full_loss))
    np.testing.assert_allclose(ours[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(ours[1], expected[1], rtol=1e-12)


def losses_at_a_standstill(
    log_likelihood: Callable[[jax.Array], jax.Array], target: jax.Array, keys: list[int], batch: int
) -> list[np.ndarray]:
    """Fit nothing: the loss of each epoch is a function of which rows met in which batch."""
    problem = flat_problem(lambda q, rows: log_likelihood(rows.target) + 0.0 * q.sum())
    rows = Rows(jnp.zeros((len(target), 1)), target)
    settings = {"epochs": 6, "batch": batch, "learning_rate": 0.0, "patience": None}
    fit = jax.jit(lambda key: fit_map(key, jnp.zeros(1), problem, rows, rows, **settings))  # type: ignore[arg-type]
    return [np.asarray(fit(jax.random.key(key)).loss) for key in keys]


def test_every_row_is_used_at_most_once_an_epoch() -> None:
    """Row i has target 8^i, so the octal digits of the summed targets count its uses."""
    rows, batch, steps = 11, 4, 2
    [losses] = losses_at_a_standstill(jnp.sum, 8.0 ** jnp.arange(rows), keys=[3], batch=batch)
    uses = [[round(-loss * steps * batch) // 8**i % 8 for i in range(rows)] for loss in losses]
    assert all(set(epoch) == {0, 1} and sum(epoch) == steps * batch for epoch in uses)
    assert len({tuple(epoch) for epoch in uses}) > 1  # the remainder is not always the same


def test_errors_stay_with_their_rows() -> None:
    """Of batches that leave a remainder: no row meets the error of another."""
    target = jnp.arange(1.0, 12.0)

    def misfit(rows: Rows) -> jax.Array:
        assert rows.error is not None
        return jnp.sum((rows.error - 3 * rows.target) ** 2)

    problem = flat_problem(lambda q, rows: misfit(rows) + 0.0 * q.sum())
    settings = {"epochs": 3, "batch": 4, "learning_rate": 0.0, "patience": None}
    for error, agree in ((3 * target, True), (3 * target[::-1], False)):
        rows = Rows(jnp.zeros((11, 1)), target, error)
        fit = fit_map(jax.random.key(2), jnp.zeros(1), problem, rows, rows, **settings)  # type: ignore[arg-type]
        assert bool((fit.loss == 0).all()) is agree


def test_batches_differ_from_epoch_to_epoch_and_follow_the_key() -> None:
    """A square makes the loss depend on which rows share a batch."""
    target = jnp.asarray(np.random.default_rng(4).normal(size=12))
    first, again, other = losses_at_a_standstill(
        lambda y: jnp.sum(y) ** 2, target, keys=[5, 5, 6], batch=3
    )
    assert len(set(first.tolist())) == len(first)
    np.testing.assert_array_equal(first, again)
    assert not set(first.tolist()) & set(other.tolist())


@pytest.mark.parametrize(("batch", "rtol"), [(ROWS, 1e-6), (5, 1e-2)])
def test_converges_to_ridge_regression(batch: int, rtol: float) -> None:
    fit = fit_linear(0, epochs=600, batch=batch, learning_rate=0.05)
    np.testing.assert_allclose(fit.position, ridge(), rtol=rtol)
    assert fit.loss.shape == fit.validation_error.shape == (600,)
    assert int(fit.epochs) == 600
    test_x, test_y, _ = VALIDATION
    rmse = np.sqrt(np.mean((test_x @ fit.position - test_y) ** 2))
    np.testing.assert_allclose(fit.validation_error[-1], rmse, rtol=1e-12)


def overshoot(patience: int | None) -> Fit:
    """Climb from 0 to the train target 2, past the validation target 1."""
    problem = flat_problem(
        lambda q, rows: -0.5 * jnp.sum((rows.target - q) ** 2),
        lambda q, rows: jnp.sqrt(jnp.mean((q - rows.target) ** 2)),
    )
    train, validation = (Rows(jnp.zeros((4, 1)), jnp.full(4, value)) for value in (2.0, 1.0))
    settings = {"epochs": 100, "batch": 4, "learning_rate": 0.05, "patience": patience}
    return fit_map(jax.random.key(0), jnp.zeros(1), problem, train, validation, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("patience", [1, 4])
def test_early_stopping_returns_the_best_position(patience: int) -> None:
    fit = overshoot(patience)
    rmse, epochs = np.asarray(fit.validation_error), int(fit.epochs)
    assert epochs == int(np.argmin(rmse)) + 1 + patience < 100
    np.testing.assert_allclose(abs(fit.position[0] - 1), rmse.min(), rtol=1e-12)
    for history in (rmse, np.asarray(fit.loss)):
        assert history[epochs - 1] != history[epochs - 2]
        np.testing.assert_array_equal(history[epochs:], history[epochs - 1])


def every_position(key: int, epochs: int, batch: int, learning_rate: float) -> list[np.ndarray]:
    """Fit the linear problem in a plain loop; the position after each epoch."""
    problem, train = linear_problem(), TRAIN
    steps = ROWS // batch
    optimizer = optax.adam(optax.cosine_decay_schedule(learning_rate, epochs * steps))
    position = jnp.zeros(3)
    state, positions = optimizer.init(position), [np.zeros(3)]

    def loss(q: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        return -(problem.log_likelihood(q, Rows(x, y)) / batch + problem.log_prior(q) / ROWS)

    gradient_fn = jax.jit(jax.grad(loss))
    for epoch in range(epochs):
        order = jax.random.permutation(jax.random.fold_in(jax.random.key(key), epoch), ROWS)
        for rows in order[: steps * batch].reshape(steps, batch):
            gradient = gradient_fn(position, train.features[rows], train.target[rows])
            updates, state = optimizer.update(gradient, state)
            position = jnp.asarray(optax.apply_updates(position, updates))
        positions.append(np.asarray(position))
    return positions


def test_the_path_is_the_position_after_its_epochs() -> None:
    """Sixty epochs are more than fifty snapshots; compared with a plain loop over all."""
    fit = fit_linear(7, epochs=60, batch=8, learning_rate=0.05)
    positions = np.array(every_position(7, epochs=60, batch=8, learning_rate=0.05))
    assert fit.path.shape == (50, 3)
    np.testing.assert_allclose(fit.path, positions[np.asarray(fit.path_epochs)], rtol=1e-11)
    np.testing.assert_array_equal(fit.path[0], np.zeros(3))
    np.testing.assert_array_equal(fit.path[-1], fit.position)


def test_after_an_early_stop_the_path_repeats_the_last_position() -> None:
    """The last one, not the best that is returned."""
    fit = overshoot(4)
    epochs, path = np.asarray(fit.path_epochs), np.asarray(fit.path[:, 0])
    after = epochs >= int(fit.epochs)
    assert 1 < after.sum() < len(after)
    assert len(set(path[after].tolist())) == 1
    assert len(set(path[~after].tolist())) == (~after).sum()
    np.testing.assert_allclose(abs(path[-1] - 1), fit.validation_error[-1], rtol=1e-12)
    assert path[-1] != fit.position[0]


def test_the_path_costs_no_memory_per_epoch() -> None:
    """2000 epochs of 2000 parameters would be 32 MB; the path is 0.8 MB."""
    problem = linear_problem()
    rows = Rows(jnp.ones((2, 2000)), jnp.ones(2))
    settings = {"epochs": 2000, "batch": 2, "learning_rate": 0.1, "patience": None}

    def fit(start: jax.Array) -> Fit:
        return fit_map(jax.random.key(0), start, problem, rows, rows, **settings)  # type: ignore[arg-type]

    needed = jax.jit(fit).lower(jnp.zeros(2000)).compile().memory_analysis()
    assert needed is not None
    assert needed.temp_size_in_bytes < 4e6


@pytest.mark.parametrize("epochs", [1, 2, 48, 49, 50, 51, 1000, 12345])
def test_snapshots_are_evenly_spaced_from_the_start_to_the_last_epoch(epochs: int) -> None:
    found = snapshot_epochs(epochs)
    assert (found[0], found[-1], len(found)) == (0, epochs, min(epochs + 1, 50))
    spacing = np.diff(found)
    assert spacing.min() >= 1
    assert abs(spacing - epochs / (len(found) - 1)).max() < 1
