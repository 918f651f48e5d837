"""A run in this process and the workflow write the same bytes."""

from pathlib import Path

import pytest
import yaml

from nlobayes.fitting.jobs import Jobs
from nlobayes.fitting.running import run_waves
from nlobayes.workflow.plan import load_plan
from tests.workflow.conftest import TINY, Project

pytestmark = pytest.mark.workflow


def test_the_tiny_study_has_the_same_bytes_without_snakemake(tiny: Project, tmp_path: Path) -> None:
    plan = load_plan(yaml.safe_load(TINY.read_text()))
    (run,) = plan.study.runs("tiny")
    run_waves(Jobs(plan, run, tmp_path).waves(), tmp_path, run.precision, shown=False)
    made = {p.relative_to(tmp_path): p for p in (tmp_path / "results").rglob("*") if p.is_file()}
    kinds = {path.parts[1] for path in made}
    assert kinds >= {"data", "pretrain", "chains", "posterior", "predictions", "surrogates"}
    differ = [n for n, path in made.items() if path.read_bytes() != (tiny.root / n).read_bytes()]
    assert not differ
