"""Classes and several targets, from their tables to scores, and of classes to figures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nlobayes import Classifier, Surrogate

if TYPE_CHECKING:
    from tests.workflow.conftest import Once, Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

STUDY = Path(__file__).with_name("families.yaml")
CLASSES = "xor/n4/fan_in_2/{}/tiny/tiny/s1"
TWO = "two/n4/fan_in/tolerance_10/tiny/tiny/s1"
FIGURES = {
    *("verdict", "convergence", "trace", "autocorrelation", "divergences", "thinning"),
    *("weight_planes", "marginals", "history", "loss", "confusion", "reliability", "thresholds"),
    "certainty",
}


@pytest.fixture(scope="module")
def families(once: Once, pristine: Project) -> Project:
    """The finished study of both."""

    def build(folder: Path) -> None:
        project = pristine.copy_to(folder)
        shutil.copy(STUDY, project.root / "config/config.yaml")
        project.snakemake()

    return once("families", build)


def scores(project: Project, run: str) -> dict[str, Any]:
    """Read the scores of a run."""
    text = (project.root / f"results/metrics/{run}/evaluation.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def assert_classes_are_told_apart(project: Project, run: str) -> None:
    """Four hidden units tell the clouds apart, also in the file that is exported."""
    found = scores(project, run)
    assert found["test"]["accuracy"] > 0.95
    assert found["calibration_checks"].keys() == {"ece"}
    drawn = {path.stem for path in (project.root / f"results/figures/{run}").glob("*.svg")}
    assert drawn == FIGURES
    classifier = Classifier.load(project.root / f"results/surrogates/{run}.nc")
    clouds = [[one, other] for one in (-0.5, 0.5) for other in (-0.5, 0.5)]
    labels = classifier.predict(clouds).label
    assert labels[0] == labels[3] != labels[1] == labels[2]
    assert {*classifier.domain(clouds)} <= {"inside", "near edge"}
    np.testing.assert_array_equal(classifier.domain([[30.0, 30.0]]), ["outside"])


def test_classes_have_scores_and_figures_of_their_own(families: Project) -> None:
    assert_classes_are_told_apart(families, CLASSES.format("categorical"))


def test_two_classes_need_one_output(families: Project, tmp_path: Path) -> None:
    project = families.copy_to(tmp_path / "project")
    project.snakemake("xor", changes={"grids": {"xor": {"likelihood": "bernoulli"}}})
    runs = [CLASSES.format(likelihood) for likelihood in ("categorical", "bernoulli")]
    assert_classes_are_told_apart(project, runs[1])
    assert "accuracy" in project.run("nlobayes", "compare", *runs).stdout


def test_two_targets_have_scores_of_each(families: Project) -> None:
    found = scores(families, TWO)
    assert found["outputs"].keys() == {"sigma_pb", "scale_up"}
    assert len(found["calibration_checks"]) == 8
    surrogate = Surrogate.load(families.root / f"results/surrogates/{TWO}.nc")
    assert surrogate.outputs == ("sigma_pb", "scale_up")
    points = [[*surrogate.typical.values()]]
    both = surrogate.predict_outputs(points)
    assert both["scale_up"].median == pytest.approx(both["sigma_pb"].median, rel=0.3)
    assert not (families.root / "results/figures/two").exists()


def test_runs_of_all_kinds_are_summarised(families: Project) -> None:
    said = families.run("nlobayes", "summary").stdout
    assert "accuracy" in said
    assert "RMSE" in said
    run = CLASSES.format("categorical")
    shown = families.run("nlobayes", "show", f"results/metrics/{run}/evaluation.json").stdout
    assert "test accuracy" in shown
    families.run("nlobayes", "verify", "results")


def test_nothing_is_left_to_do(families: Project) -> None:
    assert families.planned() == {}
