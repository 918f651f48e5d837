"""Short labels of runs: the grid, and the presets that distinguish its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nlobayes.study.grids import CROSSED, RunSpec
from nlobayes.study.study import Study, load_study, override, presets_here, reported_renamed_keys
from nlobayes.study.yaml_files import read_study

DEFAULT_STUDY = Path("config/config.yaml")


def read_whole_study(changes: Sequence[Path] = ()) -> Study:
    """Read the default study of the project, changed by other files in their order.

    Raises InputError if a file cannot be read or is not a study.
    """
    config = presets_here()
    for path in (DEFAULT_STUDY, *changes):
        config = override(config, read_study(path))
    with reported_renamed_keys():
        return load_study(config)


def labels(study: Study, grids: Iterable[str] | None = None) -> dict[str, str]:
    """Return the labels of the runs of `grids`, or of all grids, by path; targets come first.

    A label has the first grid with the run, the presets in which the runs of this grid differ, and
    the seed if there are several: `check hmc_check`.
    """
    return _labelled(study, grids, model=False)


def model_labels(study: Study) -> dict[str, str]:
    """Return the labels of sampled models by path, as `labels`: a run without its sampler."""
    return _labelled(study, None, model=True)


def shortened(paths: Iterable[str]) -> dict[str, str]:
    """Shorten paths of runs in no known grid to the dataset and the parts that differ."""
    parts = {path: path.split("/") for path in paths}
    columns = zip(*parts.values(), strict=False)
    kept = [place for place, found in enumerate(columns) if place == 0 or len({*found}) > 1]
    lengths = {len(path_parts) for path_parts in parts.values()}
    if len(lengths) > 1:
        return {path: path for path in parts}
    return {
        path: " ".join(path_parts[place] for place in kept) for path, path_parts in parts.items()
    }


def _labelled(study: Study, grids: Iterable[str] | None, *, model: bool) -> dict[str, str]:
    named: dict[str, str] = {}
    for grid in grids if grids is not None else dict.fromkeys([*study.targets, *study.grids]):
        for run, words in _parts([*study.runs(grid)], without={"method"} if model else set()):
            path = run.model_id if model else run.run_id
            named.setdefault(path, " ".join([grid, *words]))
    return named


def _parts(runs: Sequence[RunSpec], without: set[str]) -> Iterable[tuple[RunSpec, list[str]]]:
    """Yield each run of a grid with the parts that distinguish it from the others."""
    kinds = [k for k in CROSSED if k not in without and len({run.names[k] for run in runs}) > 1]
    seeded = len({run.seed for run in runs}) > 1
    for run in runs:
        yield run, [run.names[kind] for kind in kinds] + ([f"s{run.seed}"] if seeded else [])
