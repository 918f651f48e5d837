"""A run in one process and the workflow write the same bytes."""

import sys
from pathlib import Path

import pytest
import yaml

from nlobayes.fitting.studies import plan_of
from tests.unit.estimators.settings import CHAINS
from tests.workflow.conftest import ROOT, TINY, Project

pytestmark = pytest.mark.workflow

IN_ONE_PROCESS = """
import sys, yaml
from pathlib import Path
from nlobayes.fitting.one_run import OneRun
from nlobayes.workflow.plan import load_plan
study, root = map(Path, sys.argv[1:])
plan = load_plan(yaml.safe_load(study.read_text()))
(run,) = plan.study.runs("tiny")
rivals = {name: plan.study.rivals[name] for name in plan.rivals_of_runs[run.run_id]}
OneRun(rivals, run, root).make_surrogate()
"""
FIT = """
import sys, warnings, yaml, numpy as np
from nlobayes import BayesianNetworkRegressor
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
settings = yaml.safe_load(sys.argv[1])
fitted = BayesianNetworkRegressor(**settings).fit(X, X[:, 0] ** 2 + 0.1 * rng.normal(size=60))
fitted.to_surrogate("own.nc")
fitted.to_study(".")
"""


def test_the_tiny_study_has_the_same_bytes_without_snakemake(tiny: Project, tmp_path: Path) -> None:
    """In the environment of the workflow: BLAS of another processor type differs in last digits."""
    tiny.run(sys.executable, "-c", IN_ONE_PROCESS, TINY, tmp_path)
    made = {p.relative_to(tmp_path): p for p in (tmp_path / "results").rglob("*") if p.is_file()}
    kinds = {path.parts[1] for path in made}
    assert kinds >= {"data", "pretrain", "chains", "posterior", "predictions", "surrogates"}
    differ = [n for n, path in made.items() if path.read_bytes() != (tiny.root / n).read_bytes()]
    assert not differ


@pytest.mark.slow
def test_the_study_of_an_estimator_gives_its_bytes_by_snakemake(tmp_path: Path) -> None:
    """From its folder, called as its first lines say, with the workflow of this checkout."""
    folder = Project(tmp_path, ROOT / "src")
    folder.run(sys.executable, "-c", FIT, yaml.safe_dump({**CHAINS, "hidden": [4]}))
    text = (tmp_path / "study.yaml").read_text()
    (called,) = [line for line in text.splitlines() if line.startswith("#   snakemake ")]
    _, run = plan_of(yaml.safe_load(text))
    surrogate = f"results/surrogates/{run.run_id}.nc"
    words = called.removeprefix("#   ").replace("CHECKOUT", str(ROOT)).split()
    folder.run(*words, "--cores", "2", surrogate)
    assert (tmp_path / surrogate).read_bytes() == (tmp_path / "own.nc").read_bytes()
