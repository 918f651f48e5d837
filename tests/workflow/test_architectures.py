"""Networks whose units or layers are drawn, from their settings to a surrogate's answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from nlobayes import Surrogate

if TYPE_CHECKING:
    from tests.workflow.conftest import Once, Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

STUDY = Path(__file__).with_name("architectures.yaml")
RUNS = {name: f"tiny/{name}/fan_in/coarse/tiny/jumps/s1" for name in ("units", "layers")}
SIZES = {"units": "width_1", "layers": "depth"}


@pytest.fixture(scope="module")
def varying(once: Once, pristine: Project) -> Project:
    """The finished study of both."""

    def build(folder: Path) -> None:
        project = pristine.copy_to(folder)
        shutil.copy(STUDY, project.root / "config/config.yaml")
        project.snakemake()

    return once("varying", build)


def diagnostics(project: Project, name: str) -> dict[str, Any]:
    text = (project.root / f"results/metrics/{RUNS[name]}/diagnostics.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("name", RUNS)
def test_sizes_are_drawn_and_reported(name: str, varying: Project) -> None:
    drawn = varying.group("posterior", f"results/posterior/{RUNS[name]}.nc")[SIZES[name]]
    found = diagnostics(varying, name)
    assert len(np.unique(drawn)) > 1
    sizes = found["architecture"][SIZES[name]]
    assert sizes["number"] == np.unique(drawn).tolist()
    assert sum(sizes["probability"]) == pytest.approx(1)
    assert found["architecture"]["jumps"]["between_sizes"] > 0
    assert found["rhat_hyperparameters"] >= 0.9
    assert found["exact"]


def test_parameters_in_use_are_the_weights_and_biases_that_are_not_zero(varying: Project) -> None:
    drawn = varying.group("posterior", f"results/posterior/{RUNS['units']}.nc")
    arrays = [drawn[f"{kind}_{layer}"].values for kind in ("weights", "biases") for layer in (1, 2)]
    counted = sum(np.count_nonzero(a.reshape(*a.shape[:2], -1), axis=2) for a in arrays)
    trace = pd.read_csv(varying.root / f"results/plots/{RUNS['units']}/size_trace.csv")
    traced = trace[trace["quantity"] == "parameters"]["value"]
    assert traced.tolist() == np.ravel(counted).tolist()


@pytest.mark.parametrize("name", RUNS)
def test_every_jump_is_in_the_matrix(name: str, varying: Project) -> None:
    """Those that were tried and those that led somewhere are those of the diagnostics."""
    visits = pd.read_csv(varying.root / f"results/plots/{RUNS[name]}/visits.csv")
    found = diagnostics(varying, name)["architecture"]
    tried = sum(jump["tried"] for key, jump in found["jumps"].items() if key != "between_sizes")
    assert visits["tried"].sum() == visits["visits"].sum() == tried == 2 * 2 * 120
    assert found[SIZES[name]]["visits"]["visits"] == visits["visits"].tolist()


@pytest.mark.parametrize("name", RUNS)
def test_scores_of_the_modal_size_are_of_its_draws_alone(name: str, varying: Project) -> None:
    run, split = RUNS[name], 2
    predictions = f"results/predictions/{run}.nc"
    f = varying.group("predictions", predictions)["f"].values.reshape(-1, 300)
    sizes = varying.group("sizes", predictions)[SIZES[name]].values.ravel()
    numbers, counts = np.unique(sizes, return_counts=True)
    points = varying.group("points", predictions)
    rows = points["split"].values == split
    target = np.log10(points["observed"].values[rows])
    scores = json.loads((varying.root / f"results/metrics/{run}/evaluation.json").read_text())
    found = scores["sizes"]
    assert found["modal"] == {SIZES[name]: numbers[np.argmax(counts)]}
    for kind, chosen in (("marginal", sizes > 0), ("modal", sizes == numbers[np.argmax(counts)])):
        mean = f[chosen][:, rows].mean(axis=0, dtype=float)
        rmse = np.sqrt(np.mean((mean - target) ** 2))
        assert found["test"][kind]["rmse_log10"] == pytest.approx(rmse, rel=1e-5)
    assert found["test"]["marginal"]["rmse_log10"] == pytest.approx(scores["test"]["rmse_log10"])


def test_runs_have_figures_and_a_summary_of_their_size(varying: Project) -> None:
    for run in RUNS.values():
        drawn = {path.stem for path in (varying.root / f"results/figures/{run}").glob("*.svg")}
        assert {"sizes", "visits", "size_trace", "draw_scores"} <= drawn
    said = varying.run("nlobayes", "summary").stdout
    assert "units of hidden layer 1" in said
    assert "hidden layers" in said


@pytest.mark.parametrize("name", RUNS)
def test_the_surrogate_averages_over_sizes(name: str, varying: Project) -> None:
    surrogate = Surrogate.load(varying.root / f"results/surrogates/{RUNS[name]}.nc")
    table = pd.read_parquet(varying.root / "results/tables/tiny.parquet")
    median = surrogate.predict(table[list(surrogate.inputs)].to_numpy()).median
    assert np.median(np.abs(np.log10(median / table["sigma_pb"]))) < 1.5


def test_a_lost_segment_is_made_again_to_the_byte(varying: Project, tmp_path: Path) -> None:
    project, run = varying.copy_to(tmp_path / "project"), RUNS["units"]
    before = project.digests()
    (lost,) = (project.root / "results/chains" / run).glob("*/segment_1.nc")
    lost.unlink()
    project.snakemake(str(lost.relative_to(project.root)))
    assert project.digests() == before
