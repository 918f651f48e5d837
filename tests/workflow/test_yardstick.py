"""NUTS by `pm.sample` beside chains of our own: the same graph behind one job, the same files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from nlobayes import Surrogate
from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

MODEL = "tiny/n4/fan_in/tolerance_10/tiny"
RUN = f"{MODEL}/yardstick/s1"
STUDY = yaml.safe_load(Path(__file__).with_name("tiny.yaml").read_text())
YARDSTICK = {"kind": "pymc", "nuts_sampler": "numpyro", "chains": 2, "tune": 60, "draws": 60}
BESIDE = {
    "methods": {**STUDY["methods"], "yardstick": YARDSTICK},
    "grids": {"tiny": {**STUDY["grids"]["tiny"], "method": ["tiny", "yardstick"]}},
}


@pytest.fixture(scope="module")
def beside(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study and, from the same dataset, chains of NumPyro by PyMC."""
    project = tiny.copy_to(tmp_path_factory.mktemp("yardstick") / "project")
    project.configure(BESIDE)
    project.snakemake()
    return project


def test_one_job_makes_its_posterior_and_it_is_compared(tiny: Project) -> None:
    planned = tiny.planned(changes=BESIDE)
    assert (planned["sample"], planned["agree"], planned["tabulate_chains"]) == (1, 1, 1)
    assert not {"pretrain", "warmup", "draw", "assemble", "approximate"} & planned.keys()


def test_its_verdict_and_figures_are_those_of_chains(beside: Project) -> None:
    found = json.loads((beside.root / f"results/metrics/{RUN}/diagnostics.json").read_text())
    assert (found["exact"], found["chains"], found["draws_per_chain"]) == (True, 2, 60)
    assert found["converged"] is all(check["passed"] for check in found["checks"].values())
    ours, theirs = (
        {path.name for path in (beside.root / f"results/figures/{MODEL}/{name}/s1").iterdir()}
        for name in ("tiny", "yardstick")
    )
    assert ours == theirs
    assert not Surrogate.load(beside.root / f"results/surrogates/{RUN}.nc").approximate


def test_both_are_held_against_each_other(beside: Project) -> None:
    agreement = beside.root / f"results/metrics/agreement/tiny/{MODEL}/s1.json"
    (pair,) = json.loads(agreement.read_text())["pairs"]
    assert [Path(path).parts[-2] for path in pair["posteriors"]] == ["tiny", "yardstick"]
    assert pair["comparisons"] > 0
