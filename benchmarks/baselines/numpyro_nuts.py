"""Sample a network posterior with NumPyro's default NUTS: the reference of the sampler benchmark.

    python3.11 -m venv env && env/bin/pip install numpyro==0.22.0 jax==0.10.2
    taskset -c 0 env/bin/python numpyro_nuts.py problem.npz settings.json draws.npz

The problem holds `features` (point, feature), `target` (point,), `reference_features` (point,
feature) and `start` (chain, parameter), whose order is weights and biases of each layer, first
layer first, weights (units in, units out) in C order, all whitened. The settings are `hidden`,
`sigma`, `draws`, `warmup`, `seed` and, optional, `max_depth`.

Everything but `max_depth` is a default of NumPyro: diagonal mass matrix, target acceptance 0.8,
initial step size 1. The kernel runs in one compiled scan per phase, so that compilation is timed
apart; the draws are those of `numpyro.infer.MCMC` without a progress bar.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import prod, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import NUTS

Parameters = dict[str, jax.Array]
Shapes = Mapping[str, tuple[int, ...]]


class Problem(NamedTuple):
    """Features (point, feature), target (point,), reference features and start positions."""

    features: jax.Array
    target: jax.Array
    reference_features: jax.Array
    start: jax.Array


class Settings(NamedTuple):
    """What to sample and for how long."""

    hidden: list[int]
    sigma: float
    draws: int
    warmup: int
    seed: int
    max_depth: int = 10


class Phases(NamedTuple):
    """Warm-up and sampling, compiled, and the seconds their compilation took."""

    warmup: Callable[[Any], Any]
    sampling: Callable[[Any], Any]
    seconds: float


def parameter_shapes(sizes: list[int]) -> dict[str, tuple[int, ...]]:
    """Shape every weight matrix and bias vector, in the order of the flat position."""
    shapes: dict[str, tuple[int, ...]] = {}
    for index, (fan_in, fan_out) in enumerate(pairwise(sizes), start=1):
        shapes |= {f"weights_{index}": (fan_in, fan_out), f"biases_{index}": (fan_out,)}
    return shapes


def unravel(position: jax.Array, shapes: Shapes) -> Parameters:
    """Cut a flat position (parameter,) into named parameters."""
    ends = np.cumsum([prod(shape) for shape in shapes.values()])
    if position.shape != (ends[-1],):
        raise ValueError(f"start: {position.shape} per chain, but the network has {ends[-1]}")
    pieces = jnp.split(position, ends[:-1])
    return {
        name: piece.reshape(shape)
        for (name, shape), piece in zip(shapes.items(), pieces, strict=True)
    }


def network(parameters: Parameters, features: jax.Array) -> jax.Array:
    """Evaluate the tanh network of whitened parameters at every point."""
    layers, hidden = len(parameters) // 2, features
    for index in range(1, layers + 1):
        weights = parameters[f"weights_{index}"] / sqrt(hidden.shape[1])
        hidden = hidden @ weights + parameters[f"biases_{index}"]
        hidden = jnp.tanh(hidden) if index < layers else hidden
    return hidden[:, 0]


def model(features: jax.Array, target: jax.Array, *, shapes: Shapes, sigma: float) -> None:
    """State a standard normal prior of the whitened parameters and a Gaussian likelihood."""
    parameters = {
        name: numpyro.sample(name, dist.Normal(0, 1).expand(shape).to_event(len(shape)))
        for name, shape in shapes.items()
    }
    numpyro.sample("target", dist.Normal(network(parameters, features), sigma), obs=target)


def compile_phases(kernel: NUTS, state: Any, problem: Problem, lengths: Sequence[int]) -> Phases:
    """Compile both phases for states like the one given, from an initialised kernel."""
    arrays = (problem.features, problem.target, problem.reference_features)

    def run(state: Any, arrays: Any, *, length: int) -> Any:
        *data, reference_features = arrays

        def step(state: Any, _: None) -> tuple[Any, dict[str, jax.Array]]:
            state = kernel.sample(state, data, {})
            return state, {
                "function": network(state.z, reference_features),
                "n_steps": state.num_steps,
                "acceptance_rate": state.accept_prob,
                "diverging": state.diverging,
            }

        return jax.lax.scan(step, state, None, length=length)

    def compiled(length: int) -> Callable[[Any], Any]:
        phase = jax.jit(partial(run, length=length)).lower(state, arrays).compile()
        return lambda state: phase(state, arrays)

    start = time.perf_counter()
    warmup, sampling = map(compiled, lengths)
    return Phases(warmup, sampling, time.perf_counter() - start)


def timed(phase: Callable[[Any], Any], state: Any) -> tuple[Any, Any, dict[str, float]]:
    """Run one phase and return its last state, its records and its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    state, records = jax.block_until_ready(phase(state))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return state, records, {"seconds": wall, "cpu_seconds": cpu}


def run_chain(phases: Phases, state: Any) -> dict[str, Any]:
    """Warm one chain up, sample it and count its gradients, the one of the start included."""
    log_density = -state.potential_energy
    state, warmup, warmup_time = timed(phases.warmup, state)
    state, sampling, sampling_time = timed(phases.sampling, state)
    return {
        **sampling,
        "start_log_density": log_density,
        "step_size": state.adapt_state.step_size,
        "warmup_gradients": 1 + warmup["n_steps"].sum(),
        "sampling_gradients": sampling["n_steps"].sum(),
        **{f"warmup_{name}": value for name, value in warmup_time.items()},
        **{f"sampling_{name}": value for name, value in sampling_time.items()},
    }


def sample(problem: Problem, settings: Settings) -> dict[str, np.ndarray]:
    """Sample all chains, one after another.

    Returns
    -------
    `function` (chain, draw, point) at the reference features; `n_steps`, `acceptance_rate` and
    `diverging` (chain, draw); gradients, wall seconds and CPU seconds of each phase, final
    `step_size` and `start_log_density` (chain,); `compile_seconds`.
    """
    shapes = parameter_shapes([problem.features.shape[1], *settings.hidden, 1])
    kernel = NUTS(
        partial(model, shapes=shapes, sigma=settings.sigma), max_tree_depth=settings.max_depth
    )
    data = (problem.features, problem.target)
    keys = jax.random.split(jax.random.key(settings.seed), len(problem.start))
    states = [
        kernel.init(key, settings.warmup, unravel(position, shapes), data, {})
        for key, position in zip(keys, problem.start, strict=True)
    ]
    phases = compile_phases(kernel, states[0], problem, (settings.warmup, settings.draws))
    chains = [run_chain(phases, state) for state in states]
    stacked = {name: np.stack([chain[name] for chain in chains]) for name in chains[0]}
    return stacked | {"compile_seconds": np.asarray(phases.seconds)}


def main() -> None:
    """Sample the problem and write the draws with the cost of each chain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("problem", "settings", "draws"):
        parser.add_argument(name, type=Path)
    arguments = parser.parse_args()
    with np.load(arguments.problem) as arrays:
        problem = Problem(*(jnp.asarray(arrays[name], jnp.float32) for name in Problem._fields))
    result: dict[str, Any] = {"numpyro": numpyro.__version__, "jax": jax.__version__}
    result |= sample(problem, Settings(**json.loads(arguments.settings.read_text())))
    np.savez(arguments.draws, **result)
    gradients, seconds = result["sampling_gradients"].sum(), result["sampling_seconds"].sum()
    print(f"{gradients} gradients in {seconds:.2f} s, {seconds / gradients * 1e3:.4f} ms each")


if __name__ == "__main__":
    main()
