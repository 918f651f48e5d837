"""Time value and gradient of the model family against the plain model: fan-in prior, tolerance.

    python -m benchmarks.family

All run in turn, in the same process; the ratio of each to the plain model is taken in every round,
and its median over the rounds is printed. Hierarchical and Student-t models may cost 1.15.
"""

import time
from typing import Any

from nlobayes import runtime

runtime.configure("float32")

import jax  # noqa: E402
import numpy as np  # noqa: E402

from benchmarks.gradient import loop  # noqa: E402
from nlobayes.model.density import build_density  # noqa: E402
from nlobayes.model.networks import Network  # noqa: E402
from nlobayes.model.posterior import build_posterior  # noqa: E402
from nlobayes.model.rows import choose_layout  # noqa: E402
from nlobayes.priors.hierarchical import HalfNormalScale  # noqa: E402
from tests.members import likelihood, prior  # noqa: E402

ROWS, INPUTS, HIDDEN, SIGMA = 1000, 5, 32, 0.05
STEPS, ROUNDS = 400, 41
PLAIN, TOLERANCE = prior("fan_in", scale=1.0), likelihood("gaussian", sigma=SIGMA)
MODELS: dict[str, tuple[Any, Any]] = {
    "plain": (PLAIN, TOLERANCE),
    "hierarchical": (
        prior("hierarchical", hyper=HalfNormalScale(kind="half_normal", scale=1.0), shared="layer"),
        TOLERANCE,
    ),
    "student_t": (PLAIN, likelihood("student_t", sigma=SIGMA, degrees_of_freedom=4.0)),
    "student_t, learned": (PLAIN, likelihood("student_t", sigma=None, degrees_of_freedom=None)),
    "horseshoe": (
        prior("horseshoe", global_scale=1.0, slab_scale=2.0, slab_degrees=4.0, bias_scale=1.0),
        TOLERANCE,
    ),
    "heteroscedastic": (PLAIN, likelihood("heteroscedastic", scale=SIGMA)),
}


def build(prior: Any, likelihood: Any) -> tuple[Any, ...]:
    """Compile many gradients of a model; a loop, where it starts, and the rows."""
    rng = np.random.default_rng(0)
    sizes = (INPUTS, HIDDEN, likelihood.outputs(1))
    layout, chunk = choose_layout(max(sizes))
    names = [f"x{i}" for i in range(INPUTS)]
    posterior = build_posterior(
        Network(sizes, "tanh"), prior, likelihood, feature_names=names, layout=layout
    )
    density = build_density(posterior, chunk=chunk)
    data = density.place(rng.normal(size=(ROWS, INPUTS)), rng.normal(size=ROWS))
    run, start = loop(density.log_density, STEPS), density.draw_prior(0)
    jax.block_until_ready(run(start, data))
    return run, start, data


def seconds(run: Any, start: Any, data: Any) -> float:
    """Count the CPU seconds of one loop, which a busy machine disturbs less."""
    began = time.process_time()
    run(start, data).block_until_ready()
    return time.process_time() - began


def main() -> None:
    """Print microseconds per gradient and the ratio to the plain model, medians over rounds."""
    built = [build(*model) for model in MODELS.values()]
    times = np.array([[seconds(*one) for one in built] for _ in range(ROUNDS)])
    ratios = np.median(times / times[:, :1], axis=0)
    for name, each, ratio in zip(MODELS, np.median(times, axis=0), ratios, strict=True):
        print(f"{name:>20}: {each / STEPS * 1e6:7.1f} us, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
