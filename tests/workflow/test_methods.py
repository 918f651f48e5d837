"""A method that has no chains beside one that has: the same graph, with a verdict of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from nlobayes import Surrogate
from nlobayes.artifacts.files import read_csv
from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

MODEL = "tiny/n4/fan_in/tolerance_10/tiny"
RUN = f"{MODEL}/maps/s1"
STUDY = yaml.safe_load(Path(__file__).with_name("tiny.yaml").read_text())
TWO_METHODS = {
    "methods": {**STUDY["methods"], "maps": {"kind": "map_ensemble", "members": 2}},
    "grids": {"tiny": {**STUDY["grids"]["tiny"], "method": ["tiny", "maps"]}},
}
HELD = f"fidelity/tiny/{MODEL}/s1"
OF_ITS_OWN = ("diagnose", "thin", "posterior_predictive", "evaluate", "export", "tabulate", "plot")


@pytest.fixture(scope="module")
def beside(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study and, from the same MAPs, their ensemble; what was there stays as it was."""
    project = tiny.copy_to(tmp_path_factory.mktemp("methods") / "project")
    before = project.times()
    project.configure(TWO_METHODS)
    project.snakemake()
    assert {path: project.times()[path] for path in before} == before
    return project


def test_an_ensemble_shares_the_maps_and_has_no_jobs_of_chains(tiny: Project) -> None:
    planned = tiny.planned(changes=TWO_METHODS)
    compared = {"compare": 1, "plot_scan": 1, "plot_differences": 1, "plot_pulls_by_setting": 1}
    compared |= {"fidelity": 1, "plot_fidelity": 1}
    assert planned == {"approximate": 1, **dict.fromkeys(OF_ITS_OWN, 1), **compared, "all": 1}


def test_its_verdict_is_that_convergence_does_not_apply(beside: Project) -> None:
    found = json.loads((beside.root / f"results/metrics/{RUN}/diagnostics.json").read_text())
    assert (found["converged"], found["checks"], found["exact"]) == (None, {}, False)
    surrogate = Surrogate.load(beside.root / f"results/surrogates/{RUN}.nc")
    assert surrogate.approximate
    assert surrogate.draws == 2


def test_it_has_every_figure_but_those_of_chains(beside: Project) -> None:
    figures = {
        method: {
            path.stem for path in (beside.root / f"results/figures/{MODEL}/{method}/s1").iterdir()
        }
        for method in ("tiny", "maps")
    }
    assert {"trace", "verdict", "convergence"} <= figures["tiny"] - figures["maps"]
    assert {"pulls", "predicted_vs_true", "loss"} <= figures["maps"] < figures["tiny"]


def test_it_is_held_against_the_chains_with_what_both_cost(beside: Project) -> None:
    """Two MAPs have no Monte-Carlo errors; what differs from run to run stays out of results."""
    found = json.loads((beside.root / f"results/metrics/{HELD}.json").read_text())
    (maps,) = found["approximations"]
    assert (found["exact"]["run"], maps["run"]) == (f"{MODEL}/tiny/s1", RUN)
    assert found["points"] == 75
    assert (maps["converged"], maps["pareto_k"], maps["mean_z_rms"]) == (None, None, None)
    assert 0 < maps["total_variation_mean"] <= 1
    assert 0 < found["exact"]["halves"]["total_variation_mean"] < 1
    rows = read_csv(beside.root / f"timings/{HELD}/fidelity.csv")
    assert rows["method"].tolist() == ["tiny", "maps"]
    assert (rows["cpu_seconds"] > 0).all()
    assert rows["cpu_ratio"][1] == pytest.approx(rows["cpu_seconds"][0] / rows["cpu_seconds"][1])
    assert not [name for name in maps if "cpu" in name]
    evaluated = json.loads((beside.root / f"results/metrics/{RUN}/evaluation.json").read_text())
    assert rows["coverage_95"][1] == pytest.approx(evaluated["test"]["coverage_95"])
    assert (beside.root / f"timings/{HELD}/fidelity.svg").is_file()
