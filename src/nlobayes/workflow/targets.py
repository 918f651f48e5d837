"""The final files of grids, which depend on their `outputs`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from nlobayes.figures import FigureKind, names_of
from nlobayes.stages.definitions import Place
from nlobayes.study.grids import RunSpec
from nlobayes.workflow.figures import (
    DATA,
    FIDELITY,
    LANDSCAPE_FIGURES,
    NUMBERS,
    PRIOR,
    PULLS,
    ROUNDS,
    SCANS,
    SETTINGS,
    figures_that_data_allow,
    task_of,
)
from nlobayes.workflow.inputs import Wildcards, metrics_of
from nlobayes.workflow.plan import MAPS_OF_PLANE, Paths, Plan

VerdictOf = Callable[[str], str]
"""Function from the dataset of a round to the path of its verdict, which exists."""


def verdict_path(dataset: str) -> str:
    """Return the path of the verdict on a round."""
    return Place.ROUND.format(dataset=dataset)


def outputs_of(
    plan: Plan, *grids: str, verdict_of: VerdictOf = verdict_path
) -> Callable[[Wildcards], Paths]:
    """Return a function that lists the final files of grids, for the input of a target."""

    def outputs(wildcards: Wildcards) -> Paths:
        return [path for grid in grids for path in grid_outputs(plan, grid, verdict_of)]

    return outputs


def grid_outputs(plan: Plan, grid: str, verdict_of: VerdictOf = verdict_path) -> Paths:
    """List the final files of a grid; of a program in rounds those of its last round."""
    outputs = plan.study.grids[grid].outputs
    if outputs == "speed":
        return [f"timings/speed/{grid}/{name}.svg" for name in names_of(FigureKind.SPEED)]
    runs = [*plan.study.runs(grid)]
    if outputs == "prior":
        models = dict.fromkeys(run.model_id for run in runs)
        return [f"results/figures/prior_predictive/{model}/{PRIOR}.svg" for model in models]
    last = {names: _last_round(names, verdict_of) for names in plan.rounds_of(grid)}
    earlier = {name for names in last for name in names} - {*last.values()}
    runs = [run for run in runs if run.names["dataset"] not in earlier]
    wanted = [f"results/figures/rounds/{name}/{ROUNDS}.svg" for name in last.values()]
    if grid not in plan.compared:  # a comparison needs the scores of its runs
        wanted += [path for run in runs for path in metrics_of(run)]
    if outputs == "figures":
        wanted += [path for run in runs for path in figures_of(run)]
    if outputs in ("figures", "surrogates"):
        wanted += [path for run in runs for path in surrogates_of(run)]
    others = (_comparison(plan, grid), _agreements(plan, grid), _fidelities(plan, grid))
    return [*wanted, *(path for paths in others for path in paths)]


def _last_round(names: Sequence[str], verdict_of: VerdictOf) -> str:
    """Name the first round that met its target, or else the last one."""
    for name in names:
        if json.loads(Path(verdict_of(name)).read_text())["met"]:
            return name
    return names[-1]


def figures_of(run: RunSpec) -> Paths:
    """List the figures of a run, of its MAPs and of its dataset."""
    surveyed = LANDSCAPE_FIGURES if _has_plane(run) else ()
    of_chains = () if run.method.approximate else names_of(FigureKind.CHAINS)
    of_sizes = names_of(FigureKind.DRAWN_SIZES) if run.network.varies else ()
    own = (*of_chains, *of_sizes, *figures_that_data_allow(run.dataset))
    return [
        f"results/figures/data/{run.names['dataset']}/{DATA}.svg",
        *(f"results/figures/{run.run_id}/{name}.svg" for name in own),
        *(f"results/figures/landscape/{run.model_id}/{name}.svg" for name in surveyed),
    ]


def _has_plane(run: RunSpec) -> bool:
    """Return whether the MAPs of a run span a plane: of weights, and in networks of equal size.

    Searches for the few scales of an infinite width end in one mode, and their MAPs are equal.
    """
    has_weights = run.network.width is None and not run.network.varies
    return len({*run.starts}) >= MAPS_OF_PLANE and has_weights


def surrogates_of(run: RunSpec) -> Paths:
    """List the surrogate of a run; empty if its method or its network has none."""
    own_code = run.network.codes  # which surrogates must not contain
    has_one = run.method.draws_networks and not own_code
    return [f"results/surrogates/{run.run_id}.nc"] if has_one else []


def _comparison(plan: Plan, grid: str) -> Paths:
    if grid not in plan.compared:
        return []
    several = len({run.setting for run in plan.compared[grid].runs}) > 1
    numbers = all(task_of(run.dataset) is NUMBERS for run in plan.study.runs(grid))
    of_settings = (*SETTINGS, *(PULLS if numbers else ())) if several else ()
    names = (*SCANS, *of_settings)
    return [f"results/figures/comparison/{grid}/{name}.svg" for name in names]


def _agreements(plan: Plan, grid: str) -> Paths:
    names = [name for name in plan.samplers if name.split("/")[0] == grid]
    return [f"results/metrics/agreement/{name}.json" for name in names]


def _fidelities(plan: Plan, grid: str) -> Paths:
    """List the figures that compare approximations with exact runs."""
    held = [name for name in plan.approximated if name.split("/")[0] == grid]
    return [f"timings/fidelity/{name}/{FIDELITY}.svg" for name in held]
