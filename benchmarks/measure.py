"""What is measured, each in a process of its own: starts, cells, gradients, draws of HMC.

Import it only where `runtime.configure` was called before (`common.isolated`). On a CPU the
clock is the CPU time of the process, which other jobs on the machine hardly disturb; on a GPU it
is the wall time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import ValidationError

from benchmarks.common import Cell, Outcome, judge
from nlobayes import builder
from nlobayes.adaptations import Warmup
from nlobayes.inference import sampling
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.inference.chain_groups import each_chain
from nlobayes.inference.kernel import Kernel, Posterior, Tuned
from nlobayes.inference.warmup import adapt
from nlobayes.kernels.chees import ChEESKernel, TunedTrajectory
from nlobayes.kernels.hmc import HMCKernel
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.jobs import ModelJob
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset

PILOT_STEPS = 2
WARMUP_SHARE = 1 / 3
ROUNDS = 10
"""Pieces of the sampling of each chain, if one draw is short enough."""
KEPT_PER_ROUND = 200
"""Draws of a piece at which the network is evaluated, after the clock has stopped."""
SECONDS_PER_LOOP = 0.2
TINY_STEP = 1e-6
FLOAT_BYTES = 4
FEWEST, KEEP = 40, 10


class GradientCost(NamedTuple):
    """Seconds of one value and gradient, MiB that XLA takes for it, and MiB of the process."""

    seconds: float
    xla_mib: float
    peak_mib: float


class DrawCost(NamedTuple):
    """Seconds of one leapfrog of one chain, how many were timed in a row, FLOP/s of a product."""

    seconds_per_leapfrog: float
    leapfrogs: int
    matmul_flops: float


class Drawn(NamedTuple):
    """Function draws (chain, draw, point), their mean at the test rows, and what they took."""

    function: np.ndarray
    test_mean: np.ndarray
    gradients: int
    seconds: float
    divergences: int


class Adapted(NamedTuple):
    """One state and one tuned record per chain, and what the warm-up took."""

    states: list[Any]
    tuned: list[Any]
    steps: int
    seconds: float
    gradients: int


def find_starts(
    dataset: Dataset, job: ModelJob, pretraining: Pretraining, chains: int, seed: int
) -> dict[str, np.ndarray]:
    """Fit one MAP per chain and give the problem as the baselines read it.

    Returns
    -------
    `features` (point, feature), `target` (point,), `reference_features` (point, feature), `start`
    (chain, parameter) and `start_log_density` (chain,).
    """
    model = builder.build_model(job, dataset)
    search = builder.build_search(model, dataset, pretraining, seed)
    train = builder.rows_of(model, dataset, 0)
    maps = [search(chain)[0].position for chain in range(chains)]
    return {
        "features": np.asarray(train.features),
        "target": np.asarray(train.target),
        "reference_features": dataset.features[dataset.reference].astype(np.float32),
        "start": np.stack(maps),
        "start_log_density": np.stack([jax.jit(model.logdensity_fn)(one) for one in maps]),
    }


def sample(cell: Cell) -> Outcome:
    """Warm up from the starts, then draw chain by chain until the CPU seconds are used.

    The warm-up is the longest of the preset's, or of its halves, that should fit a third of them.
    ESS and R-hat are those of the network at the reference points, over evenly spaced draws: all
    of them, unless they are very many.
    """
    model = builder.build_model(cell.job, cell.dataset)
    kernel = cell.sampler.kernel.build(Posterior(model.logdensity_fn, model.conjugates))
    adapted = _warm_up(cell, model, kernel)
    pieces, seconds = _draw_until(cell, kernel, adapted)
    memory = peak_mib()
    info = jax.tree.map(lambda *x: np.stack(x), *[piece.info for piece in pieces])
    gradients = info.num_integration_steps.sum(axis=(1, 2))
    chains = len(adapted.states)
    kept = [np.concatenate([p.kept for p in pieces[c::chains]], axis=1) for c in range(chains)]
    ess, agreement = judge(_evaluate(model, cell.dataset, np.concatenate(kept)))
    return Outcome(
        warmup_steps=adapted.steps,
        draws=info.num_integration_steps.size // chains,
        warmup_seconds=adapted.seconds,
        seconds=sum(seconds),
        warmup_gradients=adapted.gradients,
        gradients=int(gradients.sum()),
        fastest_gradient=float(np.min(seconds / np.maximum(gradients, 1))),
        ess=ess,
        rhat=agreement,
        acceptance=float(info.acceptance_rate.mean()),
        divergences=int(info.is_divergent.sum()),
        exact=kernel.exact,
        peak_mib=memory,
    )


def _evaluate(model: builder.Model, dataset: Dataset, positions: np.ndarray) -> np.ndarray:
    """Evaluate the network at the reference points for positions (chain, draw, parameter)."""
    features = jnp.asarray(dataset.features[dataset.reference], model.density.dtype)
    predict = builder.predict_with(model)
    evaluate = jax.jit(lambda chain: jax.lax.map(lambda q: predict(q, features), chain))
    return np.stack([evaluate(jnp.asarray(chain)) for chain in positions])


def _warm_up(cell: Cell, model: builder.Model, kernel: Kernel) -> Adapted:
    """Warm up chain by chain, or all together where the adaptation learns from all of them."""
    chains = range(cell.sampler.chains)
    together = cell.sampler.kernel.learns_from_all_chains
    blocks: list[Sequence[int]] = [chains] if together else [[chain] for chain in chains]
    preset = _affordable(cell, model, kernel, blocks)
    adaptation = _adaptation(cell, model, kernel, preset)
    warm_up = _compile_warm_up(cell, model, adaptation, blocks[0], preset.steps)
    finish = jax.jit(adaptation.finish)
    states, tuned, seconds, gradients = [], [], 0.0, 0
    for block in blocks:
        (carry, info), spent = timed(partial(warm_up, *_begin(cell, model, block)))
        ends = [_split(tree, len(block)) for tree in finish(carry)]
        states += ends[0]
        tuned += ends[1]
        seconds += spent
        gradients += int(info.num_integration_steps.sum())
    return Adapted(states, tuned, preset.steps, seconds, gradients)


def _affordable(
    cell: Cell, model: builder.Model, kernel: Kernel, blocks: Sequence[Sequence[int]]
) -> Warmup:
    """Choose the length of the warm-up from the cost of its first steps, made twice."""
    adaptation = _adaptation(cell, model, kernel, cell.sampler.warmup)
    pilot = _compile_warm_up(cell, model, adaptation, blocks[0], PILOT_STEPS)
    begin = _begin(cell, model, blocks[0])
    spent = min(timed(partial(pilot, *begin))[1] for _ in range(2))
    each = spent / PILOT_STEPS * len(blocks)
    lengths = list(_halved(cell.sampler.warmup))
    fitting = [one for one in lengths if one.steps * each <= WARMUP_SHARE * cell.seconds]
    return fitting[0] if fitting else lengths[-1]


def _adaptation(cell: Cell, model: builder.Model, kernel: Kernel, preset: Warmup) -> Adaptation:
    curvature = builder.curvature_with(model, cell.dataset)
    return preset.build(Untuned(kernel, cell.sampler.kernel, curvature))


def _halved(warmup: Warmup) -> Iterator[Warmup]:
    """Halve a warm-up as long as its preset allows."""
    steps = warmup.steps
    while steps:
        changed = {**warmup.model_dump(), "steps": steps, "segments": 1}
        try:
            yield type(warmup).model_validate(changed)
        except ValidationError:
            return
        steps //= 2


def _begin(cell: Cell, model: builder.Model, block: Sequence[int]) -> tuple[jax.Array, jax.Array]:
    """Give the keys and the starts of a block."""
    positions = builder.stack_positions(model, [cell.start[chain] for chain in block])
    return builder.chain_keys(cell.seed, "warmup", block), positions


def _compile_warm_up(
    cell: Cell, model: builder.Model, adaptation: Adaptation, block: Sequence[int], steps: int
) -> Callable[..., Any]:
    """Compile a warm-up for blocks of this size; it gives the carry and the info of every step."""

    def run(keys: jax.Array, positions: jax.Array) -> Any:
        carry = adaptation.start(positions)
        carry, info, _ = adapt(keys, adaptation, carry, first=0, steps=steps)
        return carry, info

    return jax.jit(run).lower(*_begin(cell, model, block)).compile()


def _draw_until(
    cell: Cell, kernel: Kernel, adapted: Adapted
) -> tuple[list[sampling.Draws], list[float]]:
    """Draw one piece per chain, round after round; give the pieces and the seconds of each."""
    chains = range(len(adapted.states))
    keys = [builder.chain_keys(cell.seed, "draw", [chain]) for chain in chains]
    budget = (1 - WARMUP_SHARE) * cell.seconds
    one_draw = adapted.seconds / adapted.steps / len(chains)
    length = max(1, int(budget / ROUNDS / len(chains) / one_draw))
    thin = -(-length // KEPT_PER_ROUND)
    kept = length // thin

    def draw_piece(key: jax.Array, state: Any, tuned: Any, first: int | jax.Array) -> Any:
        return sampling.draw(
            *(key, kernel, state, tuned),
            first=first,
            kept=kept,
            thin=thin,
            observe=lambda position: {},
        )

    states, first = list(adapted.states), jnp.zeros((), int)
    compiled = jax.jit(draw_piece).lower(keys[0], states[0], adapted.tuned[0], first).compile()
    pieces: list[sampling.Draws] = []
    seconds: list[float] = []
    while sum(seconds) < budget:
        for chain in chains:
            inputs = (keys[chain], states[chain], adapted.tuned[chain], first)
            (states[chain], draws), spent = timed(partial(compiled, *inputs))
            pieces.append(jax.device_get(draws))
            seconds.append(spent)
        first += kept * thin
    return pieces, seconds


def draw_gradients(
    dataset: Dataset,
    job: ModelJob,
    sampler: MCMC,
    pretraining: Pretraining,
    gradients: int,
    seed: int,
) -> Drawn:
    """Draw from MAPs until the chains have used this many gradients in all, warm-up included."""
    problem = find_starts(dataset, job, pretraining, sampler.chains, seed)
    cell = Cell(dataset, job, sampler, problem["start"], 0.0, seed)
    model = builder.build_model(job, dataset)
    kernel = sampler.kernel.build(Posterior(model.logdensity_fn, model.conjugates))
    adaptation = _adaptation(cell, model, kernel, sampler.warmup)
    warm_up = _compile_warm_up(cell, model, adaptation, [0], sampler.warmup.steps)
    warmed, spent = zip(
        *(timed(partial(warm_up, *_begin(cell, model, [c]))) for c in range(sampler.chains)),
        strict=True,
    )
    used = sum(int(info.num_integration_steps.sum()) for _, info in warmed)
    per_draw = sampler.gradients_per_draw * sampler.chains
    draws = max(FEWEST, (gradients - used) // per_draw)
    observe = builder.observer(model, dataset)
    test = builder.rows_of(model, dataset, 2).features
    predict = builder.predict_with(model)

    def run(key: jax.Array, carry: Any) -> Any:
        lengths: dict[str, Any] = {"first": 0, "kept": draws // KEEP, "thin": KEEP}
        _, drawn = sampling.draw(key, kernel, *adaptation.finish(carry), observe=observe, **lengths)
        return drawn, jax.lax.map(lambda q: predict(q, test), drawn.kept[0]).mean(axis=0)

    chains, seconds = zip(
        *(
            timed(partial(jax.jit(run), builder.chain_keys(seed, "draw", [c]), warmed[c][0]))
            for c in range(sampler.chains)
        ),
        strict=True,
    )
    return Drawn(
        function=np.concatenate([np.asarray(drawn.observed["f"]) for drawn, _ in chains]),
        test_mean=np.mean([mean for _, mean in chains], axis=0),
        gradients=used + sum(int(drawn.info.num_integration_steps.sum()) for drawn, _ in chains),
        seconds=sum(spent) + sum(seconds),
        divergences=sum(int(drawn.info.is_divergent.sum()) for drawn, _ in chains),
    )


def gradient_cost(dataset: Dataset, job: ModelJob, repeats: int) -> GradientCost:
    """Time value and gradient in a compiled loop, the fastest of several, and weigh them."""
    model = builder.build_model(job, dataset)

    def loop(position: jax.Array, steps: jax.Array) -> Any:
        def once(_: Any, carry: Any) -> Any:
            value, gradient = jax.value_and_grad(model.logdensity_fn)(carry[0])
            return carry[0] + 1e-9 * gradient, carry[1] + value

        begin = (position, jnp.zeros((), position.dtype))
        return jax.lax.fori_loop(0, steps, once, begin)

    position = model.density.draw_prior(0)
    compiled = jax.jit(loop).lower(position, jnp.asarray(1)).compile()
    once = min(timed(partial(compiled, position, jnp.asarray(1)))[1] for _ in range(2))
    steps = jnp.asarray(int(np.clip(SECONDS_PER_LOOP / max(once, 1e-9), 1, 100_000)))
    best = min(timed(partial(compiled, position, steps))[1] for _ in range(repeats)) / int(steps)
    memory = compiled.memory_analysis()
    assert memory is not None
    taken = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    data = dataset.features[dataset.split == 0].size + int((dataset.split == 0).sum())
    return GradientCost(best, (taken + data * FLOAT_BYTES) / 2**20, peak_mib())


def draw_costs(
    dataset: Dataset,
    job: ModelJob,
    chains: Sequence[int],
    leapfrogs: int,
    seconds: float,
    kind: str = "hmc",
) -> list[DrawCost]:
    """Time draws of HMC, or of `chees`, of `leapfrogs` steps, or of as many as fit the seconds.

    There is one cost for each number of chains, which are vectorised. The step size is too small to
    move the network, so every trajectory stays finite.
    """
    model = builder.build_model(job, dataset)
    flops = _matmul_flops(8192 if job.device == "gpu" else 2048, job.device)
    few = min(4, leapfrogs)
    costs = []
    for count in chains:
        pilot = _time_draw(model, kind, count, few, job.device) / few
        most = int(np.clip(seconds / 3 / pilot, few, leapfrogs))
        each = _time_draw(model, kind, count, most, job.device) / most
        costs.append(DrawCost(each / count, most, flops))
    return costs


def _time_draw(model: builder.Model, kind: str, chains: int, leapfrogs: int, device: str) -> float:
    """Time one draw of a block of chains, the faster of two."""
    draw = draw_of(model, kind, chains, leapfrogs)
    return min(timed(draw, device)[1] for _ in range(2))


def draw_of(model: builder.Model, kind: str, chains: int, leapfrogs: int) -> Callable[[], Any]:
    """Compile one draw of a block of chains, whose step size is too small to move the network.

    The first step of `chees` lasts as long as its mean length, which is that of all the leapfrogs.
    """
    positions = jnp.stack([model.density.draw_prior(chain) for chain in range(chains)])
    keys = builder.chain_keys(0, "draw", range(chains))
    step_size = jnp.full(chains, TINY_STEP, positions.dtype)
    metric = jnp.ones_like(positions)
    tuned: Any = Tuned(step_size, metric)
    preset: Any = HMCKernel(kind="hmc", integration_steps=leapfrogs, jitter=0)
    if kind == "chees":
        tuned = TunedTrajectory(step_size, metric, leapfrogs * step_size)
        preset = ChEESKernel(kind="chees", most_integration_steps=leapfrogs)
    kernel = preset.build(Posterior(model.logdensity_fn))
    states = jax.jit(each_chain(kernel.init))(positions)
    step = jax.jit(each_chain(kernel.step))
    jax.block_until_ready(step(keys, states, tuned))
    return partial(step, keys, states, tuned)


def _matmul_flops(size: int, device: str) -> float:
    """Time a plain square product of matrices, the fastest of five, in FLOP/s."""
    matrix = jax.random.normal(jax.random.key(0), (size, size), jnp.float32)
    product = jax.jit(jnp.matmul)
    jax.block_until_ready(product(matrix, matrix))
    return 2 * size**3 / min(timed(partial(product, matrix, matrix), device)[1] for _ in range(5))


def timed(call: Callable[[], Any], device: str = "cpu") -> tuple[Any, float]:
    """Run to the end and give the result and its seconds."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    begin = clock()
    result = jax.block_until_ready(call())
    return result, clock() - begin


def peak_mib() -> float:
    """Read the largest resident memory of this process so far (Linux), in MiB."""
    status = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def _split(tree: Any, chains: int) -> list[Any]:
    """Cut a block into blocks of one chain."""
    return [jax.tree.map(lambda leaf, c=chain: leaf[c : c + 1], tree) for chain in range(chains)]
