"""A change runs again exactly what it could change, and nothing else."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import pytest
import yaml

from nlobayes.code_digest import CHOSEN_BY
from nlobayes.settings.values import Frozen
from nlobayes.study import jobs, jobs_of_runs
from nlobayes.study.sources.slha import SlhaSource
from nlobayes.study.sources.table import TableSource
from nlobayes.study.study import SECTIONS, Study
from tests.unit.worked_examples import files_of, write

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

# The jobs of the tiny study in the order of the pipeline.
JOBS = {
    "simulate": 1,
    "prepare": 1,
    "describe": 1,
    "plot_data": 1,
    "pretrain": 2,
    "warmup": 2,
    "draw": 2,
    "assemble": 1,
    "tabulate_chains": 1,
    "diagnose": 1,
    "thin": 1,
    "posterior_predictive": 1,
    "evaluate": 1,
    "export": 1,
    "tabulate": 1,
    "plot": 1,
    "plot_chains": 1,
    "all": 1,
}
STUDY = yaml.safe_load(Path(__file__).with_name("tiny.yaml").read_text())
OF_CLASSES = {("datasets", "*", "image")}
"""Keys that a study of numbers cannot have; tests/unit/study/test_jobs.py changes them."""
OF_TABLES = {("datasets", "*", "process")}
"""Keys that a simulated table cannot have, which states its process itself."""
OF_FILES = {("evaluation", "*", "scores", "*")}
"""Keys that name files of the user; test_own_functions.py changes them."""
PRESETS = {(section,) for section in (*SECTIONS.values(), "rivals", "grids")}
TOLD = {**vars(jobs), **vars(jobs_of_runs)}
JOBS_TOLD = [kind for name, kind in TOLD.items() if name.endswith("Job") and name != "Job"]
HEAVY = {"jax", "pymc", "pytensor", "blackjax", "optax", "arviz", "xarray", "matplotlib", "scipy"}
FOR_EXPORTS = {"prov", "rocrate"}


def since(rule: str) -> dict[str, int]:
    """Give the jobs of a rule and of all that follow it."""
    rules = list(JOBS)
    return {name: JOBS[name] for name in rules[rules.index(rule) :]}


def shown(**figures: Any) -> dict[str, Any]:
    """Choose what figures show."""
    return {"evaluation": {"default": {"figures": figures}}}


YEARS = (1, 2**31, 2**32 + 1)
"""Seconds of 1970, 2038 and 2106."""
OF_CHAINS = {"tabulate_chains": 1, "plot_chains": 1, "all": 1}
DRAWN = since("plot") | {"plot_data": 1}
"""All that draws figures."""


def renamed(kind: str, /, **preset: Any) -> dict[str, Any]:
    """Let the grid use the same preset, or another one, by another name."""
    section = SECTIONS[kind]
    content = preset or STUDY[section][STUDY["grids"]["tiny"][kind]]
    return {section: {"other": content}, "grids": {"tiny": {kind: "other"}}}


CASES: list[tuple[dict[str, Any], dict[str, int]]] = [
    ({"datasets": {"tiny": {"source": {"seed": 2}}}}, since("simulate")),
    ({"datasets": {"tiny": {"split": {"train": 151, "test": 74}}}}, since("prepare")),
    ({"datasets": {"tiny": {"reference_points": 21}}}, since("prepare")),
    ({"datasets": {"tiny": {"features": {"map": "raw"}}}}, since("prepare")),
    ({"datasets": {"tiny": {"groups": "m1"}}}, since("prepare")),
    ({"datasets": {"tiny": {"rows": {"column": "m1", "among": [1]}}}}, since("prepare")),
    ({"networks": {"n4": {"activation": "relu"}}}, since("pretrain")),
    ({"priors": {"fan_in": {"scale": 2.0}}}, since("pretrain")),
    ({"likelihoods": {"tolerance_10": {"sigma": 0.2}}}, since("pretrain")),
    ({"pretraining": {"tiny": {"epochs": 21}}}, since("pretrain")),
    ({"precision": "float64"}, since("pretrain")),
    ({"execution": {"shards": 2}}, since("pretrain")),
    ({"execution": {"chains_per_job": 2}}, since("warmup") | {"warmup": 1, "draw": 1}),
    ({"methods": {"tiny": {"kernel": {"integration_steps": 9}}}}, since("warmup")),
    ({"methods": {"tiny": {"warmup": {"steps": 61}}}}, since("warmup")),
    ({"methods": {"tiny": {"warmup": {"segments": 2}}}}, since("warmup") | {"warmup": 4}),
    ({"methods": {"tiny": {"draws_per_segment": 64}}}, since("draw")),
    ({"methods": {"tiny": {"thin": 5}}}, since("draw")),
    ({"evaluation": {"default": {"thresholds": {"ebfmi_min": 0.2}}}}, since("diagnose")),
    ({"evaluation": {"default": {"noise": "student_t"}}}, since("evaluate")),
    ({"evaluation": {"default": {"thinning_loss": 0.2}}}, since("diagnose")),
    ({"evaluation": {"default": {"combine": "stacking"}}}, since("evaluate")),
    ({"evaluation": {"default": {"export": {"draws": 9}}}}, {"export": 1, "all": 1}),
    ({"evaluation": {"default": {"calibration": {"chi2": 0.2}}}}, since("evaluate")),
    (shown(cases=[3]), since("tabulate")),
    (shown(marginals=["biases_1[0]"]), OF_CHAINS),
    (shown(weight_planes=[["biases_1[0]", "biases_1[1]"]]), OF_CHAINS),
    (
        {"methods": {"tiny": {"chains": 4, "chains_per_start": 2}}},
        since("assemble") | {"warmup": 3, "draw": 3},  # the first chain stays as it is
    ),
    ({"seeds": [2]}, since("pretrain")),
    ({"grids": {"tiny": {"rivals": "boosted_trees"}}}, {"rival": 1} | since("evaluate")),
    ({"networks": {"unused": {"hidden": [5]}}}, {}),
    ({"rivals": {"unused": {"kind": "boosted_trees"}}}, {}),
    ({"seeds": [1]}, {}),
    ({"execution": {"device": "cpu", "chains_per_job": 1, "shards": 1}}, {}),
    ({"methods": {"tiny": {"segments": 1, "kernel": {"jitter": 0.2}}}}, {}),
    ({"methods": {"tiny": {"until": {"ess_min": 9.0}}}}, {}),
    ({"datasets": {"tiny": {"target": {"unit": "fb"}}}}, since("prepare")),
    ({"execution": {"device": "gpu"}}, since("pretrain")),
    ({"execution": {"pretraining_device": "gpu"}}, since("pretrain")),
    ({"methods": {"tiny": {"segments": 2}}}, since("assemble") | {"draw": 2}),
    (
        {"methods": {"tiny": {"segments": 2, "until": {"rhat_max": 9.0}}}},
        since("assemble") | {"check_convergence": 1, "draw": 2},
    ),
    ({"methods": {"tiny": {"kind": "mcmc"}}}, {}),
    (renamed("dataset"), since("simulate")),
    (renamed("network"), since("pretrain")),
    (renamed("prior", kind="fan_in"), since("pretrain")),
    (renamed("likelihood", kind="gaussian", sigma=0.1), since("pretrain")),
    (renamed("pretraining"), since("pretrain")),
    (renamed("method"), since("warmup")),
    (renamed("evaluation", noise="student_t"), since("evaluate")),
    ({"grids": {"tiny": {"seed": 2}}}, since("pretrain")),
    ({"grids": {"tiny": {"outputs": "metrics"}}}, {}),
    (
        {"grids": {"other": {**STUDY["grids"]["tiny"], "seed": 2}}, "targets": ["other"]},
        since("pretrain"),
    ),
]


def test_finished_study_has_nothing_to_do(tiny: Project) -> None:
    """CPU seconds, so that other processes on the machine do not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert tiny.planned() == {}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 5


def test_planning_imports_neither_numerics_nor_artifacts(tiny: Project) -> None:
    timed = tiny.run("env", "PYTHONPROFILEIMPORTTIME=1", "snakemake", "--dry-run").stderr
    lines = [line for line in timed.splitlines() if line.startswith("import time:")]
    imported = {line.split("|")[-1].strip() for line in lines}
    assert {"nlobayes.study.study", "nlobayes.code_digest", "pydantic"} <= imported
    assert (HEAVY | FOR_EXPORTS) & {name.split(".")[0] for name in imported} == set()
    assert "nlobayes.artifacts" not in imported


def some_by_day(cases: Iterable[tuple[Any, dict[str, int]]]) -> Iterator[Any]:
    """All cases; not slow is the first with the same jobs, for every fourth list of jobs."""
    seen: list[dict[str, int]] = []
    for changed, expected in cases:
        by_day = expected not in seen and len(seen) % 4 == 0
        yield pytest.param(changed, expected, marks=() if by_day else pytest.mark.slow)
        seen += [expected] if expected not in seen else []


@pytest.mark.parametrize(("changes", "expected"), [*some_by_day(CASES)])
def test_changed_parameter(
    tiny: Project, changes: dict[str, Any], expected: dict[str, int]
) -> None:
    assert tiny.planned(changes=changes) == expected


def test_every_key_of_a_study_is_changed_by_some_case() -> None:
    """A new section, or a new key that is not within what a job is told whole, needs a case."""
    changed = {place for changes, _ in CASES for place in places(changes)}
    assert set(keys(Study)) - changed == OF_CLASSES | OF_TABLES | OF_FILES
    assert {("methods", "*", "until"), ("grids", "*", "outputs"), ("targets",)} <= {*keys(Study)}


def models_in(annotation: Any) -> list[type[Frozen]]:
    """Find the models that a type mentions."""
    if isinstance(annotation, type) and issubclass(annotation, Frozen):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def within(model: type[Frozen]) -> set[type[Frozen]]:
    """Find the models that a model is made of."""
    parts = {m for field in model.model_fields.values() for m in models_in(field.annotation)}
    return parts.union(*map(within, parts))


def keys(model: type[Frozen], place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """List the keys of a model, a preset's name as *, down to what a job is told whole."""
    told = set().union(*(within(job) for job in JOBS_TOLD))
    told |= {TableSource, SlhaSource}  # see test_jobs.py
    for name, field in model.model_fields.items():
        here = (*place, name, *(["*"] if get_origin(field.annotation) is dict else []))
        yield here
        for part in models_in(field.annotation):
            if part not in told:
                yield from keys(part, here)


def places(changes: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """List the keys that changes name, a preset's name as *."""
    yield place
    for name, value in changes.items() if isinstance(changes, dict) else []:
        yield from places(value, (*place, "*" if place in PRESETS else name))


def test_reordered_yaml_changes_nothing(tiny: Project, tmp_path: Path) -> None:
    project = tiny.copy_to(tmp_path / "project")
    changed = []
    for path in project.root.glob("config/**/*.yaml"):
        content = yaml.safe_load(path.read_text())
        path.write_text(yaml.safe_dump(backwards(content), sort_keys=False))
        changed.append(list(content) != list(yaml.safe_load(path.read_text())))
    assert any(changed)
    assert project.planned() == {}


def backwards(value: Any) -> Any:
    """Turn round the order of the keys of nested mappings."""
    if not isinstance(value, dict):
        return value
    return {key: backwards(value[key]) for key in reversed(value)}


CHANGED_CODE: list[tuple[str, dict[str, int]]] = [
    ("model/density.py", since("pretrain")),
    ("kernels/hmc.py", since("warmup")),
    ("kernels/nuts.py", {}),
    ("evaluation/scores/of_split.py", since("evaluate")),
    ("physics/mssm.py", since("simulate")),
    ("commands/pipeline/prepare.py", since("prepare")),
    ("inference/pretrain.py", since("pretrain")),
    ("inference/warmup.py", since("warmup")),
    ("inference/sampling.py", since("draw")),
    ("diagnostics/convergence.py", since("assemble")),
    ("commands/pipeline/thin.py", since("thin")),
    ("surrogate/prediction.py", since("posterior_predictive")),
    ("surrogate/domain.py", {"export": 1, "all": 1}),
    ("commands/pipeline/evaluate.py", since("evaluate")),
    ("diagnostics/thinning.py", since("assemble")),
    ("evaluation/calibration/conditional.py", since("evaluate")),
    ("diagnostics/tables.py", {"tabulate_chains": 1} | since("tabulate")),
    ("commands/pipeline/tabulate.py", since("tabulate")),
    ("evaluation/comparison/runs.py", {}),
    ("plots/style.py", DRAWN),
    ("plots/nlobayes.mplstyle", DRAWN),
    ("diagnostics/sampler_agreement.py", {}),
    ("commands/tools/summary.py", {}),
    ("study/study.py", {}),
    ("cli.py", {}),
    ("adaptations/windows.py", since("warmup")),
    ("priors/independent.py", since("pretrain")),
    ("priors/horseshoe.py", {}),
]


@pytest.mark.parametrize(("module", "expected"), [*some_by_day(CHANGED_CODE)])
def test_changed_code(tiny: Project, tmp_path: Path, module: str, expected: dict[str, int]) -> None:
    project = with_own_source(tiny, tmp_path)
    append(project, module, "\nCHANGED = 1\n" if module.endswith(".py") else "\n# changed\n")
    assert project.planned() == expected


def with_own_source(tiny: Project, folder: Path) -> Project:
    """The finished study, run by a copy of the source that may be changed."""
    project = type(tiny)(tiny.root, folder / "src")
    shutil.copytree(tiny.source, project.source)
    return project


def append(project: Project, module: str, text: str) -> None:
    """Write at the end of a file of the source, or a new one."""
    with (project.source / "nlobayes" / module).open("a") as file:
        file.write(text)


def test_words_and_new_members_of_families_plan_nothing(tiny: Project, tmp_path: Path) -> None:
    """In a copy of the code elsewhere: a comment and a docstring in each file; a new kernel, an
    adaptation, a prior, and so on."""
    project = with_own_source(tiny, tmp_path)
    for path in (project.source / "nlobayes").rglob("*.py"):
        path.write_text(path.read_text() + '\n# changed\n"""Changed."""\n')
    for family in CHOSEN_BY:
        folder = family.removeprefix("nlobayes.").replace(".", "/")
        members = sorted((project.source / "nlobayes" / folder).glob("[a-z]*.py"))
        copied = members[0].read_text()
        for kind in re.findall(r'kind: Literal\["(\w+)"\]', copied):
            copied = copied.replace(f'Literal["{kind}"]', f'Literal["new_{kind}"]')
        append(project, f"{folder}/new.py", copied)
    assert project.planned() == {}


def test_a_new_score_plans_evaluate_and_what_follows_and_figures_alone(
    tiny: Project, tmp_path: Path
) -> None:
    project = with_own_source(tiny, tmp_path)
    write(files_of("Add a score"), project.source.parent)
    assert project.planned() == since("evaluate") | DRAWN


def test_changed_rule(tiny: Project, tmp_path: Path) -> None:
    project = tiny.copy_to(tmp_path / "project")
    rules = project.root / "workflow/rules/report.smk"
    before = rules.read_text()
    rules.write_text(before.replace('"nlobayes plot ', '"nlobayes  plot '))
    assert rules.read_text() != before
    assert project.planned() == DRAWN


def test_touching_changes_nothing(tiny: Project, tmp_path: Path) -> None:
    """Times in an order that no run could have left: every file older than its inputs."""
    project = tiny.copy_to(tmp_path / "project")
    for age, path in enumerate(sorted(project.root.rglob("*"), reverse=True)):
        os.utime(path, times=(1e9 + age, 1e9 + age))
    assert project.planned() == {}


def test_files_of_other_times_are_neither_stale_nor_fresh(tiny: Project, tmp_path: Path) -> None:
    project, rng = tiny.copy_to(tmp_path / "project"), random.Random(3)
    for path in sorted(project.root.glob("results/**/*")):
        when = rng.choice(YEARS)
        os.utime(path, times=(when, when))
    changes = {"evaluation": {"default": {"noise": "student_t"}}}
    assert project.planned(changes=changes) == since("evaluate")
