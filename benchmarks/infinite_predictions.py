"""Time the predictions of an infinitely wide network, part by part, and state the loss of each.

    python -m benchmarks.infinite_predictions --rows 1000 --inputs 6

Rows are of a smooth function with noise, and the scales of 8 draws lie about one mode. The inputs
matter less and less, as those of measured tables do. Times are CPU times of one core, minima over
turns. The loss is the largest relative change of the total sd of a new point by the compression.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from nlobayes.distributions.laws.gaussian import Gaussian
from nlobayes.model.infinite import BIASES, EXPONENTS, INPUTS, OUTPUT, Warp
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate import conditioned, process
from nlobayes.surrogate.predictive import Chunk, StoredNoise, summarise

DRAWS, POINTS, TURNS = 8, 4096, 5


def main() -> None:
    """Print a line for each part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--inputs", type=int, default=6)
    parser.add_argument("--noise", type=float, default=0.1, help="in sd of the target")
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    x = rng.normal(size=(given.rows + POINTS, given.inputs))
    features, points = x[: given.rows], x[given.rows :]
    target = np.tanh(features[:, 0]) + given.noise * rng.normal(size=given.rows)
    warp = Warp(np.full(given.inputs, 0.2), np.full(given.inputs, 0.1))
    drawn = {
        INPUTS: np.exp(rng.normal(-1 - 0.5 * np.arange(given.inputs), 0.1, (DRAWS, given.inputs))),
        EXPONENTS: rng.normal(1, 0.1, size=(DRAWS, given.inputs)),
        BIASES: np.exp(rng.normal(0, 0.1, size=DRAWS)),
        OUTPUT: np.exp(rng.normal(1, 0.1, size=DRAWS)),
        NOISE: given.noise * np.exp(rng.normal(0, 0.1, size=DRAWS)),
    }
    rows = {"features": features, "target": target}
    for activation in ("erf", "relu"):
        begin = time.process_time()
        draws = conditioned.condition(activation, drawn, rows, warp)
        loading = time.process_time() - begin
        known = process.together([draws])
        found, seconds = timed(process.evaluate, activation, known, warp, points)
        chunk = Chunk(found[..., 0], points)
        summarised = partial(summarise, chunk, noise_of(given.noise), (0.16, 0.84), powers=True)
        _, summary = timed(summarised)
        most, conditioned.MOST_LOSS = conditioned.MOST_LOSS, 0.0
        whole = conditioned.condition(activation, drawn, rows, warp)
        conditioned.MOST_LOSS = most
        sds, exact = (
            np.array([total_sd(activation, draw, warp, points) for draw in each])
            for each in (draws, whole)
        )
        print(
            f"{activation}: conditioning {loading:.2f} s; "
            f"{[len(draw.rows) for draw in draws]} rows, "
            f"{[len(draw.projection) for draw in draws]} directions; "
            f"f {1e6 * seconds / POINTS:.1f}, summary {1e6 * summary / POINTS:.1f} us a point; "
            f"loss {100 * np.abs(sds / exact - 1).max():.2f} %"
        )


def total_sd(
    activation: str, draw: conditioned.Conditioned, warp: Warp, points: np.ndarray
) -> np.ndarray:
    """Return the sd of f and noise (point,) given one draw."""
    _, sd = process.moments(draw, process.see(activation, draw, warp, points, np), np)
    return np.hypot(sd, draw.variables[NOISE])


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return what a call returns, and its least CPU seconds."""
    seconds = []
    for _ in range(TURNS):
        begin = time.process_time()
        found = call(*arguments)
        seconds.append(time.process_time() - begin)
    return found, min(seconds)


def noise_of(scale: float) -> StoredNoise:
    """Return Gaussian noise about draws, as a file stores it."""
    residual, probability = Gaussian(1.0).table()
    return StoredNoise(
        *("draws", scale, 0.0, 1.0, [], [], [0, 1], [0, 1], 0, [], [1.0]),
        residual,
        np.atleast_2d(probability),
    )


if __name__ == "__main__":
    main()
