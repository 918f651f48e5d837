"""Parameters of the rules: options of several files, folders of tables and figures."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nlobayes.code_digest import code_digest
from nlobayes.untyped import Document
from nlobayes.workflow.figures import VERDICTS_OF_RUN
from nlobayes.workflow.inputs import Wildcards
from nlobayes.workflow.plan import Paths, Plan

Files = Any
"""Snakemake's input or output files of a job: a list with names."""


def repeat_option(option: str, values: Iterable[object]) -> str:
    """Write an option once per value, quoted for the shell."""
    return " ".join(f"{option} {shlex.quote(str(value))}" for value in values)


def option_per_input(option: str, name: str) -> Callable[[Wildcards, Files], str]:
    """Return a function that writes an option once per input file of a name."""

    def spell(wildcards: Wildcards, input: Files) -> str:
        return repeat_option(option, getattr(input, name))

    return spell


def folder_of_inputs(wildcards: Wildcards, input: Files) -> str:
    """Return the folder of the first input file of a job."""
    return Path(input[0]).parent.as_posix()


def folder_of_outputs(wildcards: Wildcards, output: Files) -> str:
    """Return the folder of the first output file of a job."""
    return Path(output[0]).parent.as_posix()


def verdict_options(wildcards: Wildcards, input: Files) -> str:
    """Write the options for the verdicts on convergence and calibration beside the tables."""
    folder = Path(input[0]).parent
    options = VERDICTS_OF_RUN.items()
    return " ".join(repeat_option(option, [folder / f"{table}.csv"]) for option, table in options)


def tables(names: Iterable[str], folder: str = "results/plots/{run}") -> Paths:
    """List tables in a folder."""
    return [f"{folder}/{name}.csv" for name in names]


class Options:
    """Parameters of rules that depend on the plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def begin_warmup(self, wildcards: Wildcards, input: Files) -> str:
        """Write the options of a warm-up segment: MAPs and chains, or the previous segment."""
        if input.previous:
            return repeat_option("--previous", input.previous)
        chains = self._plan.runs[wildcards.run].chain_groups[int(wildcards.chain_group)]
        starts = zip(input.starts, chains, strict=True)
        return " ".join(f"--start {shlex.quote(str(s))} --chain {c}" for s, c in starts)

    def to_plot(self, kind: str, names: Iterable[str]) -> Document:
        """Return the parameters of a rule that draws figures of a run, a model or a grid."""
        fields_of_run = {"name": self.name_of_run, "verdict": verdict_options}
        fields_of_others = {"name": f"{kind} {{{kind}}}", "verdict": ""}
        return {
            "tables": folder_of_inputs,
            "folder": folder_of_outputs,
            **(fields_of_run if kind == "run" else fields_of_others),
            "names": repeat_option("--figure", names),
            "code": code_digest("plot", {}),
        }

    def name_of_run(self, wildcards: Wildcards) -> str:
        """Return the line below the figures of a run: the run and its target."""
        target = ", ".join(self._plan.runs[wildcards.run].dataset.target.columns)
        return f"run {wildcards.run}, target {target}"
