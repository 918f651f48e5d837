"""Time 1000 networks in TensorFlow with XLA: run by `surrogate.py`, with a Python that has it."""

import json
import sys
import time
from itertools import pairwise

import numpy as np
import tensorflow as tf

DRAWS, POINTS, REPEATS = 1000, (1, 256, 4096), 7


def main() -> None:
    """Print milliseconds per number of points as JSON."""
    sizes, rng = json.loads(sys.argv[1]), np.random.default_rng(1)
    layers = [
        (
            tf.constant(rng.normal(size=(DRAWS, into, out)) / np.sqrt(into), tf.float32),
            tf.constant(rng.normal(size=(DRAWS, 1, out)), tf.float32),
        )
        for into, out in pairwise(sizes)
    ]

    @tf.function(jit_compile=True)
    def evaluate(x: tf.Tensor) -> tf.Tensor:
        hidden = tf.broadcast_to(x, (DRAWS, *x.shape))
        for index, (weights, biases) in enumerate(layers):
            hidden = hidden @ weights + biases
            hidden = tf.tanh(hidden) if index < len(layers) - 1 else hidden
        return hidden[..., 0]

    row = {}
    for count in POINTS:
        x = tf.constant(np.full((count, sizes[0]), 0.1), tf.float32)
        evaluate(x).numpy()
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            evaluate(x).numpy()
            times.append(time.perf_counter() - begin)
        row[f"tfp_{count}_ms"] = 1e3 * min(times)
    print(json.dumps(row))


if __name__ == "__main__":
    main()
