"""Scores of every split, with a noise fitted to validation rows only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arviz
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.netcdf import open_artifact, write_groups
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.data.splits import TEST, TRAIN, VALIDATION
from nlobayes.types import Dataset
from tests.refusals import refused

JOB = {"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3}
SPEC = json.dumps(JOB)
RED = "\x1b[31m\x1b[1m"
MakePredictions = Callable[..., tuple[Path, Path]]
Read = Callable[[Path], dict[str, Any]]


@pytest.fixture
def scored(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path, read: Read
) -> Callable[..., dict[str, Any]]:
    """Score predictions after multiplying the targets of some rows by a factor."""
    predictions, _ = make_predictions(tmp_path, dataset)

    def score(label: int | None = None, factor: float = 1.0) -> dict[str, Any]:
        folder = tmp_path / f"{label}_{factor}"
        rows = dataset.split == label
        observed = np.where(rows, factor, 1.0) * dataset.observed
        groups = open_artifact(predictions, "predictions").groups
        groups["points"] = groups["points"].assign(observed=(("point",), observed))
        write_groups(folder / "p.nc", "predictions", groups, {"exact": True})
        write_dataset(folder / "d.nc", dataset._replace(observed=observed), {})
        evaluate(SPEC, folder / "p.nc", folder / "d.nc", folder / "out.json")
        return read(folder / "out.json")

    return score


@pytest.mark.parametrize("label", [TRAIN, TEST])
def test_the_noise_does_not_see_train_or_test_rows(
    scored: Callable[..., dict[str, Any]], label: int
) -> None:
    before, after = scored(), scored(label, 2.0)
    name = ("train", "val", "test")[label]
    assert after["predictive_noise"] == before["predictive_noise"]
    assert after["baseline"]["predictive_noise"] == before["baseline"]["predictive_noise"]
    assert after[name]["rmse_log10"] > 3 * before[name]["rmse_log10"]
    for other in {"train", "val", "test"} - {name}:
        assert after[other] == before[other]


def test_the_noise_is_fitted_on_validation_rows(scored: Callable[..., dict[str, Any]]) -> None:
    """Validation residuals are 0.03 dex, and about 0.3 once their targets are doubled."""
    before, after = scored(), scored(VALIDATION, 2.0)
    for scores in (before, before["baseline"]):
        assert scores["predictive_noise"]["fitted_on"] == "val"
        assert 0.01 < scores["predictive_noise"]["scale"] < 0.06
    assert after["predictive_noise"]["scale"] == pytest.approx(np.log10(2), rel=0.1)
    assert after["test"]["rmse_log10"] == before["test"]["rmse_log10"]
    assert after["test"]["sigma_z_total"] < before["test"]["sigma_z_total"] / 3


def test_scores_are_those_of_their_split(
    scored: Callable[..., dict[str, Any]], tmp_path: Path, dataset: Dataset
) -> None:
    scores = scored()
    f = open_artifact(tmp_path / "predictions.nc", "predictions").groups["predictions"]["f"].values
    residual = f.mean(axis=(0, 1)) - np.log10(dataset.observed)
    for label, name in enumerate(("train", "val", "test")):
        expected = np.sqrt(np.mean(residual[dataset.split == label] ** 2))
        assert scores[name]["rmse_log10"] == pytest.approx(expected, rel=1e-12)


def test_halves_and_deciles_stand_beside(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path, read: Read
) -> None:
    """Of 240 rows, 120 of them for validation: six deciles, and halves."""
    many = _repeated(dataset, 4)
    paths = make_predictions(tmp_path, many)
    evaluate(json.dumps(JOB | {"noise": "conformal"}), *paths, tmp_path / "out.json")
    scores = read(tmp_path / "out.json")
    assert scores["predictive_noise"]["family"] == "conformal"
    assert scores["halves"]["points"] == 120
    assert 0 < scores["halves"]["coverage_68"] < scores["halves"]["coverage_95"] <= 1
    assert scores["baseline"]["halves"]["family"] == "conformal"
    for name in ("coverage_68", "coverage_95"):
        found = scores["test"][f"{name}_deciles"]
        assert np.mean(found) == pytest.approx(scores["test"][name], abs=0.02)
        assert len(scores["halves"]["deciles"][name]) == 6


def test_the_worth_of_the_scored_draws_is_that_of_arviz(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path, read: Read
) -> None:
    """Correlated draws of two chains, at the points where convergence is checked."""
    predictions, data = make_predictions(tmp_path, dataset)
    groups = open_artifact(predictions, "predictions").groups
    f = groups["predictions"]["f"]
    groups["predictions"]["f"] = f + 0.9 * f.shift(draw=1, fill_value=0)
    write_groups(tmp_path / "p.nc", "predictions", groups, {"exact": True})
    evaluate(SPEC, tmp_path / "p.nc", data, tmp_path / "out.json")
    drawn = groups["predictions"]["f"].values
    expected = [arviz.ess(drawn[:, :, point], method="bulk") for point in dataset.reference]
    assert read(tmp_path / "out.json")["scored_draws"] == {
        "draws_scored": drawn.shape[0] * drawn.shape[1],
        "ess_scored_median": pytest.approx(np.median(expected)),
        "ess_scored_min": pytest.approx(min(expected)),
    }
    assert np.median(expected) < 0.8 * drawn.shape[0] * drawn.shape[1]


def _repeated(dataset: Dataset, times: int) -> Dataset:
    """Repeat every row, with three quarters of the copies for validation or test."""
    names = ("inputs", "features", "target", "observed")
    repeated: dict[str, Any] = {
        name: np.concatenate([getattr(dataset, name)] * times) for name in names
    }
    split = np.repeat([TRAIN, VALIDATION, VALIDATION, TEST], len(dataset.split))
    return dataset._replace(**repeated, split=split)


def test_the_seed_makes_scores_reproducible(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path
) -> None:
    paths = make_predictions(tmp_path, dataset)
    for name in ("one", "two"):
        evaluate(SPEC, *paths, tmp_path / f"{name}.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_predictions_of_another_dataset_are_refused(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path
) -> None:
    predictions, _ = make_predictions(tmp_path, dataset)
    others = {
        "other rows": dataset._replace(observed=dataset.observed[::-1].copy()),
        "other split": dataset._replace(split=dataset.split[::-1].copy()),
        "fewer rows": dataset._replace(
            **{
                name: getattr(dataset, name)[:-1]
                for name in ("inputs", "features", "target", "observed", "split")
            }
        ),
    }
    for name, other in others.items():
        write_dataset(tmp_path / f"{name}.nc", other, {})
        with refused("commands.other_dataset_predicted", predictions=predictions):
            evaluate(SPEC, predictions, tmp_path / f"{name}.nc", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("change", "fault", "place"),
    [
        ({"noise": "cauchy"}, "literal_error", "noise"),
        ({"seed": None}, "int_type", "seed"),
        ({"split": "test"}, "study.unknown_key", ""),
    ],
)
def test_bad_specifications_are_refused(
    make_predictions: MakePredictions,
    dataset: Dataset,
    tmp_path: Path,
    change: dict[str, Any],
    fault: str,
    place: str,
) -> None:
    paths = make_predictions(tmp_path, dataset)
    with refused(fault, places=[place]):
        evaluate(json.dumps(JOB | change), *paths, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_an_identity_scale_has_no_scores_in_log10(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path, read: Read
) -> None:
    transforms = dataset.transforms | {"target": {"scale": "identity", "mean": 0.0, "sd": 1.0}}
    linear = dataset._replace(observed=np.log10(dataset.observed), transforms=transforms)
    groups = open_artifact(make_predictions(tmp_path, dataset)[0], "predictions").groups
    groups["points"] = groups["points"].assign(observed=(("point",), linear.observed))
    write_groups(tmp_path / "p.nc", "predictions", groups, {"exact": True})
    write_dataset(tmp_path / "d.nc", linear, {})
    evaluate(SPEC, tmp_path / "p.nc", tmp_path / "d.nc", tmp_path / "o.json")
    scores = read(tmp_path / "o.json")
    assert not [key for key in scores["test"] if key.endswith("_log10")]
    residual = np.median(groups["predictions"]["f"].values, axis=(0, 1)) - linear.observed
    expected = np.sqrt(np.mean(residual[dataset.split == TEST] ** 2))
    assert scores["test"]["rmse_target"] == pytest.approx(expected, rel=1e-12)
    assert len(scores["baseline"]["members"]["rmse_target_test"]) == 3


def test_errors_are_compared_with_the_scale_uncertainty_where_it_is_known(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path, read: Read
) -> None:
    known = dataset._replace(scale_uncertainty=np.full(len(dataset.observed), 0.1))
    paths = make_predictions(tmp_path, known)
    evaluate(SPEC, *paths, tmp_path / "out.json")
    f = open_artifact(paths[0], "predictions").groups["predictions"]["f"].values.mean(axis=(0, 1))
    error = np.abs(f - np.log10(dataset.observed))[dataset.split == TEST]
    found = read(tmp_path / "out.json")["test"]["error_over_scale_share_below_0_3"]
    assert found == pytest.approx(np.mean(error < 0.03))


def _with_a_bad_chain(paths: tuple[Path, Path], folder: Path, off: float) -> tuple[Path, Path]:
    """Move the predictions of the second of two chains, which then failed a check."""
    groups = open_artifact(paths[0], "predictions").groups
    moved = groups["predictions"]["f"] + off * groups["predictions"]["chain"]
    groups["predictions"] = groups["predictions"].assign(f=moved)
    checks = {"rhat_f": {"value": 2.0, "threshold": 1.05, "passed": False}}
    facts = {"exact": True, "checks": checks | {"divergences": {"passed": True}}}
    write_groups(folder / "bad.nc", "predictions", groups, facts)
    return folder / "bad.nc", paths[1]


def test_stacking_gives_a_bad_mode_no_weight_and_leaves_the_other_scores(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path, read: Read
) -> None:
    """Noise of the likelihood is 0.04 dex and the second chain is off by 0.5."""
    paths = _with_a_bad_chain(make_predictions(tmp_path, dataset), tmp_path, 0.5)
    evaluate(SPEC, *paths, tmp_path / "equal.json")
    evaluate(json.dumps(JOB | {"combine": "stacking"}), *paths, tmp_path / "out.json")
    equal, scores = read(tmp_path / "equal.json"), read(tmp_path / "out.json")
    stacking = scores.pop("stacking")
    assert scores == equal  # without stacking there is no such key
    np.testing.assert_allclose(stacking["weights"], [1, 0], atol=1e-6)
    assert (stacking["draws"], stacking["distinct"]) == (80, 40)
    assert stacking["failed_checks"] == ["rhat_f"]
    assert stacking["test"].keys() == equal["test"].keys()
    assert stacking["test"]["rmse_log10"] < equal["test"]["rmse_log10"] / 2
    f = open_artifact(paths[0], "predictions").groups["predictions"]["f"].values
    test = dataset.split == TEST
    density = norm.pdf(np.log10(dataset.observed)[test], f[0][:, test], 0.04).mean(axis=0)
    assert stacking["lppd_test"]["stacking"] == pytest.approx(np.mean(np.log(density)), rel=1e-4)
    assert stacking["lppd_test"]["equal"] < stacking["lppd_test"]["stacking"]


def test_stacked_scores_of_equal_chains_are_those_of_all_draws(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path, read: Read
) -> None:
    paths = make_predictions(tmp_path, dataset)
    groups = open_artifact(paths[0], "predictions").groups
    function = groups["predictions"]["f"]
    groups["predictions"] = groups["predictions"].assign(
        f=(function.dims, np.tile(function.values[:1], (2, 1, 1)))
    )
    write_groups(tmp_path / "same.nc", "predictions", groups, {"exact": True})
    job = json.dumps(JOB | {"combine": "stacking"})
    evaluate(job, tmp_path / "same.nc", paths[1], tmp_path / "out.json")
    scores = read(tmp_path / "out.json")
    assert scores["stacking"]["weights"] == [0.5, 0.5]
    assert scores["stacking"]["test"] == scores["test"]


def test_failed_calibration_is_recorded_and_printed_in_red(
    scored: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str], in_colour: None
) -> None:
    checks = scored(TEST, 2.0)["calibration_checks"]
    assert not checks["chi2_per_point"]["passed"]
    assert checks["chi2_per_point"]["value"] > checks["chi2_per_point"]["high"]
    assert RED + "FAILED\x1b[0m: chi2_per_point" in capsys.readouterr().err


def test_an_unknown_covariate_is_refused(
    make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path
) -> None:
    paths = make_predictions(tmp_path, dataset)
    with refused("commands.no_covariate", column="n99"):
        evaluate(json.dumps(JOB | {"covariate": "n99"}), *paths, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
