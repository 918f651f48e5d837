"""The tables of docs/stages.md; `python -m nlobayes.workflow.stage_table` prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from nlobayes.stages import PIPELINE, inputs_of
from nlobayes.stages.definitions import Stage

HEAD = """# Stages

The stages of the pipeline. `make schema` writes this page from `nlobayes.stages`.

- A rule, a command and a stage have the same name.
- There is one job for each value of the unit. If a model or a run has several chains, chain groups
  or segments, there is one job for each.
- Every stage with outputs below `results/` also writes a record of the text files and figures.
- MB is the memory of the program without data.
- Stages of a group share a job of a cluster.

| stage | what it does | unit | specification | MB | GPU | group |
|---|---|---|---|---|---|---|
"""
FILES = """
## Files

| stage | reads | writes |
|---|---|---|
"""


def as_markdown() -> str:
    """Return the page, with a row for every stage in each table."""
    stages = "".join(_row(name, stage) for name, stage in PIPELINE.items())
    files = (
        f"| `{name}` | {_paths(inputs_of(name))} | {_paths(stage.outputs)} |\n"
        for name, stage in PIPELINE.items()
    )
    return HEAD + stages + FILES + "".join(files)


def _row(name: str, stage: Stage) -> str:
    cells = [
        f"`{name}`",
        stage.help,
        stage.unit,
        f"`{stage.job}`" if stage.job else "",
        str(stage.base_mb or ""),
        "yes" if stage.on_gpu else "",
        stage.group or "",
    ]
    return f"| {' | '.join(cells)} |\n"


def _paths(patterns: Iterable[str]) -> str:
    return ", ".join(f"`{pattern}`" for pattern in patterns)


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
