"""A study: presets that are read, and crossed by name into runs with a specification each."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ValidationError, model_validator

from nlobayes.errors import InputError, one_line
from nlobayes.likelihoods import Likelihood
from nlobayes.methods import Method
from nlobayes.priors import Prior
from nlobayes.rivals import Rival
from nlobayes.settings.user_files import Code
from nlobayes.settings.values import Frozen, Names, Seeds, check_names
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.evaluation import Evaluation
from nlobayes.study.grids import CROSSED, Execution, Grid, RunSpec
from nlobayes.study.network import Network
from nlobayes.study.pretraining import Pretraining
from nlobayes.study.refusal import refusal
from nlobayes.study.run_checks import check_grid, check_run
from nlobayes.study.sources.program import ProgramSource
from nlobayes.study.yaml_files import parse_yaml, read_yaml
from nlobayes.untyped import Document, Facts

PRESETS = Path("config/presets")
"""Library of the current project."""
PACKAGE = Path(__file__).parents[1]
SHIPPED = (PACKAGE / "presets", PACKAGE.parents[1] / PRESETS)
"""Places of the library that comes with the package: in a wheel, in a checkout."""


def shipped_presets() -> Document:
    """Read the library that comes with the package; errors as below."""
    return read_presets(next(filter(Path.is_dir, SHIPPED), SHIPPED[-1]))


def presets_here() -> Document:
    """Read the library of the current project, or the shipped one if there is none."""
    return read_presets(PRESETS) if PRESETS.is_dir() else shipped_presets()


def read_presets(folder: Path) -> Document:
    """Read and merge every YAML file of a folder, in the order of their names.

    Raises InputError if the folder holds no presets or a file is not YAML.
    """
    merged: Document = {}
    for path in sorted(folder.glob("*.yaml")):
        merged = override(merged, read_yaml(path))
    if not merged:
        raise InputError("study.no_presets", where=folder)
    return merged


def preset_of(section: str, name_or_yaml: str) -> Document:
    """Return one preset, by its name in the library or from YAML text.

    Raises InputError if there is no preset of this name.
    """
    if name_or_yaml.lstrip().startswith("{"):
        return parse_yaml(name_or_yaml, "YAML text of a preset")
    known = read_presets(PRESETS).get(section, {})
    if name_or_yaml not in known:
        raise InputError(
            "study.unknown_preset", where=section, name=name_or_yaml, known=sorted(known)
        )
    return dict(known[name_or_yaml])


def override(base: Facts, changes: Facts) -> Document:
    """Override a nested mapping key by key; anything that is not a mapping is replaced."""
    result = dict(base)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(base.get(key), Mapping)
        result[key] = override(base[key], value) if both else value
    return result


SECTIONS = {
    "dataset": "datasets",
    "network": "networks",
    "prior": "priors",
    "likelihood": "likelihoods",
    "pretraining": "pretraining",
    "method": "methods",
    "evaluation": "evaluation",
}
MOST_RUNS = 100_000
"""Most runs of the grids of a study."""
MOST_CHAIN_JOBS = 100_000
"""Most jobs of a grid that warm chains up or draw."""


class Study(Frozen):
    """Named presets of every kind, the grids that cross them, and the grids to build."""

    datasets: dict[str, DatasetPreset] = {}
    """Tables, and how they are split and transformed."""
    networks: dict[str, Network] = {}
    """Shapes of networks."""
    priors: dict[str, Prior] = {}
    """Priors of the weights."""
    likelihoods: dict[str, Likelihood] = {}
    """Likelihoods and their tolerance or noise."""
    pretraining: dict[str, Pretraining] = {}
    """Settings of the MAP fits."""
    RENAMED: ClassVar[Mapping[str, str]] = {"samplers": "methods"}

    methods: dict[str, Method] = {}
    """Methods: chains with their kernel, warm-up and draws, or an approximation."""
    evaluation: dict[str, Evaluation] = {}
    """Settings of scores and checks."""
    rivals: dict[str, Rival] = {}
    """Regressors to compare runs with: Gaussian processes, boosted trees, plain networks."""
    grids: dict[str, Grid]
    """Presets to cross; each grid is a target of its own name."""
    targets: Names
    """Grids that are built by default."""
    seeds: Seeds = (1,)
    """Seeds of the runs of every grid that names none."""
    precision: Literal["float32", "float64"] = "float32"
    """Precision of density and sampler."""
    execution: Execution = Execution()
    """Device, and how chains share jobs; belongs in a profile."""

    @model_validator(mode="after")
    def _has_rounds(self) -> Study:
        """Add a dataset for each further round of a program; grids of the first have all."""
        for first, names in self.rounds.items():
            if taken := [name for name in names[1:] if name in self.datasets]:
                raise InputError(
                    "study.round_is_taken", where="datasets", first=first, name=taken[0]
                )
            for number, name in enumerate(names[1:], 1):
                dataset, source = self.datasets[first], self.program(first)
                changed = {"source": source.in_round(number)}
                self.datasets[name] = dataset.model_copy(update=changed)
            for grid_name, grid in self.grids.items():
                if first in grid.dataset:
                    each = (names if name == first else (name,) for name in grid.dataset)
                    whole = {"dataset": tuple(name for group in each for name in group)}
                    self.grids[grid_name] = grid.model_copy(update=whole)
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> Study:
        for section in (*SECTIONS.values(), "rivals", "grids"):
            check_names(section, getattr(self, section))
        for grid_name, grid in self.grids.items():
            for kind, section in SECTIONS.items():
                names = getattr(grid, kind)
                for name in [names] if isinstance(names, str) else names:
                    _known(f"grids.{grid_name}.{kind}", name, getattr(self, section))
            for name in grid.rivals:
                _known(f"grids.{grid_name}.rivals", name, self.rivals)
        for target in self.targets:
            _known("targets", target, self.grids)
        return self

    @model_validator(mode="after")
    def _can_be_planned(self) -> Study:
        runs = sum(self._count(grid) for grid in self.grids.values())
        if runs > MOST_RUNS:
            raise InputError("study.too_many_runs", where="grids", runs=runs, most=MOST_RUNS)
        for name in self.grids:
            jobs = sum(len(run.chain_groups) * run.method.jobs_in_a_row for run in self.runs(name))
            if jobs > MOST_CHAIN_JOBS:
                place = f"grids.{name}"
                raise InputError(
                    "study.too_many_jobs", where=place, jobs=jobs, most=MOST_CHAIN_JOBS
                )
        return self

    def _count(self, grid: Grid) -> int:
        seeds = grid.seed if grid.seed is not None else self.seeds
        return prod(len(getattr(grid, kind)) for kind in CROSSED) * len(seeds)

    @model_validator(mode="after")
    def _rounds_have_one_run(self) -> Study:
        of_grids = [(grid, run) for grid in self.grids for run in self.runs(grid)]
        for first in self.rounds:
            found = {run.run_id: run for _, run in of_grids if run.names["dataset"] == first}
            place = f"datasets.{first}.source.rounds"
            if len(found) > 1:
                raise InputError("study.rounds_of_runs", where=place, runs=[*found])
            for name, run in found.items():
                has_surrogate = run.method.draws_networks and not run.network.codes
                if not has_surrogate or run.dataset.target.scale == "classes":
                    raise InputError("study.rounds_without_surrogate", where=place, run=name)
        return self

    @model_validator(mode="after")
    def _runs_agree(self) -> Study:
        seen: dict[str, str] = {}
        for grid in self.grids:
            for run in self.runs(grid):
                self._check(grid, run)
                before = seen.setdefault(run.run_id, run.names["evaluation"])
                if before != run.names["evaluation"]:
                    place = f"grids.{grid}.evaluation"
                    raise InputError(
                        "study.two_evaluations", where=place, run=run.run_id, first=before
                    )
        return self

    def _check(self, grid: str, run: RunSpec) -> None:
        try:
            check_run(run)
            check_grid(self.grids[grid], run)
        except InputError as error:
            raise error.within(f"grids.{grid}") from None

    def program(self, dataset: str) -> ProgramSource:
        """Return the source of a dataset that is a program."""
        source = self.datasets[dataset].source
        assert isinstance(source, ProgramSource), source.kind
        return source

    @property
    def rounds(self) -> dict[str, tuple[str, ...]]:
        """Names of the datasets of all rounds of a program, by that of the first."""
        return {
            name: dataset.source.rounds.names(name)
            for name, dataset in self.datasets.items()
            if isinstance(dataset.source, ProgramSource)
            and dataset.source.rounds
            and not dataset.source.round
        }

    @property
    def codes(self) -> list[Code]:
        """Functions of the user that its presets name."""
        sections = (self.networks, self.priors, self.likelihoods, self.evaluation)
        presets = [one for section in sections for one in section.values()]
        return [code for one in presets for code in one.codes.values()]

    def runs(self, grid_name: str) -> Iterator[RunSpec]:
        """Iterate over the runs of one grid."""
        return iter(self._crossed[grid_name])

    @cached_property
    def _crossed(self) -> dict[str, list[RunSpec]]:
        return {name: [*self._cross(grid)] for name, grid in self.grids.items()}

    def _cross(self, grid: Grid) -> Iterator[RunSpec]:
        """Cross the presets of one grid into its runs."""
        seeds = grid.seed if grid.seed is not None else self.seeds
        for *crossed, seed in product(*(getattr(grid, kind) for kind in CROSSED), seeds):
            names = dict(zip(CROSSED, crossed, strict=True)) | {"evaluation": grid.evaluation}
            presets = {kind: getattr(self, SECTIONS[kind])[name] for kind, name in names.items()}
            yield RunSpec(
                names=names,
                seed=seed,
                precision=self.precision,
                execution=self.execution,
                **presets,
            )


def load_study(config: Facts) -> Study:
    """Validate a configuration.

    Raises InputError if a key, a name or a value is not allowed; the message names its path.
    """
    try:
        return Study.model_validate(config)
    except ValidationError as error:
        raise refusal(error, "configuration") from None


def _known(place: str, name: str, section: Facts) -> None:
    if name not in section:
        raise InputError("study.unknown_name", where=place, name=name, known=sorted(section))


@contextmanager
def reported_renamed_keys(where: str = "config") -> Iterator[None]:
    """Write one line to standard error for each renamed key, instead of Python's warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FutureWarning)
        yield
    renamed_keys = [warning for warning in caught if issubclass(warning.category, FutureWarning)]
    for text in dict.fromkeys(str(warning.message) for warning in renamed_keys):
        sys.stderr.write(f"nlobayes: warning: {where}: {one_line(text)}\n")
    for warning in caught:
        if warning not in renamed_keys:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
