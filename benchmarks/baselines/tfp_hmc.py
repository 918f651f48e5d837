"""Time one gradient of HMC in TensorFlow Probability, with XLA and without.

    uv venv env
    env/bin/pip install tensorflow==2.21.0 tensorflow-probability==0.25.0 tf_keras==2.21.0
    taskset -c 0 env/bin/python tfp_hmc.py --hidden 20 20 --leapfrogs 512 --steps 5

A transition of HMC with L leapfrogs costs L gradients, the momenta and the accept step beside
them; the first transition compiles and is left out. A step size too small to move the network
keeps every gradient finite. The density is that of a tanh network with the fan-in prior in
whitened coordinates and a Gaussian likelihood; the data are random unless `--npz` brings
`features` (point, feature), `target` (point,) and, optional, `position` (parameter,), whose order
is weights and biases of each layer, first layer first, weights (units in, units out) in C order.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

STEP_SIZE = 1e-9


class Problem(NamedTuple):
    """Features (point, feature), target (point,) and a position (parameter,)."""

    features: np.ndarray
    target: np.ndarray
    position: np.ndarray


def count_parameters(sizes: list[int]) -> int:
    """Count the weights and biases of a network."""
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(sizes))


def random_problem(hidden: list[int], *, points: int, features: int, seed: int) -> Problem:
    """Draw normal data and a position from the prior."""
    rng = np.random.default_rng(seed)
    shapes = ((points, features), points, count_parameters([features, *hidden, 1]))
    return Problem(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))


def read_problem(path: Path, hidden: list[int]) -> Problem:
    """Read data and position; without a position, draw one from the prior."""
    with np.load(path) as arrays:
        features, target = (arrays[name].astype(np.float32) for name in ("features", "target"))
        position = arrays["position"].astype(np.float32) if "position" in arrays else None
    drawn = random_problem(hidden, points=1, features=features.shape[1], seed=0).position
    if position is not None and position.shape != drawn.shape:
        raise ValueError(f"position: {position.shape}, but the network has {drawn.shape}")
    return Problem(features, target, drawn if position is None else position)


def network(position: tf.Tensor, features: tf.Tensor, sizes: list[int]) -> tf.Tensor:
    """Evaluate the tanh network of a whitened position at every point."""
    layers = list(pairwise(sizes))
    lengths = [length for fan_in, fan_out in layers for length in (fan_in * fan_out, fan_out)]
    pieces = tf.split(position, lengths)
    hidden = features
    for index, (fan_in, fan_out) in enumerate(layers):
        weights = tf.reshape(pieces[2 * index], (fan_in, fan_out)) / sqrt(fan_in)
        hidden = hidden @ weights + pieces[2 * index + 1]
        hidden = tf.tanh(hidden) if index < len(layers) - 1 else hidden
    return hidden[:, 0]


def build_log_density(
    problem: Problem, hidden: list[int], *, sigma: float
) -> Callable[[tf.Tensor], tf.Tensor]:
    """State a standard normal prior of the position and a Gaussian likelihood."""
    sizes = [problem.features.shape[1], *hidden, 1]
    features, target = tf.constant(problem.features), tf.constant(problem.target)
    normal = tfp.distributions.Normal

    def log_density(position: tf.Tensor) -> tf.Tensor:
        log_likelihood = normal(network(position, features, sizes), sigma).log_prob(target)
        return tf.reduce_sum(normal(0.0, 1.0).log_prob(position)) + tf.reduce_sum(log_likelihood)

    return log_density


def time_transitions(
    log_density: Callable[[tf.Tensor], tf.Tensor],
    position: tf.Tensor,
    *,
    leapfrogs: int,
    steps: int,
    xla: bool,
) -> dict[str, Any]:
    """Time transitions of HMC one by one and give the milliseconds per gradient."""
    kernel = tfp.mcmc.HamiltonianMonteCarlo(log_density, STEP_SIZE, leapfrogs)

    @tf.function(jit_compile=xla)
    def transition(position: tf.Tensor, results: Any, seed: tf.Tensor) -> Any:
        return kernel.one_step(position, results, seed=seed)

    results, clocks = kernel.bootstrap_results(position), [read_clocks()]
    start_log_density = float(results.accepted_results.target_log_prob)
    for step in range(steps + 1):
        position, results = transition(position, results, tf.constant([0, step]))
        position.numpy()
        clocks.append(read_clocks())
    if not np.isfinite(results.log_accept_ratio.numpy()):
        raise FloatingPointError("the trajectory diverged, so its time says nothing")
    (first_seconds, _), *rest = np.diff(clocks, axis=0)
    wall, cpu = np.transpose(rest) / leapfrogs * 1e3
    return {
        "xla": xla,
        "first_seconds": round(first_seconds, 2),
        "ms_min": round(wall.min(), 4),
        "ms_median": round(np.median(wall), 4),
        "cpu_ms_min": round(cpu.min(), 4),
        "gradients_per_s": round(1e3 / wall.min(), 1),
        "start_log_density": start_log_density,
    }


def read_clocks() -> tuple[float, float]:
    """Read the wall clock and the CPU time of this process, in seconds."""
    return time.perf_counter(), time.process_time()


def parse_arguments() -> argparse.Namespace:
    """Read the network, the data and the length of the run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=int, nargs="+", default=[20, 20])
    parser.add_argument("--leapfrogs", type=int, default=512)
    parser.add_argument("--steps", type=int, default=5, help="transitions timed")
    parser.add_argument("--sigma", type=float, default=0.05)
    parser.add_argument("--points", type=int, default=11746, help="random rows, without --npz")
    parser.add_argument("--npz", type=Path, help="data in place of random ones")
    return parser.parse_args()


def main() -> None:
    """Print one line of JSON for XLA and one without."""
    arguments = parse_arguments()
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    hidden = arguments.hidden
    if arguments.npz:
        problem = read_problem(arguments.npz, hidden)
    else:
        problem = random_problem(hidden, points=arguments.points, features=5, seed=0)
    log_density = build_log_density(problem, hidden, sigma=arguments.sigma)
    case = {"tensorflow": tf.__version__, "tfp": tfp.__version__, "hidden": hidden}
    case |= {"points": len(problem.target), "leapfrogs": arguments.leapfrogs}
    for xla in (True, False):
        times = time_transitions(
            log_density,
            tf.constant(problem.position),
            leapfrogs=arguments.leapfrogs,
            steps=arguments.steps,
            xla=xla,
        )
        print(json.dumps(case | times))


if __name__ == "__main__":
    main()
