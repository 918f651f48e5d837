"""A run whose target is relative to a reference: every step multiplies the reference back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from nlobayes import Surrogate
from nlobayes.artifacts import contents
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.surrogate_file import read_surrogate
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.export import export
from nlobayes.commands.pipeline.posterior_predictive import posterior_predictive
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.commands.tools.predict import predict
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.splits import TEST
from nlobayes.data.table_files import to_csv_text
from nlobayes.surrogate.surrogate import Engine
from nlobayes.types import Dataset, MAPEstimate, NamedArrays
from tests.refusals import refused
from tests.unit.commands import linear

CALCULATION = {"pair": [1, 1], "sqrt_s_tev": 13.0, "squark_mass_gev": 3000.0}
KINDS: dict[str, dict[str, Any]] = {
    "column": {"relative_to": {"column": "lo_pb"}},
    "born": {"relative_to": {"calculation": "born", **CALCULATION}},
    "nlo at Q/2": {"relative_to": {"calculation": "nlo", "mu_over_q": 0.5, **CALCULATION}},
    "column, difference": {"relative_to": {"column": "lo_pb"}, "scale": "identity"},
    "born, difference": {
        "relative_to": {"calculation": "born", **CALCULATION},
        "scale": "identity",
        "unit": "fb",
    },
}
CHAINS, DRAWS, SEED = 2, 15, 4
FACTS = ("activation", "columns", "target", "transforms", "units", "noise", "domain", "verdict")


class Made(NamedTuple):
    """The files of a run of a linear network with random draws."""

    dataset: Path
    thinned: Path
    predictions: Path
    scores: Path
    surrogate: Path
    drawn: np.ndarray
    data: Dataset

    def expected(self) -> np.ndarray:
        """Return f (draw, point): network units, times sd, plus mean, plus the reference."""
        constants, reference = self.data.transforms["target"], self.data.relative_to
        assert reference is not None
        f = self.drawn @ linear.design(self.data).T * constants["sd"] + constants["mean"]
        return f + (np.log10(reference) if constants["scale"] == "log10" else reference)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "points.csv"
    path.write_text(to_csv_text(scan_table(2, 90, Settings(13.0, 3000.0))))
    return path


@pytest.fixture(scope="module", params=KINDS)
def made(
    request: pytest.FixtureRequest, table: Path, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    return make(table, KINDS[request.param], tmp_path_factory.mktemp("run"))


def make(table: Path, target: dict[str, Any], folder: Path) -> Made:
    """Prepare, draw from a Gaussian, propagate, evaluate and export."""
    prepare(spec_of(target), table, folder / "dataset.nc")
    data = contents.read_dataset(folder / "dataset.nc")
    drawn = 0.3 * np.random.default_rng(SEED).normal(size=(CHAINS * DRAWS, 6))
    thinned = linear.write_thinned(folder / "thinned.nc", data, drawn.reshape(CHAINS, DRAWS, 6))
    start = folder / "start.nc"
    contents.write_map(start, _start(drawn[0]), {})
    names = ("predictions.nc", "scores.json", "surrogate.nc")
    predictions, scores, surrogate = (folder / name for name in names)
    model = json.dumps({"model": linear.MODEL})
    posterior_predictive(model, thinned, folder / "dataset.nc", [start], predictions)
    scoring = {"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 1}
    evaluate(json.dumps(scoring), predictions, folder / "dataset.nc", scores)
    diagnostics = folder / "diagnostics.json"
    write_json(diagnostics, {"checks": linear.CHECKS, "converged": True})
    spec = json.dumps({"network": linear.MODEL["network"], "export": {"tolerance": 0.5}})
    export(spec, thinned, folder / "dataset.nc", diagnostics, scores, surrogate)
    whole = json.dumps({"network": linear.MODEL["network"], "export": {"tolerance": None}})
    export(whole, thinned, folder / "dataset.nc", diagnostics, scores, surrogate)
    return Made(folder / "dataset.nc", thinned, predictions, scores, surrogate, drawn, data)


def spec_of(target: dict[str, Any]) -> str:
    return json.dumps(
        {
            "features": {"map": "channels"},
            "target": target,
            "split": {"train": 40, "validation": 25, "test": 25},
            "reference_points": 12,
            "units": {},
        }
    )


def _start(parameters: np.ndarray) -> MAPEstimate:
    named = NamedArrays(
        {"weights_1": parameters[:-1, np.newaxis], "biases_1": parameters[-1:]},
        {"weights_1": ("feature", "output"), "biases_1": ("output",)},
        {"feature": list(range(5)), "output": [0]},
    )
    one = np.zeros(1)
    return MAPEstimate(
        0, parameters, named, one, one, np.zeros(1, np.int32), parameters[np.newaxis]
    )


def points_of(made: Made) -> np.ndarray:
    """Return the points of a user, with the reference if it is a column."""
    assert made.data.relative_to is not None
    relative_to = made.data.transforms["target"]["relative_to"]
    behind = [made.data.relative_to] if "column" in relative_to else []
    return np.column_stack([made.data.inputs, *behind])


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_the_surrogate_gives_the_target_back(made: Made, engine: Engine) -> None:
    """To 1e-6 dex, or 1e-6 of the largest target, from the columns of a user."""
    surrogate = Surrogate.load(made.surrogate, engine)
    expected = made.expected()
    unit = 1.0 if surrogate.scale == "log10" else np.abs(made.data.observed).max()
    found = surrogate.sample(points_of(made), noise=False, on="model")
    order = np.argsort(expected[:, 0])
    np.testing.assert_allclose(
        found[np.argsort(found[:, 0])], expected[order], rtol=0, atol=1e-6 * unit
    )
    predicted = surrogate.predict(points_of(made), on="model")
    np.testing.assert_allclose(predicted.mean, expected.mean(axis=0), rtol=0, atol=1e-6 * unit)
    relative_to = made.data.transforms["target"]["relative_to"]
    what = relative_to.get("calculation", relative_to.get("column"))
    assert what in surrogate.origin["relative_to"]
    known = surrogate.reference(points_of(made))
    assert known is not None
    np.testing.assert_allclose(known, np.asarray(made.data.relative_to), rtol=1e-12)
    known[:] = 0
    again = surrogate.reference(points_of(made)[:1])
    assert again is not None
    assert again[0] == pytest.approx(np.asarray(made.data.relative_to)[0], rel=1e-12)
    assert surrogate.reference(points_of(made)[:1]) == again


def test_predictions_and_scores_are_of_the_target(made: Made) -> None:
    f = open_artifact(made.predictions, "predictions").groups["predictions"]["f"].values
    scale = np.abs(made.expected()).max()
    np.testing.assert_allclose(
        f.reshape(-1, f.shape[-1]), made.expected(), rtol=0, atol=1e-6 * scale
    )
    scores, test = json.loads(made.scores.read_text()), made.data.split == TEST
    log10 = made.data.transforms["target"]["scale"] == "log10"
    observed = np.log10(made.data.observed) if log10 else made.data.observed
    average = np.mean if log10 else np.median
    error = average(made.expected(), axis=0)[test] - observed[test]
    name = "rmse_log10" if log10 else "rmse_target"
    assert scores["test"][name] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-4)
    fitted = np.linalg.lstsq(
        linear.design(made.data)[made.data.split == 0],
        made.data.target[made.data.split == 0],
        rcond=None,
    )[0]
    assert made.data.relative_to is not None
    reference = np.log10(made.data.relative_to) if log10 else made.data.relative_to
    constants = made.data.transforms["target"]
    plane = linear.design(made.data) @ fitted * constants["sd"] + constants["mean"] + reference
    rmse = np.sqrt(np.mean((plane - observed)[test] ** 2))
    assert scores["linear"]["test"][name] == pytest.approx(rmse, rel=1e-4)


def rewrite(made: Made, path: Path, transforms: dict[str, Any]) -> Path:
    """Write the surrogate again with other transforms."""
    stored = read_surrogate(made.surrogate)
    facts = {name: stored.facts[name] for name in (*FACTS, "bibtex")}
    facts["transforms"] = facts["transforms"] | transforms
    contents.write_surrogate(path, stored._replace(facts=facts), made.data, {"verb": "export"})
    return path


def test_points_must_carry_the_column(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make(table, KINDS["column"], tmp_path)
    options: dict[str, Any] = {"out": str(tmp_path / "p.csv"), "quantiles": "0.5"}
    predict(run.surrogate, str(table), **options)
    found = pd.read_csv(tmp_path / "p.csv", comment="#")
    assert {"lo_pb:pb", "sigma_pb_mean:pb"} <= {*found}
    frame = pd.read_csv(table, comment="#").drop(columns="lo_pb:pb")
    frame.to_csv(tmp_path / "without.csv", index=False)
    with pytest.raises(ValueError, match="lo_pb"):
        predict(run.surrogate, str(tmp_path / "without.csv"), **options)
    capsys.readouterr()


def test_another_version_of_the_engine_is_refused(table: Path, tmp_path: Path) -> None:
    born = make(table, KINDS["born"], tmp_path)
    target = born.data.transforms["target"]
    old = target["relative_to"] | {"engine": "0"}
    path = rewrite(born, tmp_path / "old.nc", {"target": target | {"relative_to": old}})
    with refused("references.other_engine", received="0"):
        Surrogate.load(path)
