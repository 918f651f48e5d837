"""Results that were damaged or removed: nobody computes with them, and they can be made again."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project
    from tests.workflow.faults.conftest import Verbs, Workbench

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
MODEL = "tiny/n4/fan_in/tolerance_10/tiny/s1"
POSTERIOR, SEGMENT = f"results/posterior/{RUN}.nc", f"results/chains/{RUN}/0/segment_0.nc"
DIAGNOSTICS, THINNED = f"results/metrics/{RUN}/diagnostics.json", f"results/thinned/{RUN}.nc"
INPUT = re.compile(r"--(?!out|table )(\w+) (results/\S+\.nc)")
READERS = (
    "check_convergence",
    "assemble",
    "diagnose",
    "thin",
    "evaluate",
    "export",
    "tabulate",
    "agree",
)
WITH_JAX = ("pretrain", "warmup", "draw", "posterior_predictive", "landscape", "prior_predictive")


def flip(path: Path, seed: str) -> None:
    """Change one bit somewhere."""
    rng, content = random.Random(seed), bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def cut(path: Path, seed: str) -> None:
    """Cut the end off somewhere."""
    content = path.read_bytes()
    path.write_bytes(content[: random.Random(seed).randrange(len(content))])


@pytest.mark.parametrize(
    "verb", [*READERS, *(pytest.param(verb, marks=pytest.mark.slow) for verb in WITH_JAX)]
)
@pytest.mark.by_day(2)
def test_a_verb_refuses_each_of_its_inputs_damaged(
    workbench: Workbench, verbs: Verbs, tmp_path: Path, verb: str
) -> None:
    project = workbench.copy_without_results_of(verb, tmp_path / "project")
    inputs = dict(INPUT.findall(workbench.commands[verb]))
    assert inputs
    for number, path in enumerate(inputs.values()):
        whole = (project.root / path).read_bytes()
        (flip, cut)[number % 2](project.root / path, verb)
        line = verbs.refuse(project, workbench.commands[verb])
        assert line.startswith(f"nlobayes: error: {path}: ")
        assert "delete it and call `snakemake " in line
        (project.root / path).write_bytes(whole)


@pytest.mark.parametrize(
    ("verb", "path"),
    [("prepare", "results/tables/tiny.parquet"), ("thin", DIAGNOSTICS), ("compare", DIAGNOSTICS)],
)
def test_tables_and_scores_cut_short_are_refused(
    workbench: Workbench, verbs: Verbs, tmp_path: Path, verb: str, path: str
) -> None:
    project = workbench.copy_without_results_of(verb, tmp_path / "project")
    cut(project.root / path, verb)
    assert path in verbs.refuse(project, workbench.commands[verb])


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("prepare", "results/tables/tiny.parquet"),
        ("assemble", SEGMENT),
        ("thin", POSTERIOR),
        ("compare", DIAGNOSTICS),
        ("plot", f"results/plots/{RUN}/loss.csv"),
    ],
)
def test_a_verb_names_an_input_that_is_gone(
    workbench: Workbench, verbs: Verbs, tmp_path: Path, verb: str, path: str
) -> None:
    project = workbench.copy_without_results_of(verb, tmp_path / "project")
    (project.root / path).unlink()
    line = verbs.refuse(project, workbench.commands[verb])
    assert Path(path).name in line
    assert Path(path).parent.as_posix() in line


@pytest.mark.slow
def test_a_damaged_posterior_stops_the_run_and_is_made_again_once_deleted(
    tiny: Project, tmp_path: Path
) -> None:
    """Snakemake sees other contents and begins what follows, which refuses."""
    project = tiny.copy_to(tmp_path / "project")
    flip(project.root / POSTERIOR, "posterior")
    before = project.digests()
    project.snakemake(DIAGNOSTICS, status=1)
    log = (project.root / f"logs/diagnose/{RUN}.log").read_text()
    assert log.startswith(f"nlobayes: error: {POSTERIOR}: ")
    assert "delete it and call `snakemake " in log
    assert DIAGNOSTICS not in project.digests()
    assert project.digests().items() <= before.items()
    (project.root / POSTERIOR).unlink()
    project.snakemake(DIAGNOSTICS)
    assert project.digests() == tiny.digests()
    assert project.planned() == {}


@pytest.mark.slow
def test_removed_intermediates_are_not_missed_and_made_again_by_name(
    tiny: Project, tmp_path: Path
) -> None:
    """One at a time, nothing else runs; in one call, what follows from them would run, too."""
    project = tiny.copy_to(tmp_path / "project")
    dear = [SEGMENT, f"results/pretrain/{MODEL}/0.nc"]
    cheap = {"results/data/tiny.nc": "prepare", POSTERIOR: "assemble", THINNED: "thin"}
    record = f"results/records/thin/{RUN}.json"
    for path in [*dear, *cheap, record]:
        (project.root / path).unlink()
    assert project.planned() == {}
    for path in dear:
        shutil.copy(tiny.root / path, project.root / path)
    for path, rule in cheap.items():
        assert project.built(path) == {rule: 1}
    assert project.digests() == tiny.digests()
    assert project.planned() == {}
