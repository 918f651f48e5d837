"""A network linearised at its MAPs, from the approximation to predictions, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from nlobayes import builder
from nlobayes.artifacts.contents import read_dataset, read_map, write_map
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.commands.pipeline.approximate import approximate
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.export import export
from nlobayes.commands.pipeline.posterior_predictive import posterior_predictive
from nlobayes.commands.pipeline.thin import thin
from nlobayes.commands.tools.sensitivity import sensitivity
from nlobayes.study.jobs import ModelJob
from tests.refusals import refused

MODES, DRAWS = 2, 12
MODEL: dict[str, Any] = {
    "network": {"hidden": [2], "activation": "tanh"},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float64",
}
METHOD = {"kind": "laplace", "predictive": "linearised", "modes": MODES, "draws": DRAWS}
SPEC = {"model": MODEL, "method": METHOD, "seed": 1}
DIAGNOSE = {"likelihood": MODEL["likelihood"], "thresholds": {}, "thinning_loss": 0.1}


class Made(NamedTuple):
    """The files of the run, one after the other."""

    starts: list[Path]
    posterior: Path
    diagnostics: Path
    thinned: Path
    table: Path
    predictions: Path


@pytest.fixture(scope="module")
def made(
    dataset_path: Path, make_start: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Made:
    model = builder.build_model(ModelJob.model_validate(MODEL), read_dataset(dataset_path))
    folder = tmp_path_factory.mktemp("linearised")
    starts = [folder / f"{mode}.nc" for mode in range(MODES)]
    for mode, path in enumerate(starts):
        start = make_start(mode, np.float64)
        named = builder.name_variables(model, start.position)
        write_map(path, start._replace(variables=named), {})
    names = ("posterior.nc", "d.json", "thinned.nc", "t.csv", "p.nc")
    files = Made(starts, *(folder / name for name in names))
    approximate(json.dumps(SPEC), dataset_path, starts, files.posterior)
    diagnose(json.dumps(DIAGNOSE), files.posterior, files.diagnostics)
    thin(files.posterior, files.diagnostics, dataset_path, files.thinned, files.table)
    job = json.dumps({"model": MODEL})
    posterior_predictive(job, files.thinned, dataset_path, starts, files.predictions)
    return files


def test_each_draw_keeps_the_map_that_it_is_linearised_at(made: Made) -> None:
    for path, kind in ((made.posterior, "posterior"), (made.thinned, "thinned")):
        assert read_attrs(path)["predictive"] == "linearised"
        centres = open_artifact(path, kind).groups["centres"]
        for mode, start in enumerate(made.starts):
            of_mode = slice(mode * DRAWS // MODES, (mode + 1) * DRAWS // MODES)
            for name, expected in read_map(start).variables.values.items():
                for one in centres[name].values[0, of_mode]:
                    np.testing.assert_allclose(one, expected, rtol=1e-12)


def test_diagnostics_have_the_log_evidence_of_each_map(made: Made, read: Any) -> None:
    evidence = read(made.diagnostics)["log_evidence"]
    np.testing.assert_array_equal(evidence, read_attrs(made.posterior)["log_evidence"])
    assert len(evidence) == MODES


def test_predictions_are_those_of_the_tangent_by_hand(made: Made, dataset_path: Path) -> None:
    """f at the MAP, and tanh's derivative by the chain rule; single precision is stored."""
    data, groups = read_dataset(dataset_path), open_artifact(made.thinned, "thinned").groups
    draws, centres = (
        {name: values.values[0] for name, values in groups[group].items()}
        for group in ("posterior", "centres")
    )
    moved, x = {n: draws[n] - c for n, c in centres.items()}, data.features
    hidden = np.tanh(x @ centres["weights_1"] + centres["biases_1"][:, None])
    before = x @ moved["weights_1"] + moved["biases_1"][:, None]
    change = (1 - hidden**2) * before @ centres["weights_2"] + hidden @ moved["weights_2"]
    value = hidden @ centres["weights_2"] + (centres["biases_2"] + moved["biases_2"])[:, None]
    target = data.transforms["target"]
    expected = (value + change)[..., 0] * target["sd"] + target["mean"]
    found = open_artifact(made.predictions, "predictions").groups["predictions"]["f"].values[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    stored = open_artifact(made.posterior, "posterior").groups["predictions"]["f"].values[0]
    np.testing.assert_allclose(
        stored * target["sd"] + target["mean"], expected[:, data.reference], rtol=1e-6
    )


def test_it_is_no_network_that_others_could_evaluate(
    made: Made, dataset_path: Path, tmp_path: Path
) -> None:
    exporting = json.dumps({"network": MODEL["network"], "export": {"tolerance": None}})
    evaluation = tmp_path / "e.json"
    evaluation.write_text(json.dumps({"calibration_checks": {}, "val": {}, "test": {}}))
    read = (made.thinned, dataset_path, made.diagnostics, evaluation)
    with refused("commands.linearised", where=made.thinned) as caught:
        export(exporting, *read, tmp_path / "s.nc")
    assert "without `predictive: linearised`" in str(caught.value)
    with refused("commands.linearised", where=made.thinned):
        sensitivity(made.thinned, dataset_path)
    assert not (tmp_path / "s.nc").exists()
