"""Ridge regression as a problem of pretraining: its MAP is known in closed form."""

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.pretrain import Problem, Rows

ROWS, SIGMA, SD = 20, 0.5, 0.7


def linear_rows(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 3))
    return Rows(jnp.asarray(x), jnp.asarray(x @ [1.0, -2.0, 0.5] + rng.normal(size=ROWS)))


TRAIN, VALIDATION = linear_rows(seed=1), linear_rows(seed=2)


def linear_problem() -> Problem:
    """y ~ N(x q, SIGMA^2), q ~ N(0, SD^2)."""

    def log_prior(q: jax.Array) -> jax.Array:
        return -0.5 * jnp.sum(q**2) / SD**2

    def log_likelihood(q: jax.Array, rows: Rows) -> jax.Array:
        return -0.5 * jnp.sum((rows.target - rows.features @ q) ** 2) / SIGMA**2

    return Problem(
        log_prior,
        log_likelihood,
        misfit=lambda q, rows: jnp.sqrt(jnp.mean((rows.features @ q - rows.target) ** 2)),
        log_density=lambda q: log_prior(q) + log_likelihood(q, TRAIN),
    )


def ridge() -> np.ndarray:
    """The MAP on the train rows."""
    x, y = np.asarray(TRAIN.features), np.asarray(TRAIN.target)
    return np.linalg.solve(x.T @ x + np.eye(3) * (SIGMA / SD) ** 2, x.T @ y)
