"""Choices of one run become the configuration of a study, as people write it in YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from nlobayes.errors import InputError
from nlobayes.study.grid import SECTIONS, load_study
from nlobayes.study.library import override, shipped_presets
from nlobayes.study.run import CROSSED, RunSpec
from nlobayes.study.values import NAME, TAKEN
from nlobayes.workflow.plan import Plan

GRID = "fit"
OWN = "own"
"""What a preset is called that no library has."""

Configuration = dict[str, Any]
Preset = str | Mapping[str, Any]
"""A preset: its name in the library, or its settings."""


class Choices(NamedTuple):
    """What a run is made of, each the name of a preset or its settings.

    `chains`, `until` and `noise` replace those of method and evaluation; `together` puts
    all chains into one job. Where there are fewer `train_rows` than a batch has, all are taken.
    """

    network: Preset
    prior: Preset = "fan_in"
    likelihood: Preset = "learned_above_10"
    pretraining: Preset = "adam"
    method: Preset = "hmc_table"
    chains: int | None = None
    until: Mapping[str, Any] | None = None
    noise: str = "auto"
    precision: Literal["float32", "float64"] = "float32"
    seed: int = 1
    together: bool = False
    train_rows: int | None = None


def configure(name: str, dataset: Mapping[str, Any], chosen: Choices) -> Configuration:
    """Write the study of one run: every preset that it needs, and the grid that names them.

    Raises
    ------
    InputError
        If a preset is named that is none.
    """
    library = shipped_presets()
    presets = {kind: _preset(kind, getattr(chosen, kind), library) for kind in CROSSED[1:]}
    changes: dict[str, Any] = {"chains": chosen.chains, "until": chosen.until}
    presets["method"] = _changed(presets["method"], changes)
    batch = presets["pretraining"][1].get("batch")
    if isinstance(batch, int) and chosen.train_rows is not None and batch > chosen.train_rows:
        presets["pretraining"] = _changed(presets["pretraining"], {"batch": "full"})
    named = {"dataset": (name, dict(dataset)), **presets}
    sections = {SECTIONS[kind]: {preset: settings} for kind, (preset, settings) in named.items()}
    judged = "default" if chosen.noise == "auto" else OWN
    noise = {} if chosen.noise == "auto" else {"noise": chosen.noise}
    return {
        **sections,
        "evaluation": {judged: override(library["evaluation"].get("default", {}), noise)},
        "grids": {GRID: {kind: preset for kind, (preset, _) in named.items()} | _judged_by(judged)},
        "targets": [GRID],
        "seeds": [chosen.seed],
        "precision": chosen.precision,
        "execution": {"chains_per_job": "all" if chosen.together else 1},
    }


def _judged_by(name: str) -> dict[str, str]:
    return {} if name == "default" else {"evaluation": name}


def _preset(kind: str, chosen: Preset, library: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if isinstance(chosen, Mapping):
        return OWN, _plain(chosen)
    known = library.get(SECTIONS[kind], {})
    if chosen not in known:
        raise InputError("study.unknown_preset", where=kind, name=chosen, known=sorted(known))
    return chosen, dict(known[chosen])


def _changed(
    preset: tuple[str, dict[str, Any]], changes: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Change settings of a preset, which is then no longer that of the library."""
    given = {key: _plain(value) for key, value in changes.items() if value is not None}
    return (OWN, override(preset[1], given)) if given else preset


def _plain(value: Any) -> Any:
    """Make of mappings and tuples what YAML writes."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def plan_of(configuration: Configuration) -> tuple[Plan, RunSpec]:
    """Validate the study of one run; errors as those of a configuration of the workflow."""
    plan = Plan(load_study(configuration))
    return plan, next(plan.study.runs(GRID))


def by_snakemake(study: Path) -> str:
    """Spell the command that runs a study from its folder, where the workflow is in a checkout."""
    return f"snakemake --snakefile CHECKOUT/Snakefile --configfile {study}"


def in_yaml(configuration: Configuration, comment: str) -> str:
    """Write a study as people read it, a comment first."""
    said = "".join(f"# {line}\n" for line in comment.splitlines())
    return said + yaml.safe_dump(configuration, sort_keys=False, default_flow_style=None, width=100)


def name_of_dataset(table: Path) -> str:
    """Name a dataset after its table, by the letters that such a name may have.

    Names of folders of results are taken; they get the ending `_table`.
    """
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", table.name.split(".")[0]).strip("_-")
    if stem.lower() in TAKEN["datasets"]:
        return f"{stem}_table"
    return stem if NAME.fullmatch(stem) else "table"
