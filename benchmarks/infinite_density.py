"""Time the log density of an infinitely wide network and its gradient against the number of rows.

    python -m benchmarks.infinite_density --device gpu --rows 1000 5000 20000
    python -m benchmarks.infinite_density --rows 1000 2000

Double precision, five features, learned scales, warps and noise, at one position. `ms/value of 4`
is a value for each of four chains at once, vectorised, and `in turn` one after the other, both for
5000 rows at most. A CPU is one core, and its seconds are CPU seconds; those of a GPU are wall
seconds. Where two devices agree, log densities and norms of gradients are equal but for rounding.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Row, isolated, make_embedded, print_rows, simulate_rows, write_csv
from nlobayes import runtime
from nlobayes.types import Dataset

COLUMNS = (
    *("rows", "ms/value", "ms/gradient", "ms/value of 4", "in turn", "MiB"),
    *("log density", "norm of gradient"),
)
SCALE_OF_INPUTS, SCALE_OF_BIASES, SCALE_OF_OUTPUT, EXPONENT, SIGMA = 0.5, 1.0, 2.0, 1.0, 0.05
CHAINS, MOST_ROWS_OF_CHAINS = 4, 5000


def main() -> None:
    """Print one row per number of rows."""
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--device", choices=("cpu", "gpu"), default="cpu")
    add("--rows", type=int, nargs="+", default=[1000, 2000], help="train rows")
    add("--seconds", type=float, default=2, help="seconds of timing per number (2)")
    add("--csv", type=Path, help="file to write the rows to")
    given = parser.parse_args()
    runtime.configure("float64", given.device)
    rows = print_rows(_rows(given), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)


def _rows(given: argparse.Namespace) -> Iterator[Row]:
    table = simulate_rows(max(given.rows))
    for rows in given.rows:
        dataset = make_embedded(table, rows)
        measured = isolated(
            "benchmarks.infinite_density:measure",
            *(dataset, given.device, given.seconds),
            device=given.device,
            precision="float64",
        )
        yield {"rows": rows, **measured}


def measure(dataset: Dataset, device: str, seconds: float) -> Row:
    """Time values and gradients of the train rows of a dataset."""
    import jax
    import jax.numpy as jnp

    logdensity_fn, position = _density(dataset)
    positions = jnp.stack([position + 0.01 * chain for chain in range(CHAINS)])
    one, gradient = jax.jit(logdensity_fn), jax.jit(jax.value_and_grad(logdensity_fn))
    at_once = jax.jit(jax.vmap(logdensity_fn))
    in_turn = jax.jit(lambda each: jax.lax.map(logdensity_fn, each))
    value, slope = gradient(position)
    time_of = partial(_milliseconds, device=device, seconds=seconds)
    together = {}
    if (dataset.split == 0).sum() <= MOST_ROWS_OF_CHAINS:
        together["ms/value of 4"] = time_of(partial(at_once, positions))
        together["in turn"] = time_of(partial(in_turn, positions))
    return {
        "ms/value": time_of(partial(one, position)),
        "ms/gradient": time_of(partial(gradient, position)),
        **together,
        "MiB": _xla_mib(gradient, position),
        "log density": repr(float(value)),
        "norm of gradient": repr(float(np.linalg.norm(slope))),
    }


def _density(dataset: Dataset) -> tuple[Callable[[Any], Any], Any]:
    """Build the log density, of any number of rows, and a position."""
    import jax.numpy as jnp

    from nlobayes.likelihoods.gaussian import GaussianLikelihood
    from nlobayes.model.density import build_density
    from nlobayes.model.infinite import BIASES, ERF, EXPONENTS, INPUTS, OUTPUT, warp_of
    from nlobayes.model.infinite_posterior import build_infinite_posterior, build_process
    from nlobayes.model.likelihood import NOISE
    from nlobayes.priors.scales import ScalesPrior

    train = dataset.split == 0
    features, target = dataset.features[train], dataset.target[train]
    posterior = build_infinite_posterior(
        ERF,
        ScalesPrior(kind="scales"),
        GaussianLikelihood(kind="gaussian", sigma=None),
        feature_names=dataset.feature_names,
        warp=warp_of(features, dataset.transforms["features"]),
    )
    density = build_density(posterior, chunk=0)
    process = build_process(posterior, density, ERF)
    density = density._replace(log_likelihood=process.log_likelihood)
    data = density.place(features, target)
    each = jnp.ones(len(dataset.feature_names))
    position = {
        INPUTS: SCALE_OF_INPUTS * each,
        EXPONENTS: EXPONENT * each,
        BIASES: jnp.asarray(SCALE_OF_BIASES),
        OUTPUT: jnp.asarray(SCALE_OF_OUTPUT),
        NOISE: jnp.asarray(SIGMA),
    }
    return lambda at: density.log_density(at, data), density.locate(position)


def _milliseconds(call: Callable[[], Any], *, device: str, seconds: float) -> float:
    """Time a compiled call, the fastest of as many as fit the seconds, at most 20."""
    from benchmarks.measure import timed

    timed(call, device)
    spent = [timed(call, device)[1]]
    while sum(spent) < seconds and len(spent) < 20:
        spent.append(timed(call, device)[1])
    return 1e3 * min(spent)


def _xla_mib(compiled: Any, position: Any) -> float:
    """Sum what XLA takes for a compiled function, without the train rows."""
    memory = compiled.lower(position).compile().memory_analysis()
    sizes = (memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.temp_size_in_bytes)
    return sum(sizes) / 2**20


if __name__ == "__main__":
    main()
