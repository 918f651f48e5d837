"""A grid that ends with its priors draws f from each of them and samples nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nlobayes.artifacts.files import read_csv

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLES = ("prior_draws", "prior_quantiles", "prior_scales", "labels")
NUTS = {"kernel": {"kind": "nuts"}, "chains": 2, "draws_per_segment": 60, "thin": 4}
PRIORS = ("fan_in", "thesis")
STUDY: dict[str, Any] = {
    "methods": {"nuts": NUTS},
    "grids": {"tiny": {"prior": [*PRIORS], "method": ["tiny", "nuts"], "outputs": "prior"}},
}
JOBS = {"prior_predictive": 2, "plot_prior_predictive": 2}


def model(prior: str) -> str:
    return f"tiny/n4/{prior}/tolerance_10/tiny/s1"


@pytest.fixture(scope="module")
def checked(unbuilt: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study with two priors and two samplers, ended with what its priors say."""
    project = unbuilt.copy_to(tmp_path_factory.mktemp("priors") / "project")
    built = project.built("tiny", changes=STUDY)
    assert built == JOBS | {"simulate": 1, "prepare": 1, "tiny": 1}
    return project


def test_writes_the_tables_and_figures_of_each_model_and_nothing_else(checked: Project) -> None:
    expected = {
        "results/tables/tiny.parquet",
        "results/data/tiny.nc",
        "results/records/simulate/tiny.json",
    }
    for path in map(model, PRIORS):
        folder = f"prior_predictive/{path}"
        expected |= {f"results/plots/{folder}/{table}.csv" for table in TABLES}
        expected |= {f"results/figures/{folder}/prior_predictive.{end}" for end in ("svg", "png")}
        expected |= {f"results/records/{rule}/{path}.json" for rule in JOBS}
    assert set(checked.digests()) == expected


def test_a_prior_of_weights_of_sd_31_is_not_on_the_scale_of_the_data(checked: Project) -> None:
    for prior, low, high in (("fan_in", 0.05, 3), ("thesis", 10, 1000)):
        folder = checked.root / f"results/plots/prior_predictive/{model(prior)}"
        scales = read_csv(folder / "prior_scales.csv")
        assert len(scales) == 501
        assert low < scales["sd"].iloc[1:].median() / scales["sd"].iloc[0] < high


def test_everything_is_current_and_verified(checked: Project) -> None:
    assert checked.planned("tiny", changes=STUDY) == {}
    checked.run("nlobayes", "verify")
    name = f"results/records/prior_predictive/{model('fan_in')}.json"
    record = json.loads((checked.root / name).read_text())
    assert record["spec"]["model"]["device"] == "cpu"
    assert [*record["inputs"]] == ["results/data/tiny.nc"]
    assert {Path(path).stem for path in record["outputs"]} == {*TABLES}
