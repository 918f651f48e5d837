"""The tables behind the figures of a run: whole, reproducible, and of this run alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.files import read_csv
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.tabulate import tabulate
from nlobayes.commands.pipeline.tabulate_chains import tabulate_chains
from nlobayes.data.splits import TEST
from nlobayes.types import Dataset
from tests.refusals import refused

LENGTHS = {
    "verdict": 7,
    "trace": 96,
    "convergence": 6,
    "quantities": 3,
    "autocorrelation": 32,
    "weight_autocorrelation": 8,
    "history": 6 * 3 * 8,
    "weight_planes": 4 * 3 * 8,
    "marginals": 6 * 3 * 10,
    "divergences": 6,
    "loss": 15,
    "labels": 1,
    "predictions": 60,
    "coverage": 150,
    "levels": 297,
    "pit": 303,
    "conditional": 3,
    "deciles": 3,
    "cases": 6000,
    "curves": 0,
    "maps": 0,
    "predictive_quantiles": 0,
    "density": 0,
    "calibration_checks": 4,
    "regressors": 3,
}
SHOWN = {
    "weight_planes": [["weights_1[ln|m|, 0]", "weights_1[0,1]"]],
    "marginals": ["biases_1[1]"],
}
SPEC: dict[str, Any] = {"covariate": "m1", "calibration": {}, "seed": 3}
OF_CHAINS: dict[str, Any] = {"covariate": "m1"}
JUDGED = {
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "kernel": {"kind": "hmc"},
    "thresholds": {},
    "thinning_loss": 0.1,
}
SCORED = {"noise": "student_t", "calibration": {}, "covariate": "m1", "seed": 3}
Tabulate = Callable[..., Path]


@pytest.fixture
def files(
    run: Any, make_predictions: Callable[..., tuple[Path, Path]], dataset: Dataset, tmp_path: Path
) -> dict[str, Path]:
    """A diagnosed and scored run."""
    predictions, path = make_predictions(tmp_path, dataset)
    diagnostics, scored = tmp_path / "diagnostics.json", tmp_path / "evaluation.json"
    diagnose(json.dumps(JUDGED), run.posterior, diagnostics)
    evaluate(json.dumps(SCORED), predictions, path, scored)
    return {
        "posterior": run.posterior,
        "diagnostics": diagnostics,
        "predictions": predictions,
        "evaluation": scored,
        "dataset": path,
    }


@pytest.fixture
def tabulated(run: Any, files: dict[str, Path], tmp_path: Path) -> Tabulate:
    """Tabulate a run and give the folder of the tables."""

    def tabulate_run(
        folder: str = "plots",
        record: Path | None = None,
        shown: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Path:
        paths = {name: changes.pop(name, path) for name, path in files.items()}
        posterior, plots = paths.pop("posterior"), tmp_path / folder
        cases = {key: value for key, value in (shown or {}).items() if key == "cases"}
        tabulate(
            json.dumps(SPEC | changes | cases),
            **paths,
            start=run.starts,
            plots=plots,
            record=record,
        )
        beside = None if record is None else record.with_name("chains.json")
        of_chains = {key: value for key, value in (shown or {}).items() if key != "cases"}
        spec = json.dumps(OF_CHAINS | changes | of_chains)
        tabulate_chains(spec, posterior, paths["dataset"], plots, beside)
        return tmp_path / folder

    return tabulate_run


def test_every_table_is_written_whole(tabulated: Tabulate) -> None:
    found = {path.stem: len(read_csv(path)) for path in tabulated().iterdir()}
    assert found == LENGTHS


def test_the_record_names_what_was_read_and_written(
    tabulated: Tabulate, files: dict[str, Path], run: Any, tmp_path: Path
) -> None:
    plots = tabulated(record=tmp_path / "record.json")
    made, of_chains = (read_record(tmp_path / f"{name}.json") for name in ("record", "chains"))
    others = [path for name, path in files.items() if name != "posterior"]
    assert made["inputs"] == digests([*others, *run.starts])
    assert of_chains["inputs"] == digests([files["posterior"], files["dataset"]])
    assert not made["outputs"].keys() & of_chains["outputs"].keys()
    assert made["outputs"] | of_chains["outputs"] == digests(plots.iterdir())


def test_the_verdict_and_the_noise_are_those_of_the_run(
    tabulated: Tabulate, files: dict[str, Path], read: Callable[[Path], dict[str, Any]]
) -> None:
    plots = tabulated()
    checks = read(files["diagnostics"])["checks"]
    verdict = read_csv(plots / "verdict.csv").set_index("check")
    assert verdict["passed"].to_dict() == {name: c["passed"] for name, c in checks.items()}
    scores = read(files["evaluation"])
    table = read_csv(plots / "calibration_checks.csv").set_index("check")
    for name, check in scores["calibration_checks"].items():
        assert table.loc[name, "value"] == pytest.approx(check["value"], rel=1e-8)
    predicted = read_csv(plots / "predictions.csv")
    z = predicted[predicted["split"] == "test"]["z_total"]
    assert float(z.std(ddof=0)) == pytest.approx(scores["test"]["sigma_z_total"], rel=1e-6)
    counted, _ = np.histogram(np.clip(z, -6, 6), np.linspace(-6, 6, 49))
    np.testing.assert_array_equal(scores["test"]["pulls_total"], counted)


def test_what_a_study_asks_to_see_is_shown(tabulated: Tabulate, dataset: Dataset, run: Any) -> None:
    test = np.flatnonzero(dataset.split == TEST)
    chosen = [int(test[4]), {"m1": float(dataset.inputs[test[1], 0])}]
    plots = tabulated(shown={**SHOWN, "cases": chosen})
    cases = read_csv(plots / "cases.csv")
    assert [*cases["point"].unique()] == [test[4], test[1]]
    assert set(cases["case"]) == {"chosen"}
    predicted = read_csv(plots / "predictions.csv").set_index("point")
    for name in ("mean", "truth", "total_sd"):
        first = cases.groupby("point")[name].first()
        np.testing.assert_allclose(first, predicted[name].loc[first.index], rtol=1e-6)
    weights = open_artifact(run.posterior, "posterior").groups["posterior"]
    planes = read_csv(plots / "weight_planes.csv")
    np.testing.assert_allclose(planes["x"], weights["weights_1"].values[..., 0, 0].ravel(), 1e-6)
    np.testing.assert_allclose(planes["y"], weights["weights_1"].values[..., 0, 1].ravel(), 1e-6)
    marginals = read_csv(plots / "marginals.csv")
    assert set(marginals["parameter"]) == {"biases_1[1]"}
    assert marginals["mean"][0] == pytest.approx(weights["biases_1"].values[..., 1].mean(), 1e-5)


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        ({"weight_planes": [["sigma", "noise"]]}, "diagnostics.unknown_parameters"),
        ({"cases": [10_000]}, "commands.no_row"),
    ],
)
@pytest.mark.by_day(1)
def test_what_is_not_there_cannot_be_shown(
    tabulated: Tabulate, tmp_path: Path, shown: dict[str, Any], code: str
) -> None:
    with refused(code):
        tabulated(shown=shown)
    written = {path.stem for path in (tmp_path / "plots").glob("*.csv")}
    assert not {"cases", "weight_planes"} & written or "cases" not in shown


@pytest.mark.parametrize(
    ("content", "code", "fields"),
    [
        ({"calibration_checks": {}}, "evaluation.no_fitted_noise", {"noise": None}),
        ({"predictive_noise": {}}, "artifacts.no_key", {"missing": ["calibration_checks"]}),
        (
            {"predictive_noise": {"family": "gaussian"}, "calibration_checks": {}},
            "evaluation.no_fitted_noise",
            {"noise": {"family": "gaussian"}},
        ),
        (
            {"predictive_noise": 0.1, "calibration_checks": {}},
            "evaluation.no_fitted_noise",
            {"noise": 0.1},
        ),
    ],
)
@pytest.mark.by_day(1)
def test_scores_without_a_noise_are_refused(
    tabulated: Tabulate, tmp_path: Path, content: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(content))
    with refused(code, **fields):
        tabulated(evaluation=path)
    assert not (tmp_path / "plots").exists()
