"""A network whose output layer is integrated out, from its settings to a surrogate's answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from nlobayes import Surrogate

if TYPE_CHECKING:
    from tests.workflow.conftest import Once, Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

STUDY = Path(__file__).with_name("marginalised.yaml")
MODEL = "tiny/wide_8/relevance/tolerance_10/brief"
RUN = f"{MODEL}/brief/s1"
SURROGATE, LANDSCAPE = f"results/surrogates/{RUN}.nc", f"results/plots/landscape/{MODEL}"


@pytest.fixture(scope="module")
def wide(once: Once, pristine: Project) -> Project:
    """The surrogate of the study, and all that it is made from."""

    def build(folder: Path) -> None:
        project = pristine.copy_to(folder)
        shutil.copy(STUDY, project.root / "config/config.yaml")
        project.snakemake(SURROGATE)

    return once("wide", build)


def test_stored_draws_are_networks_that_fit_the_train_rows(wide: Project) -> None:
    """To about the tolerance: their output layers were drawn given the rest."""
    posterior = wide.group("posterior", f"results/posterior/{RUN}.nc")
    assert posterior["weights_2"].shape == (3, 15, 8, 1)
    assert len(np.unique(posterior["biases_2"])) == 45
    found = json.loads((wide.root / f"results/metrics/{RUN}/evaluation.json").read_text())
    assert found["train"]["rmse_log10"] < 0.3
    assert found["baseline"]["train"]["rmse_log10"] < 0.3
    assert json.loads((wide.root / f"results/metrics/{RUN}/diagnostics.json").read_text())["exact"]


@pytest.mark.slow
def test_the_landscape_is_of_what_chains_move(wide: Project, tmp_path: Path) -> None:
    """No MAP is far above the least energy of the plane: all are maxima of that density."""
    project = wide.copy_to(tmp_path / "project")
    project.snakemake(f"{LANDSCAPE}/landscape.csv")
    surface, maps = (
        pd.read_csv(project.root / LANDSCAPE / f"{name}.csv")
        for name in ("landscape", "landscape_maps")
    )
    assert maps["energy"].max() < surface["energy"].quantile(0.1)


def test_the_surrogate_answers_as_the_draws_do(wide: Project) -> None:
    surrogate = Surrogate.load(wide.root / SURROGATE)
    table = pd.read_parquet(wide.root / "results/tables/tiny.parquet")
    median = surrogate.predict(table[list(surrogate.inputs)].to_numpy()).median
    assert np.median(np.abs(np.log10(median / table["sigma_pb"]))) < 0.3


def test_a_prior_reaches_it_by_weights(wide: Project) -> None:
    """As any other posterior: stored draws are of the whole model."""
    said = wide.run(
        *("nlobayes", "sensitivity", f"results/thinned/{RUN}.nc"),
        *("--dataset", "results/data/tiny.nc"),
    )
    assert "prior" in said.stdout
