"""A run whose network size is drawn: verdict, predictions, scores and tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts.files import read_csv
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.posterior_predictive import posterior_predictive
from nlobayes.commands.pipeline.tabulate_sizes import tabulate_sizes
from nlobayes.commands.pipeline.thin import thin
from nlobayes.figures import tabulated_of_sizes
from nlobayes.types import Dataset
from tests.refusals import refused

NETWORK = {"hidden": [2], "units": {"kind": "geometric", "ratio": 0.5}}
MODEL = {
    "network": NETWORK,
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float64",
}
JUDGED = {
    "likelihood": MODEL["likelihood"],
    "kernel": {"kind": "reversible_jump"},
    "thresholds": {},
    "thinning_loss": 0.1,
}
SCORED = {"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3}
SPEC = json.dumps({"network": NETWORK, "covariate": "m1"})
CHAINS, DRAWS, STORED = 3, 32, 8
EVERY = ("chain", "draw")
JUMP = (*EVERY, "jump")


def with_sizes(posterior: Path, out: Path, widths: np.ndarray) -> Path:
    """Give stored draws of a posterior these numbers of units, of at most two, with a jump each."""
    groups = open_artifact(posterior, "posterior").groups
    groups["posterior"]["width_1"] = (EVERY, widths)
    at = np.repeat(widths, 4, axis=1).astype(int)
    before = np.concatenate([at[:, :1], at[:, :-1]], axis=1)
    stats = {
        "size": (EVERY, at),
        "jumps_split_1": (EVERY, np.ones_like(at)),
        "jump_acceptance_split_1": (EVERY, np.full(at.shape, 0.25)),
        "jump_probability": (JUMP, np.full((*at.shape, 1), 0.25)),
        "jump_accepted": (JUMP, (at != before)[..., np.newaxis]),
        "jump_from_width_1": (JUMP, before[..., np.newaxis]),
        "jump_to_width_1": (JUMP, 3 - before[..., np.newaxis]),
    }
    groups["all_sample_stats"] = groups["all_sample_stats"].assign(stats)
    write_groups(out, "posterior", groups, read_attrs(posterior))
    return out


@pytest.fixture
def widths() -> np.ndarray:
    """Units in use at the stored draws."""
    return np.random.default_rng(4).integers(1, 3, (CHAINS, STORED)).astype(float)


@pytest.fixture
def posterior(run: Any, widths: np.ndarray, tmp_path: Path) -> Path:
    """The posterior with these units."""
    return with_sizes(run.posterior, tmp_path / "posterior.nc", widths)


@pytest.fixture
def sized(
    make_predictions: Callable[..., tuple[Path, Path]], dataset: Dataset, tmp_path: Path
) -> tuple[Path, Path]:
    """Predictions of draws of one and of two units, and their dataset."""
    predictions, path = make_predictions(tmp_path, dataset)
    groups = open_artifact(predictions, "predictions").groups
    drawn = groups["predictions"].sizes["chain"], groups["predictions"].sizes["draw"]
    widths = np.where(np.arange(drawn[1]) % 3 == 0, 1.0, 2.0) * np.ones((drawn[0], 1))
    groups["sizes"] = xr.Dataset({"width_1": (EVERY, widths)})
    write_groups(predictions, "predictions", groups, read_attrs(predictions))
    return predictions, path


def diagnosed(posterior: Path, folder: Path) -> dict[str, Any]:
    diagnose(json.dumps(JUDGED), posterior, folder / "diagnostics.json")
    found: dict[str, Any] = json.loads((folder / "diagnostics.json").read_text())
    return found


def test_diagnostics_have_the_posterior_of_the_size(
    posterior: Path, widths: np.ndarray, tmp_path: Path
) -> None:
    found = diagnosed(posterior, tmp_path)["architecture"]
    width, inputs = (
        found["width_1"],
        len(open_artifact(posterior, "posterior").groups["posterior"]["feature"]),
    )
    assert width["probability"] == pytest.approx([(widths == k).mean() for k in (1, 2)])
    assert width["rhat"] > 0.9
    assert found["parameters"]["high_90"] == 2 * (inputs + 1) + 3
    assert sum(width["visits"]["tried"]) == CHAINS * DRAWS
    assert len(width["acceptance_within"]) == 2


def test_chains_at_sizes_of_their_own_have_not_converged(
    run: Any, widths: np.ndarray, tmp_path: Path
) -> None:
    mixing = diagnosed(with_sizes(run.posterior, tmp_path / "mixing.nc", widths), tmp_path)
    assert mixing["checks"]["rhat_size"]["threshold"] == 1.01
    apart = np.array([[1.0], [1.0], [2.0]]) * np.ones((1, STORED))
    stuck = diagnosed(with_sizes(run.posterior, tmp_path / "stuck.nc", apart), tmp_path)
    assert stuck["checks"]["rhat_size"] == {"value": None, "threshold": 1.01, "passed": False}
    assert stuck["converged"] is False
    assert "rhat_size" not in diagnosed(run.posterior, tmp_path)["checks"]


def test_predictions_carry_the_size_of_each_draw(
    run: Any, posterior: Path, widths: np.ndarray, tmp_path: Path
) -> None:
    verdict = tmp_path / "verdict.json"
    verdict.write_text(json.dumps({"thinning_step": 4, "checks": {}}))
    thin(posterior, verdict, run.dataset, tmp_path / "thinned.nc", tmp_path / "thinning.csv")
    files = (tmp_path / "thinned.nc", run.dataset, run.starts, tmp_path / "predictions.nc")
    posterior_predictive(json.dumps({"model": MODEL}), *files)
    found = open_artifact(tmp_path / "predictions.nc", "predictions").groups["sizes"]
    np.testing.assert_array_equal(found["width_1"], widths)


def test_scores_and_tables_agree(posterior: Path, sized: tuple[Path, Path], tmp_path: Path) -> None:
    plots, record = tmp_path / "plots", tmp_path / "record.json"
    tabulate_sizes(SPEC, posterior, *sized, plots, record)
    found = {path.stem: read_csv(path) for path in plots.iterdir()}
    assert found.keys() == {*tabulated_of_sizes()}
    assert read_record(record)["inputs"] == digests([posterior, *sized])
    assert found["sizes"]["prior"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert found["sizes"]["probability"].sum() == pytest.approx(1)
    assert found["visits"]["tried"].sum() == CHAINS * DRAWS
    traced = found["size_trace"].query("quantity == 'width_1' and chain == 1")
    assert traced["draw"].tolist() == [*range(3, DRAWS, 4)]
    evaluate(json.dumps(SCORED), *sized, tmp_path / "evaluation.json")
    scores = json.loads((tmp_path / "evaluation.json").read_text())
    assert scores["sizes"]["modal"] == {"width_1": 2}
    assert scores["sizes"]["test"]["marginal"]["rmse_log10"] == pytest.approx(
        scores["test"]["rmse_log10"]
    )
    modal = found["size_scores"].query("split == 'test' and prediction == 'modal'")
    assert modal["lppd"].item() == pytest.approx(scores["sizes"]["test"]["modal"]["lppd"])
    assert set(found["draw_scores"]["width_1"]) == {1, 2}


def test_a_fixed_size_has_no_tables(
    run: Any, posterior: Path, make_predictions: Any, dataset: Dataset, tmp_path: Path
) -> None:
    predictions, path = make_predictions(tmp_path, dataset)
    evaluate(json.dumps(SCORED), predictions, path, tmp_path / "evaluation.json")
    assert "sizes" not in json.loads((tmp_path / "evaluation.json").read_text())
    with refused("commands.fixed_size", where=run.posterior):
        tabulate_sizes(SPEC, run.posterior, predictions, path, tmp_path / "plots")
    with refused("commands.fixed_size", where=predictions):
        tabulate_sizes(SPEC, posterior, predictions, path, tmp_path / "plots")
    assert not (tmp_path / "plots").exists()
