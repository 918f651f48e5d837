"""Compare hyperparameters moved with the weights (`hmc`) and drawn given them (`gibbs_hmc`).

    python -m benchmarks.hyperparameters --draws 1500

Embedded data, 5-16-1, 500 train rows, sigma 0.1; per-layer scales with each hyper-prior that is
conjugate. Both kernels start from the same MAPs and make the same warm-up, leapfrogs and draws.
ESS of f is the median, and the smallest, over reference points; ESS of scales, of log s, is the
smallest over them. All are per 1000 gradients of the draws.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from benchmarks.common import (
    isolated,
    make_embedded,
    model_job,
    parse_case,
    parse_sampler,
    print_header,
    print_row,
    simulate_rows,
)
from nlobayes import runtime
from nlobayes.diagnostics.convergence import ess_bulk, rhat
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Posterior
from nlobayes.methods.mcmc import MCMC
from nlobayes.priors.hierarchical import HierarchicalPrior
from nlobayes.study.jobs import ModelJob
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset

COLUMNS = (
    *("hyper", "method", "gradients", "accept", "diverging", "ESS f", "lowest f", "ESS scales"),
    *("R-hat f", "R-hat scales", "largest scale", "smallest scale"),
)


def main() -> None:
    """Print one row per hyper-prior and kernel."""
    given = _arguments()
    runtime.configure("float32")
    dataset = make_embedded(simulate_rows(given.case.rows), given.case.rows)
    pretraining = Pretraining(epochs=given.epochs, batch=min(100, given.case.rows))
    print_header(COLUMNS)
    for hyper in ("gamma_precision", "half_cauchy"):
        prior = HierarchicalPrior.model_validate({"kind": "hierarchical", "hyper": {"kind": hyper}})
        job = model_job(given.case, given.sigma).model_copy(update={"prior": prior})
        call = "benchmarks.measure:find_starts"
        start = isolated(call, dataset, job, pretraining, given.chains, given.seed)["start"]
        for sampler in given.methods:
            call = "benchmarks.hyperparameters:measure"
            row = isolated(call, dataset, job, sampler, start, given.draws, given.seed)
            print_row({"hyper": hyper, "method": sampler.kernel.kind, **row}, COLUMNS)


def measure(
    dataset: Dataset, job: ModelJob, sampler: MCMC, start: np.ndarray, draws: int, seed: int
) -> dict[str, Any]:
    """Warm up and draw chain by chain, and check f and the scales."""
    import jax
    import jax.numpy as jnp

    from nlobayes import builder
    from nlobayes.inference import sampling
    from nlobayes.inference.warmup import adapt

    model = builder.build_model(job, dataset)
    kernel = sampler.kernel.build(Posterior(model.logdensity_fn, model.conjugates))
    adaptation = sampler.warmup.build(Untuned(kernel, sampler.kernel))
    observe_f = builder.observer(model, dataset)

    def observe(position: jax.Array) -> tuple[jax.Array, jax.Array]:
        named = model.density.variables(position)
        scales = [value for name, value in sorted(named.items()) if name.startswith("scale_")]
        return observe_f(position)["f"], jnp.log(jnp.stack(scales))

    @jax.jit
    def run(warming: jax.Array, drawing: jax.Array, positions: jax.Array) -> Any:
        carry = adaptation.start(positions)
        carry, _, _ = adapt(warming, adaptation, carry, first=0, steps=sampler.warmup.steps)
        lengths: dict[str, Any] = {"first": 0, "kept": draws, "thin": 1}
        ends = adaptation.finish(carry)
        return sampling.draw(drawing, kernel, *ends, observe=observe, **lengths)[1]

    chains = []
    for chain, position in enumerate(start):
        keys = [builder.chain_keys(seed, stage, [chain]) for stage in ("warmup", "draw")]
        drawn = jax.device_get(run(*keys, builder.stack_positions(model, [position])))
        chains.append((*drawn.observed, drawn.info))
    return _figures(*(jax.tree.map(lambda *x: np.concatenate(x), *chains)))


def _figures(f: np.ndarray, scales: np.ndarray, info: Any) -> dict[str, Any]:
    gradients = int(info.num_integration_steps.sum())
    typical = np.exp(np.median(scales, axis=(0, 1)))
    return {
        "gradients": gradients,
        "accept": float(info.acceptance_rate.mean()),
        "diverging": int(info.is_divergent.sum()),
        "ESS f": float(1e3 * np.median(ess_bulk(f)) / gradients),
        "lowest f": float(1e3 * np.min(ess_bulk(f)) / gradients),
        "ESS scales": float(1e3 * np.min(ess_bulk(scales)) / gradients),
        "R-hat f": float(np.median(rhat(f))),
        "R-hat scales": float(np.max(rhat(scales))),
        "largest scale": float(typical.max()),
        "smallest scale": float(typical.min()),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--case", type=parse_case, default=parse_case("5-16-1@500"))
    add("--sigma", type=float, default=0.1, help="tolerance, in sd of the target (0.1)")
    add("--leapfrogs", type=int, default=128, help="per draw (128)")
    add("--draws", type=int, default=1500, help="per chain (1500)")
    add("--chains", type=int, default=4)
    add("--warmup", type=int, default=800, help="steps (800)")
    add("--acceptance", type=float, default=0.9, help="that the warm-up aims at (0.9)")
    add("--epochs", type=int, default=200, help="epochs of Adam before (200)")
    add("--seed", type=int, default=1)
    given = parser.parse_args()
    warmup = {"steps": given.warmup, "target_acceptance": given.acceptance}
    kernels = [
        {"kind": kind, "integration_steps": given.leapfrogs} for kind in ("hmc", "gibbs_hmc")
    ]
    presets = [json.dumps({"kernel": kernel, "warmup": warmup}) for kernel in kernels]
    given.methods = [parse_sampler(preset) for preset in presets]
    return given


if __name__ == "__main__":
    main()
