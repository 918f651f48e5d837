"""Conversion of the choices of one run to the configuration of a study, as users write in YAML."""

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
"""Name of a preset that is not in the library."""
AUTO, LEARNED = "auto", "learned_above_10"
TIGHTNESS, LEAST_SIGMA = 1.25e5, 0.03
"""Limits within which chains of `hmc_table` agree without noise: train rows / sigma², and sigma."""

Configuration = dict[str, Any]
Preset = str | Mapping[str, Any]
"""A preset: its name in the library, or its settings."""


class Choices(NamedTuple):
    """Settings of a run; each preset is given by its name or its settings.

    `chains` and `until` replace those of the method, and `noise` that of the evaluation. `together`
    runs all chains in one job. If `train_rows` is below the batch size, the batch has all rows. The
    likelihood `auto` learns sigma above `floor_of` the train rows, and above 0.1 with several
    hidden layers, whose chains mix more slowly.
    """

    network: Preset
    prior: Preset = "fan_in"
    likelihood: Preset = AUTO
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
    """Make the study of one run: its presets, and a grid that names them.

    Raises
    ------
    InputError
        If a name belongs to no preset.
    """
    library = shipped_presets()
    if chosen.likelihood == AUTO:
        chosen = chosen._replace(likelihood=_learned(library, chosen))
    presets = {kind: _preset(kind, getattr(chosen, kind), library) for kind in CROSSED[1:]}
    changes: dict[str, Any] = {"chains": chosen.chains, "until": chosen.until}
    presets["method"] = _changed(presets["method"], changes)
    batch = presets["pretraining"][1].get("batch")
    if isinstance(batch, int) and chosen.train_rows is not None and batch > chosen.train_rows:
        presets["pretraining"] = _changed(presets["pretraining"], {"batch": "full"})
    named = {"dataset": (name, dict(dataset)), **presets}
    sections = {SECTIONS[kind]: {preset: settings} for kind, (preset, settings) in named.items()}
    evaluation = "default" if chosen.noise == "auto" else OWN
    noise = {} if chosen.noise == "auto" else {"noise": chosen.noise}
    grid = {kind: preset for kind, (preset, _) in named.items()} | _evaluated_by(evaluation)
    return {
        **sections,
        "evaluation": {evaluation: override(library["evaluation"].get("default", {}), noise)},
        "grids": {GRID: grid},
        "targets": [GRID],
        "seeds": [chosen.seed],
        "precision": chosen.precision,
        "execution": {"chains_per_job": "all" if chosen.together else 1},
    }


def floor_of(train_rows: int, most: float) -> float:
    """Compute the least sigma with which chains agree, in units of the target's sd.

    On targets without noise a learned sigma falls to it. Few rows allow a smaller one, because
    chains agree up to a `TIGHTNESS`. It lies between `LEAST_SIGMA` and `most`.
    """
    return min(most, max(LEAST_SIGMA, round((train_rows / TIGHTNESS) ** 0.5, 3)))


def _learned(library: Mapping[str, Any], chosen: Choices) -> Preset:
    """Choose the preset that learns sigma; few rows and one hidden layer allow a smaller floor."""
    settings = library[SECTIONS["likelihood"]][LEARNED]
    _, network = _preset("network", chosen.network, library)
    if chosen.train_rows is None or len(network.get("hidden", ())) != 1:
        return LEARNED
    floor = floor_of(chosen.train_rows, settings["floor"])
    return LEARNED if floor == settings["floor"] else {**settings, "floor": floor}


def _evaluated_by(name: str) -> dict[str, str]:
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
    """Change settings of a preset, which then has the name `own`."""
    given = {key: _plain(value) for key, value in changes.items() if value is not None}
    return (OWN, override(preset[1], given)) if given else preset


def _plain(value: Any) -> Any:
    """Convert mappings and tuples to dictionaries and lists, which YAML can write."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def plan_of(configuration: Configuration) -> tuple[Plan, RunSpec]:
    """Validate the study of one run, with the same errors as a configuration of the workflow."""
    plan = Plan(load_study(configuration))
    return plan, next(plan.study.runs(GRID))


def by_snakemake(study: Path) -> str:
    """Return the command that runs a study from its folder with the workflow of a checkout."""
    return f"snakemake --snakefile CHECKOUT/Snakefile --configfile {study}"


def in_yaml(configuration: Configuration, comment: str) -> str:
    """Write a study as readable YAML, after a comment."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + yaml.safe_dump(configuration, sort_keys=False, default_flow_style=None, width=100)


def name_of_dataset(table: Path) -> str:
    """Name a dataset after its table, with the characters that such a name may have.

    A name that is also the name of a folder of results gets the ending `_table`.
    """
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", table.name.split(".")[0]).strip("_-")
    if stem.lower() in TAKEN["datasets"]:
        return f"{stem}_table"
    return stem if NAME.fullmatch(stem) else "table"
