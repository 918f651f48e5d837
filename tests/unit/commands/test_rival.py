"""Rivals as files: predictions, missing libraries, and scores beside those of a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.audit.file_damage import inspect
from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.artifacts.predicted import rival_of
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.rival import rival
from nlobayes.types import Dataset
from tests.refusals import refused

GP = {"kind": "gaussian_process", "most_rows": 20}
EVALUATE = json.dumps({"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3})
Read = Callable[[Path], dict[str, Any]]
MakePredictions = Callable[..., tuple[Path, Path]]


def spec(settings: dict[str, Any]) -> str:
    return json.dumps({"rival": settings})


@pytest.fixture(scope="module")
def process(dataset_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Gaussian process of the small dataset, its timing beside it."""
    out = tmp_path_factory.mktemp("rival") / "gp.nc"
    rival(spec(GP), dataset_path, out, out.with_suffix(".json"))
    return out


def test_predictions_are_on_the_model_scale_and_state_their_rows(
    process: Path, dataset: Dataset
) -> None:
    """At train rows log10 of the cross section is within a fifth of the sd of the target."""
    points = rival_of(open_artifact(process, "rival"))
    found = points.prediction
    train, truth = dataset.split == 0, np.log10(dataset.observed)
    error = found.function.mean(axis=0)[train] - truth[train]
    assert np.sqrt(np.mean(error**2)) < 0.2 * truth[train].std()
    assert (found.facts["rows"], found.missing) == (20, None)
    assert found.sd is not None
    assert found.sd.shape == (len(truth),)
    np.testing.assert_array_equal(points.split, dataset.split)


def test_the_file_is_a_sound_artifact_and_its_seconds_stand_beside_it(
    process: Path, read: Read
) -> None:
    assert inspect(process) == []
    assert read_attrs(process)["library"].startswith("scikit-learn ")
    seconds = read(process.with_suffix(".json"))
    assert {*seconds} == {"fit", "predict_1", "predict_4096"}
    assert all(value > 0 for value in seconds.values())
    assert "second" not in str(read_attrs(process)["facts"])


@pytest.mark.parametrize(
    ("kind", "library"),
    [
        ("conformal_trees", "mapie"),
        ("network_ensemble", "optax"),
        ("ngboost", "ngboost"),
        ("pops", "popsregression"),
        ("crepes", "crepes"),
    ],
)
def test_the_file_names_the_library_and_its_version(
    kind: str, library: str, dataset_path: Path, tmp_path: Path
) -> None:
    pytest.importorskip(library)
    out = tmp_path / "rival.nc"
    few = {"steps": 100} if kind == "network_ensemble" else {}
    rival(spec({"kind": kind, **few}), dataset_path, out, tmp_path / "rival.json")
    assert read_attrs(out)["library"] == f"{library} {version(library)}"


def test_a_missing_library_is_written_and_printed_with_its_extra(
    dataset_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    rival(spec(GP), dataset_path, tmp_path / "gp.nc", tmp_path / "gp.json")
    assert "needs scikit-learn: `pip install 'nlobayes[rivals]'`" in capsys.readouterr().err
    found = rival_of(open_artifact(tmp_path / "gp.nc", "rival")).prediction
    assert (found.missing, len(found.function)) == ("sklearn", 0)
    assert inspect(tmp_path / "gp.nc") == []


def test_the_scores_of_a_run_have_those_of_its_rivals_and_are_else_the_same(
    make_predictions: MakePredictions,
    dataset: Dataset,
    tmp_path: Path,
    read: Read,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    predictions, data = make_predictions(tmp_path, dataset)
    evaluate(EVALUATE, predictions, data, tmp_path / "alone.json")
    rival(spec(GP), data, tmp_path / "gp.nc")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "sklearn", None)
        rival(spec({"kind": "boosted_trees"}), data, tmp_path / "trees.nc")
    rivals = [tmp_path / "gp.nc", tmp_path / "trees.nc"]
    evaluate(EVALUATE, predictions, data, tmp_path / "beside.json", rival=rivals)
    alone, beside = read(tmp_path / "alone.json"), read(tmp_path / "beside.json")
    found = beside.pop("rivals")
    assert beside == alone
    assert "rivals" not in alone
    assert found["trees"] == {"missing": "sklearn"}
    assert {*found["gp"]["test"]} == {*alone["test"]}
    assert found["gp"]["predictive_noise"]["fitted_on"] == "val"
    assert {*found["gp"]["own"]} == {"coverage_68", "coverage_95", "lppd"}
    gp, test = rival_of(open_artifact(tmp_path / "gp.nc", "rival")), dataset.split == 2
    error = gp.prediction.function.mean(axis=0)[test] - np.log10(dataset.observed[test])
    assert found["gp"]["test"]["rmse_log10"] == pytest.approx(np.sqrt(np.mean(error**2)))


def test_a_rival_of_another_dataset_is_refused(
    process: Path, make_predictions: MakePredictions, dataset: Dataset, tmp_path: Path
) -> None:
    other = dataset._replace(split=dataset.split[::-1].copy())
    predictions, data = make_predictions(tmp_path, other)
    with refused("commands.other_dataset_predicted", predictions=process, dataset=data):
        evaluate(EVALUATE, predictions, data, tmp_path / "out.json", rival=[process])


@pytest.mark.parametrize(
    ("changes", "received"),
    [({"target_names": ("a", "b")}, "2 targets"), ({"scale": "classes"}, "classes")],
)
def test_several_targets_and_classes_are_refused(
    dataset: Dataset, tmp_path: Path, changes: dict[str, Any], received: str
) -> None:
    target = dataset.transforms["target"]
    if "scale" in changes:
        changed = dataset._replace(transforms=dataset.transforms | {"target": target | changes})
    else:
        units = dataset.units | {"a": "pb", "b": "pb"}
        changed = dataset._replace(target_names=changes["target_names"], units=units)
    write_dataset(tmp_path / "d.nc", changed, {})
    with refused("commands.rival_of_one_target", received=received):
        rival(spec(GP), tmp_path / "d.nc", tmp_path / "gp.nc")
    assert not (tmp_path / "gp.nc").exists()


def test_fewer_train_rows_than_a_rival_learns_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    split = np.where(np.arange(len(dataset.split)) < 2, 0, 2)
    data, out = tmp_path / "data.nc", tmp_path / "out.nc"
    write_dataset(data, dataset._replace(split=split), {})
    with refused("commands.few_rows_of_rival", kind="crepes", rows=2, least=3):
        rival(spec({"kind": "crepes"}), data, out, tmp_path / "out.json")
    assert not out.exists()
