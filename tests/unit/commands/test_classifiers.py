"""Classes from a posterior to the file of a classifier, and to the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.csv as pa_csv
import pytest
import xarray as xr

from nlobayes import Classifier
from nlobayes.artifacts.contents import named_group, write_dataset
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.artifacts.thinned import flatten
from nlobayes.commands.pipeline.export import export
from nlobayes.commands.tools.predict import predict
from nlobayes.commands.tools.serve import serve
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.draws_at_points import predict_draws
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, NamedArrays
from tests.refusals import refused

LIKELIHOODS: dict[str, dict[str, Any]] = {
    "softmax": {"kind": "categorical", "temperature": 2.0},
    "one_logit": {"kind": "bernoulli", "temperature": 0.5},
}
NETWORK = {"hidden": [3]}
SCORES = {"accuracy": 0.9, "brier": 0.1, "lppd": -0.2, "ece": 0.02, "points": 15}
CHECKS = {"ece": {"value": 0.02, "low": None, "high": 0.1, "passed": True}}


class Made(NamedTuple):
    """A file, its dataset, and the probabilities of its draws at the points of the dataset."""

    path: Path
    data: Dataset
    probabilities: np.ndarray


@pytest.fixture(params=[*LIKELIHOODS])
def made(
    request: pytest.FixtureRequest, points: Selection, choices: Choices, tmp_path: Path
) -> Made:
    """Random draws of a network of three classes, and of one of two classes with one output."""
    likelihood = LIKELIHOODS[request.param]
    labels = (1.0, 2.0, 5.0) if likelihood["kind"] == "categorical" else (0.0, 1.0)
    outputs = 3 if len(labels) == 3 else 1
    selection = Selection(
        points.inputs[:, :2], np.resize(labels, len(points.target)), {"a": "", "b": "", "kind": ""}
    )
    chosen = choices._replace(feature_map="raw", target_scale="classes")
    data = make_dataset(selection, ("a", "b"), ("kind",), chosen)
    stored = _weights(outputs)
    model = {"network": NETWORK, "prior": {"kind": "gaussian"}, "likelihood": likelihood}
    job = ModelJob.model_validate(model | {"precision": "float64"})
    of_draws = predict_draws(flatten(stored), job, data).function
    return Made(_exported(tmp_path, data, stored, likelihood["temperature"]), data, of_draws)


def _weights(outputs: int) -> NamedArrays:
    rng = np.random.default_rng(2)
    shapes = {"weights_1": (2, 3), "biases_1": (3,)}
    shapes |= {"weights_2": (3, outputs), "biases_2": (outputs,)}
    values = {name: rng.normal(size=(2, 4, *shape)) for name, shape in shapes.items()}
    dims = {name: tuple(f"{name}_{i}" for i in range(len(s))) for name, s in shapes.items()}
    return NamedArrays(values, dims, {})


def _exported(folder: Path, data: Dataset, stored: NamedArrays, temperature: float) -> Path:
    groups = {"posterior": named_group(stored, ("chain", "draw"))}
    groups["observed_data"] = xr.Dataset({"target": (("point",), np.zeros(3))})
    made_by = {"device": "cpu", "precision": "float64", "exact": True, "checks": {}}
    write_groups(folder / "thinned.nc", "thinned", groups, made_by)
    write_dataset(folder / "dataset.nc", data, {})
    scores = {"val": SCORES, "test": SCORES, "calibration_checks": CHECKS}
    (folder / "evaluation.json").write_text(json.dumps(scores))
    (folder / "diagnostics.json").write_text(json.dumps({"checks": {}, "converged": True}))
    spec = {"network": NETWORK, "export": {"draws": 8}, "temperature": temperature}
    names = ("thinned.nc", "dataset.nc", "diagnostics.json", "evaluation.json")
    thinned, dataset, diagnostics, evaluation = (folder / name for name in names)
    export(json.dumps(spec), thinned, dataset, diagnostics, evaluation, folder / "classes.nc")
    return folder / "classes.nc"


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_the_file_says_what_the_posterior_says(made: Made, engine: Any) -> None:
    """The weights include the temperature and the single logit of two classes."""
    classifier = Classifier.load(made.path, engine)
    found = classifier.sample(made.data.inputs)
    np.testing.assert_allclose(found, made.probabilities, rtol=1e-5, atol=1e-7)
    assert classifier.facts["scores"]["test"] == SCORES
    assert classifier.failed_checks == {"convergence": [], "calibration": []}


def test_predict_writes_the_probability_of_every_class(made: Made, tmp_path: Path) -> None:
    a, b = made.data.inputs.T
    lines = [
        "a,b",
        *(f"{one!r},{other!r}" for one, other in zip(a.tolist(), b.tolist(), strict=True)),
    ]
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    predict(made.path, str(tmp_path / "points.csv"), out=str(tmp_path / "out.csv"))
    columns = pa_csv.read_csv(tmp_path / "out.csv").to_pydict()
    classifier = Classifier.load(made.path)
    found = classifier.predict(made.data.inputs)
    for label, probability in zip(classifier.labels, found.probability.T, strict=True):
        np.testing.assert_allclose(columns[f"probability_{label}"], probability, rtol=1e-6)
    np.testing.assert_array_equal(columns["kind"], found.label)
    np.testing.assert_array_equal(columns["domain"], classifier.domain(made.data.inputs))
    assert {"entropy", "mutual_information"} <= columns.keys()


def test_page_and_service_are_of_numbers(made: Made) -> None:
    with refused("commands.serves_numbers", where=made.path, target="kind"):
        serve(made.path)


@pytest.mark.parametrize(
    "options",
    [
        *({"unit": "fb"}, {"draws": 2}, {"scale": "log10"}, {"slha_out": Path("a.slha")}),
        {"max_error": "1%"},
    ],
)
def test_options_of_numbers_are_refused(made: Made, tmp_path: Path, options: Any) -> None:
    out = tmp_path / "out.csv"
    with refused("commands.option_of_numbers", target="kind"):
        predict(made.path, "points.csv", out=str(out), **options)
    assert not out.exists()
