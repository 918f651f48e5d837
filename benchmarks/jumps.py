"""Time a draw of kernel `reversible_jump` against HMC of the fixed network of the largest size.

    python -m benchmarks.jumps

Both make the same number of leapfrog steps on the same rows, in turn, in the same process; the
ratio of each to plain HMC is taken in every round, and its median is printed. The goal is 1.3.
With several chains all are vectorised, as on a GPU, and every move is computed in every jump.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nlobayes import runtime

runtime.configure("float32")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from nlobayes import builder  # noqa: E402
from nlobayes.builder.varying_architecture import architecture_of  # noqa: E402
from nlobayes.inference.adaptation import Untuned  # noqa: E402
from nlobayes.inference.kernel import Posterior, Tuned  # noqa: E402
from nlobayes.study.jobs import ModelJob  # noqa: E402
from nlobayes.types import Dataset  # noqa: E402
from tests.members import build_kernel, build_warmup  # noqa: E402

UNIFORM = {"kind": "uniform"}
STEP_SIZE, ROUNDS = 1e-3, 11
UNIT_MOVES = (("prior",), ("conditional",), ("split",), ("prior", "conditional", "split"))
LAYER_MOVES = (("prior",), ("identity",), ("conditional",), ("prior", "conditional"))


class Case(NamedTuple):
    """Rows, inputs, the network that varies, its likelihood, and the moves that are timed."""

    rows: int
    inputs: int
    network: dict[str, Any]
    likelihood: dict[str, Any]
    moves: tuple[tuple[Any, ...], ...]
    classes: int = 0


CASES = {
    "2-16-2": Case(
        200, 2, {"hidden": [16], "units": UNIFORM}, {"kind": "categorical"}, UNIT_MOVES, 2
    ),
    "5-32-1": Case(
        1000,
        5,
        {"hidden": [32], "units": UNIFORM},
        {"kind": "gaussian", "sigma": 0.1},
        UNIT_MOVES,
    ),
    "48-55-10": Case(
        500, 48, {"hidden": [55], "units": UNIFORM}, {"kind": "categorical"}, UNIT_MOVES, 10
    ),
    "13-6x4-1": Case(
        253,
        13,
        {"hidden": [4] * 6, "activation": "relu", "layers": UNIFORM},
        {"kind": "gaussian", "sigma": 1.0},
        LAYER_MOVES,
    ),
}


def main() -> None:
    """Print milliseconds per draw and ratios, medians over rounds."""
    given = _arguments()
    for name, case in ((name, CASES[name]) for name in given.cases):
        plain = plain_hmc(case, given.leapfrogs, given.chains, given.draws)
        timed = {
            " ".join(moves): with_jumps(case, moves, given.leapfrogs, given.chains, given.draws)
            for moves in case.moves
        }
        times = np.array(
            [[seconds(run) for run in (plain, *timed.values())] for _ in range(ROUNDS)]
        )
        each, ratios = np.median(times, axis=0), np.median(times / times[:, :1], axis=0)
        print(f"{name:>9} {'hmc':>24}: {each[0] / given.draws * 1e3:8.3f} ms")
        for moves, cost, ratio in zip(timed, each[1:], ratios[1:], strict=True):
            took = cost / given.draws * 1e3
            print(f"{name:>9} {moves:>24}: {took:8.3f} ms, ratio {ratio:.3f}", flush=True)


def plain_hmc(case: Case, leapfrogs: int, chains: int, draws: int) -> Callable[[], Any]:
    """Build a loop of draws of the fixed network."""
    fixed = {name: value for name, value in case.network.items() if value is not UNIFORM}
    model = _model(case, fixed)
    kernel = build_kernel(
        "hmc",
        Posterior(model.logdensity_fn),
        integration_steps=leapfrogs,
        jitter=0.0,
        divergence_threshold=1000.0,
    )
    return _loop(model, kernel, Tuned(jnp.asarray(STEP_SIZE), jnp.ones(1)), chains, draws)


def with_jumps(
    case: Case, moves: Any, leapfrogs: int, chains: int, draws: int
) -> Callable[[], Any]:
    """Build a loop of draws with one jump each."""
    model = _model(case, case.network)
    architecture = architecture_of(model.network, model.density, model.varying)
    kernel = build_kernel(
        "reversible_jump",
        Posterior(model.logdensity_fn, architecture=architecture),
        moves=moves,
        jumps=1,
        annealing_steps=0,
        annealing_integration_steps=1,
        integration_steps=leapfrogs,
        jitter=0.0,
        divergence_threshold=1000.0,
    )
    adaptation = build_warmup(
        "sizes",
        Untuned(kernel),
        steps=1,
        adaptation_share=1.0,
        target_acceptance=0.7,
        initial_step_size=STEP_SIZE,
    )
    tuned = adaptation.finish(adaptation.start(model.density.draw_prior(0)[None]))[1]
    return _loop(model, kernel, jax.tree.map(lambda leaf: leaf[0], tuned), chains, draws)


def seconds(run: Callable[[], Any]) -> float:
    """Count the CPU seconds of one loop, which a busy machine disturbs less."""
    began = time.process_time()
    jax.block_until_ready(run())
    return time.process_time() - began


def _model(case: Case, network: dict[str, Any]) -> builder.Model:
    job = {
        "network": network,
        "prior": {"kind": "gaussian"},
        "likelihood": case.likelihood,
        "precision": "float32",
    }
    return builder.build_model(ModelJob.model_validate(job), _rows_of(case))


def _rows_of(case: Case) -> Dataset:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(case.rows + 1, case.inputs))
    target = rng.normal(size=case.rows + 1)
    if case.classes:
        target = (np.arange(case.rows + 1) % case.classes).astype(float)
    names = tuple(f"x{number}" for number in range(case.inputs))
    return Dataset(
        inputs=features,
        features=features,
        target=target,
        observed=target,
        split=np.where(np.arange(case.rows + 1) < case.rows, 0, -1),
        reference=np.arange(2),
        input_names=names,
        feature_names=names,
        target_names=("y",),
        transforms={"target": {"classes": [str(number) for number in range(case.classes)]}},
        units={},
    )


def _loop(model: builder.Model, kernel: Any, tuned: Any, chains: int, draws: int) -> Any:
    start = jnp.stack([model.density.draw_prior(seed) for seed in range(chains)])
    if isinstance(tuned.inverse_mass_matrix, jax.Array):
        tuned = tuned._replace(inverse_mass_matrix=jnp.ones(model.density.size))

    def chain(position: jax.Array, key: jax.Array) -> jax.Array:
        def one(state: Any, key: jax.Array) -> tuple[Any, None]:
            return kernel.step(key, state, tuned)[0], None

        return jax.lax.scan(one, kernel.init(position), jax.random.split(key, draws))[0].position

    keys = jax.random.split(jax.random.key(1), chains)
    many = jax.jit(jax.vmap(chain) if chains > 1 else lambda q, k: chain(q[0], k[0]))
    jax.block_until_ready(many(start, keys))
    return lambda: many(start, keys)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=[*CASES], default=[*CASES])
    parser.add_argument("--leapfrogs", type=int, default=32, help="per draw (32)")
    parser.add_argument("--draws", type=int, default=40, help="per round (40)")
    parser.add_argument("--chains", type=int, default=1, help="vectorised (1)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
