"""Time one value-and-gradient of our density against hand-written JAX in the same layout.

    python benchmarks/gradient.py

Both run inside one scan, in turn, so that the ratio holds on a noisy machine; the fastest of
several repetitions is compared. The goal is a ratio of at most 1.05.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from nlobayes import runtime

runtime.configure("float32")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from nlobayes.model.density import build_density  # noqa: E402
from nlobayes.model.networks import Network  # noqa: E402
from nlobayes.model.posterior import build_posterior  # noqa: E402
from nlobayes.model.rows import Data, choose_layout  # noqa: E402
from tests.members import likelihood, prior  # noqa: E402

SIGMA, REPETITIONS = 0.05, 25
CASES = [(1000, (5, 16, 1), 800), (1000, (5, 32, 1), 500), (11746, (5, 20, 20, 1), 60)]


def hand_written(sizes: tuple[int, ...]) -> Callable[[jax.Array, Data], jax.Array]:
    """Write the same log density by hand: units first, all rows at once."""

    def log_density(position: jax.Array, data: Data) -> jax.Array:
        hidden, start = jnp.concatenate([*data.features], axis=1), 0
        for depth, (into, out) in enumerate(pairwise(sizes)):
            end = start + into * out
            weights = position[start:end].reshape(into, out) / np.sqrt(into)
            biases = position[end : end + out]
            start = end + out
            hidden = weights.T @ hidden + biases[:, None]
            hidden = jnp.tanh(hidden) if depth < len(sizes) - 2 else hidden
        residual = (data.target.ravel() - hidden[0]) / SIGMA
        residual = residual if data.mask is None else jnp.where(data.mask.ravel(), residual, 0.0)
        return -0.5 * jnp.sum(residual**2) - 0.5 * jnp.sum(position**2)

    return log_density


def loop(log_density: Any, steps: int) -> Any:
    """Repeat value and gradient inside one compiled scan."""

    def run(position: jax.Array, data: Data) -> jax.Array:
        def step(q: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            value, gradient = jax.value_and_grad(log_density)(q, data)
            return q + 1e-9 * gradient, value

        return jax.lax.scan(step, position, None, length=steps)[0]

    return jax.jit(run)


def main() -> None:
    """Print milliseconds per gradient and their ratio for each case."""
    rng = np.random.default_rng(0)
    for rows, sizes, steps in CASES:
        layout, chunk = choose_layout(max(sizes))
        names = [f"x{i}" for i in range(sizes[0])]
        posterior = build_posterior(
            Network(sizes, "tanh"),
            prior("fan_in", scale=1.0),
            likelihood("gaussian", sigma=SIGMA),
            feature_names=names,
            layout=layout,
        )
        density = build_density(posterior, chunk=chunk)
        data = density.place(rng.normal(size=(rows, sizes[0])), rng.normal(size=rows))
        position = density.draw_prior(0)
        loops = [loop(density.log_density, steps), loop(hand_written(sizes), steps)]
        best = [np.inf, np.inf]
        for _ in range(REPETITIONS):
            for index, run in enumerate(loops):
                start = time.perf_counter()
                run(position, data).block_until_ready()
                best[index] = min(best[index], (time.perf_counter() - start) / steps * 1e3)
        ours, hand = best
        ratio = f"ratio {ours / hand:.3f}"
        print(f"{rows} rows, {sizes}: {ours:.4f} ms, by hand {hand:.4f} ms, {ratio}")


if __name__ == "__main__":
    main()
