"""Patterns of wildcards: regular expressions for the paths of a study."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nlobayes.settings.values import NAME
from nlobayes.study.grids import CROSSED
from nlobayes.workflow.figures import CLASSES, PRIOR, Task
from nlobayes.workflow.plan import Plan

NUMBER = r"\d+"
IN_ONE_JOB = ("approximate", "sample")
"""Stages that write a posterior in one job."""


def one_of(names: Iterable[str]) -> str:
    """Return the pattern of any of these literal names; without names it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def path_of(names: int) -> str:
    """Return the pattern of the path of any run: a number of names, and a seed."""
    return rf"({NAME.pattern}/){{{names}}}s\d+"


def wildcard_patterns(plan: Plan) -> dict[str, str]:
    """Return the pattern of every wildcard."""
    run, model = path_of(len(CROSSED)), path_of(len(CROSSED) - 1)
    numbers = dict.fromkeys(("chain", "chain_group", "chunk", "segment"), NUMBER)
    return {
        "dataset": one_of(plan.study.datasets),
        "run": run,
        "model": model,
        "grid": one_of(plan.study.grids),
        "rival": one_of(plan.study.rivals),
        "samplers": run,
        "approximated": run,
        **numbers,
    }


def runs_of_chains(plan: Plan) -> str:
    """Return the pattern of the runs whose method samples by chains."""
    return _runs_but(plan.approximate_methods)


def runs_in_segments(plan: Plan) -> str:
    """Return the pattern of the runs whose chains are drawn in segments, by several jobs."""
    return _runs_but(name for stage in IN_ONE_JOB for name in plan.methods_of(stage))


def runs_made_by(stage: str, plan: Plan) -> str:
    """Return the pattern of the runs whose posterior a stage writes in one job."""
    return rf"{path_before_method()}({one_of(plan.methods_of(stage))})/s\d+"


def _runs_but(methods: Iterable[str]) -> str:
    return rf"{path_before_method()}(?!({one_of(methods)})/){NAME.pattern}/s\d+"


def runs_of_drawn_sizes(plan: Plan) -> str:
    """Return the pattern of the runs whose network size is drawn."""
    before = CROSSED.index("network")
    after = len(CROSSED) - before - 1
    networks = one_of(plan.varying_networks)
    return rf"({NAME.pattern}/){{{before}}}({networks})/({NAME.pattern}/){{{after}}}s\d+"


def path_before_method() -> str:
    """Return the pattern of the names of a run before its method, which is the last name."""
    return rf"({NAME.pattern}/){{{len(CROSSED) - 1}}}"


def runs_of_known_scale(plan: Plan) -> str:
    """Return the pattern of the runs of datasets whose scale uncertainty is known."""
    known = [n for n, each in plan.study.datasets.items() if each.target.scale_variations]
    return f"({one_of(known)})/{path_of(len(CROSSED) - 1)}"


def runs_of(task: Task, plan: Plan) -> str:
    """Return the pattern of the runs of a task; all runs that are not of classes are of numbers."""
    classes = plan.datasets_of(CLASSES)
    if task is CLASSES:
        return f"({one_of(classes)})/{path_of(len(CROSSED) - 1)}"
    return f"(?!({one_of([PRIOR, *classes])})/){path_of(len(CROSSED))}"
