"""The workflow from another folder: as a module, and as snakedeploy deploys it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.installed import uv
from tests.workflow.test_rerun import JOBS

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow


TINY = Path(__file__).with_name("tiny.yaml")
DATASET = "results/data/tiny.nc"
SNAKEFILE = """
configfile: "config/config.yaml"

module nlobayes:
    snakefile: "{snakefile}"
    config: config

use rule * from nlobayes{renamed}
"""
OWN = """
import gc

rule own:
    output: "results/own.txt"
    shell: "echo $PATH > {output}"

onstart:
    print("collects garbage:", gc.isenabled())
"""
"""A rule of the workflow that imports ours; what is said of the process is said of all of it."""


@pytest.fixture
def deploy(pristine: Project, tmp_path: Path) -> Callable[..., Project]:
    """A folder with the tiny study and a Snakefile that imports the workflow of a clone."""

    def make(renamed: str = "", own: str = "") -> Project:
        root = tmp_path / "elsewhere"
        (root / "workflow").mkdir(parents=True)
        (root / "config").mkdir()
        shutil.copy(TINY, root / "config/config.yaml")
        said = SNAKEFILE.format(snakefile=pristine.root / "workflow/Snakefile", renamed=renamed)
        (root / "workflow/Snakefile").write_text(said + own)
        return type(pristine)(root, pristine.source)

    return make


def test_a_module_plans_what_the_workflow_plans(deploy: Callable[..., Project]) -> None:
    """Its presets are those of the package, for the folder has none."""
    assert deploy().jobs("snakemake", "--dry-run") == JOBS


def test_a_module_makes_the_same_bytes(deploy: Callable[..., Project], tiny: Project) -> None:
    """Up to the dataset, which names no path of the clone; the whole study by night."""
    module = deploy()
    module.run("snakemake", "--cores", "2", DATASET)
    assert module.digests()[DATASET] == tiny.digests()[DATASET]


@pytest.mark.slow
def test_a_module_runs_a_whole_study(deploy: Callable[..., Project], tiny: Project) -> None:
    module = deploy()
    module.run("snakemake", "--cores", "2")
    assert module.digests() == tiny.digests()
    module.run("snakemake", "--report", "report.html")
    assert (module.root / "report.html").stat().st_size > 0
    assert module.jobs("snakemake", "--dry-run") == {}


def test_a_module_leaves_rules_and_process_of_others_alone(deploy: Callable[..., Project]) -> None:
    """Neither their shell nor the collection of garbage; results of theirs stop nothing."""
    module = deploy(" as nlobayes_*", OWN)
    (module.root / "results").mkdir()
    (module.root / "results/theirs.txt").write_text("of another rule")
    done = module.run("snakemake", "--cores", "1", "results/own.txt")
    assert "collects garbage: True" in done.stdout + done.stderr
    path = (module.root / "results/own.txt").read_text().strip()
    assert path == module.environment()["PATH"]
    assert module.jobs("snakemake", "--dry-run", "nlobayes_tiny")["nlobayes_draw"] == 2


def test_a_study_that_is_refused_is_an_error_of_the_workflow_that_imports(
    deploy: Callable[..., Project],
) -> None:
    """No exit: Snakemake says it and ends as for any other fault."""
    module = deploy()
    study = module.root / "config/config.yaml"
    study.write_text(study.read_text().replace("[tiny]", "[tinny]"))
    done = module.run("snakemake", "--dry-run", status=1)
    said = done.stdout + done.stderr
    assert "WorkflowError" in said
    assert "nlobayes: error: " in said
    assert "tinny" in said


def deployed_by_snakedeploy(source: Path, folder: Path) -> None:
    """Write what `snakedeploy deploy-workflow` 0.17 does: copies, and a Snakefile with a module.

    Its Snakefile names the clone by what stands in the repository for GitHub; of a local clone it
    names `workflow/Snakefile` without its folder, which is mended here.
    """
    for name in ("config", "profiles"):
        shutil.copytree(source / name, folder / name)
    shutil.copy(source / "LICENSE", folder)
    (folder / "workflow").mkdir()
    said = SNAKEFILE.format(snakefile=source / "workflow/Snakefile", renamed="")
    lines = 'from snakemake.utils import min_version\n\nmin_version("6.10.0")\n'
    (folder / "workflow/Snakefile").write_text(lines + said)


def test_the_folder_that_snakedeploy_writes_plans_the_default_study(
    pristine: Project, tmp_path: Path
) -> None:
    deployed_by_snakedeploy(pristine.root, tmp_path)
    folder = type(pristine)(tmp_path, pristine.source)
    assert folder.jobs("snakemake", "--dry-run") == pristine.planned()


@pytest.mark.slow
def test_snakedeploy_writes_that_folder(pristine: Project, tmp_path: Path) -> None:
    """Of PyPI, from a clone on this machine; the path of its module is completed, as above."""
    snakedeploy = [uv(), "tool", "run", "--quiet", "--from", "snakedeploy==0.17.1", "snakedeploy"]
    if subprocess.run([*snakedeploy, "--help"], capture_output=True).returncode:
        pytest.skip("snakedeploy cannot be installed")
    by_hand, deployed = tmp_path / "by_hand", tmp_path / "deployed"
    by_hand.mkdir()
    deployed_by_snakedeploy(pristine.root, by_hand)
    words = ["deploy-workflow", str(pristine.root), str(deployed), "--branch", "main"]
    subprocess.run([*snakedeploy, *words, "--name", "nlobayes"], check=True, capture_output=True)
    files = [{p.relative_to(f) for p in f.rglob("*") if p.is_file()} for f in (by_hand, deployed)]
    assert files[0] == files[1]
    snakefile = deployed / "workflow/Snakefile"
    text = snakefile.read_text()
    assert text.count('"workflow/Snakefile"') == 1
    snakefile.write_text(text.replace("workflow/Snakefile", f"{pristine.root}/workflow/Snakefile"))
    folder = type(pristine)(deployed, pristine.source)
    assert folder.jobs("snakemake", "--dry-run") == pristine.planned()
