"""Settings and replicates by which the runs of a grid are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.settings.values import Frozen
from nlobayes.study.grids import CROSSED, RunSpec
from nlobayes.study.study import Study
from nlobayes.untyped import Document, Facts

REPLICATE_SEEDS = {"split": "dataset.split.seed", "source": "dataset.source.seed"}
"""Seeds of a dataset that distinguish replicates of a setting, as the seed of a run does."""

Values = dict[str, float | str]
Sections = dict[str, Values]
"""Content of the presets of one kind, by name."""


class ComparedRun(Frozen):
    """One run, with its setting and its replicate."""

    run: str
    """Path of the run."""
    setting: str
    """Names of the presets that differ between settings."""
    replicate: str
    """Seeds; runs of two settings with equal seeds are paired."""
    values: Values
    """Differences between settings: preset name by kind, and value by dotted key if there is
    one."""


class CompareJob(Frozen):
    """The runs of one comparison; the setting of the first run is the reference."""

    runs: Annotated[tuple[ComparedRun, ...], Field(min_length=1)]


def compare_job(study: Study, grid: str) -> CompareJob:
    """Build the job of `compare` with the settings and the replicates of a grid.

    Runs that differ only in their seed, or in the seeds of the split or of the source, are
    replicates of one setting.

    Raises InputError if two runs differ only in the names of their presets, or learn different
    targets.
    """
    runs = list(study.runs(grid))
    _check_one_target(grid, runs)
    sections = {kind: _flat_sections(runs, kind) for kind in CROSSED}
    seeds = {
        dataset: {label: content.pop(key, None) for label, key in REPLICATE_SEEDS.items()}
        for dataset, content in sections["dataset"].items()
    }
    names = _setting_names(sections)
    compared = [
        ComparedRun(run=run.run_id, setting=setting, replicate=replicate, values=values)
        for run, setting, replicate, values in zip(
            runs,
            _labels(runs, names),
            _replicates(runs, seeds),
            _values(runs, names, sections),
            strict=True,
        )
    ]
    _check_different(grid, compared)
    return CompareJob(runs=tuple(compared))


def _check_one_target(grid: str, runs: Sequence[RunSpec]) -> None:
    datasets = {run.names["dataset"]: run.dataset.target for run in runs}
    (first, learned), *others = datasets.items()
    for name, target in others:
        if (target.columns, target.unit, target.scale) != (
            *(learned.columns, learned.unit, learned.scale),
        ):
            place = f"grids.{grid}"
            raise InputError("study.different_targets", where=place, first=first, second=name)


def scanned(job: CompareJob) -> tuple[str | None, str | None]:
    """Choose the axis of the scores, which is a scanned number, and the key of the series.

    Returns
    -------
    along
        First key with a number in every run that takes several values while each key with a text is
        constant; None if there is none.
    series
        First other kind of preset, or other key with a text, that differs; None if there is none.
    """
    values = [run.values for run in job.runs]
    keys = _keys(values)
    texts = [key for key in keys if all(isinstance(found.get(key), str) for found in values)]
    numbers = [key for key in keys if all(isinstance(found.get(key), float) for found in values)]
    for along in numbers:
        others = [key for key in texts if key != along.split(".")[0]]
        if all(_is_scanned_within(other, along, values) for other in others):
            return along, next(iter(others), None)
    return None, None


def varied(job: CompareJob) -> str:
    """Name the kinds of presets that differ between the settings, as in `network, sampler`."""
    return ", ".join(key for key in _keys([run.values for run in job.runs]) if "." not in key)


def _is_scanned_within(series: str, along: str, values: Sequence[Values]) -> bool:
    taken: dict[Any, set[Any]] = {}
    for found in values:
        taken.setdefault(found[series], set()).add(found[along])
    return any(len(numbers) > 1 for numbers in taken.values())


def _setting_names(sections: Mapping[str, Sections]) -> dict[str, dict[str, str]]:
    """Map each preset to the first of equal content, for the kinds whose contents differ."""
    named: dict[str, dict[str, str]] = {}
    for kind, contents in sections.items():
        first: dict[tuple[Any, ...], str] = {}
        named[kind] = {
            name: first.setdefault(tuple(content.items()), name)
            for name, content in contents.items()
        }
    differing = {kind: names for kind, names in named.items() if len({*names.values()}) > 1}
    return differing or {"method": named["method"]}


def _labels(runs: Sequence[RunSpec], names: Mapping[str, Mapping[str, str]]) -> list[str]:
    return ["/".join(named[run.names[kind]] for kind, named in names.items()) for run in runs]


def _replicates(runs: Sequence[RunSpec], seeds: Mapping[str, Document]) -> list[str]:
    varied = [
        label
        for label in REPLICATE_SEEDS
        if len({given[label] for given in seeds.values()} - {None}) > 1
    ]
    of_dataset = {
        dataset: [f"{label}{given[label]:.0f}" for label in varied if given[label] is not None]
        for dataset, given in seeds.items()
    }
    return ["-".join([f"s{run.seed}", *of_dataset[run.names["dataset"]]]) for run in runs]


def _values(
    runs: Sequence[RunSpec],
    names: Mapping[str, Mapping[str, str]],
    sections: Mapping[str, Sections],
) -> list[Values]:
    parts = {kind: _differing(kind, named, sections[kind]) for kind, named in names.items()}
    return [
        {key: value for kind in parts for key, value in parts[kind][run.names[kind]].items()}
        for run in runs
    ]


def _differing(kind: str, named: Mapping[str, str], contents: Sections) -> Sections:
    """Keep the name of each preset and the values that are not the same in all."""
    found = [*contents.values()]
    keys = [key for key in _keys(found) if len({content.get(key) for content in found}) > 1]
    names: dict[str, Values] = {name: {kind: named[name]} if keys else {} for name in contents}
    return {
        name: names[name] | {key: content[key] for key in keys if key in content}
        for name, content in contents.items()
    }


def _keys(values: Sequence[Values]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(values)))


def _flat_sections(runs: Sequence[RunSpec], kind: str) -> Sections:
    """Flatten each preset of a kind once, for all runs that use it."""
    presets = {run.names[kind]: getattr(run, kind) for run in runs}
    return {name: _flat_section(preset, kind) for name, preset in presets.items()}


def _flat_section(preset: Frozen, kind: str) -> Values:
    content = preset.model_dump()
    if kind == "network":
        content = _shape(content.pop("hidden")) | content
    return _flatten(content, kind)


def _shape(hidden: tuple[int, ...]) -> Document:
    """Return width and depth if all hidden layers are equal, else depth and all widths."""
    if not hidden:
        return {"depth": 0}
    widths = {"width": hidden[0]} if len(set(hidden)) == 1 else {"hidden": hidden}
    return {**widths, "depth": len(hidden)}


def _flatten(content: Facts, prefix: str) -> Values:
    flat: Values = {}
    for name, value in content.items():
        key = f"{prefix}.{name}"
        if isinstance(value, Mapping):
            flat |= _flatten(value, key)
        elif value is not None:
            flat[key] = _number_or_text(value)
    return flat


def _number_or_text(value: Any) -> float | str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else float(value)


def _check_different(grid: str, compared: Sequence[ComparedRun]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for run in compared:
        twin = seen.setdefault((run.setting, run.replicate), run.run)
        if twin != run.run:
            place = f"grids.{grid}"
            raise InputError("study.equal_runs", where=place, first=twin, second=run.run)
