"""Theory errors from the columns of a table to the surrogate that predicts them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pytest
import xarray as xr

from nlobayes import Surrogate
from nlobayes.artifacts.contents import named_group, read_dataset
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.artifacts.thinned import flatten
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.export import export
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.commands.tools.predict import predict
from nlobayes.data.splits import TEST, TRAIN
from nlobayes.data.table_files import to_csv_text
from nlobayes.draws_at_points import predict_draws
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, NamedArrays, Table
from tests.refusals import refused
from tests.unit.conftest import predicted_groups

COLUMNS = ("m1", "n11", "n12", "n13", "n14")
ROWS, DRAWS, HIDDEN = 200, 12, 6
THEORY = {"scale": ["scale_up", "scale_down"], "pdf": "pdf_error_fb"}
NAMES = (
    "sigma_pb",
    *(f"{name}_over_sigma_pb" for name in ("scale_up", "scale_down", "pdf_error_fb")),
)
SPEC: dict[str, Any] = {
    "features": {},
    "target": {"theory": THEORY},
    "split": {"train": 100, "validation": 50, "test": 50},
    "reference_points": 10,
    "units": {},
}
MODEL = {
    "network": {"hidden": [HIDDEN]},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float64",
}
K_FACTOR: dict[str, Any] = {"relative_to": {"column": "lo_pb"}}
Change = Callable[[dict[str, np.ndarray]], None]


def table(change: Change | None = None) -> Table:
    """Make cross sections in pb, scale variations, and an error of parton distributions in fb."""
    rng = np.random.default_rng(3)
    mass = rng.uniform(100, 1000, ROWS)
    mixing = rng.normal(size=(ROWS, 4))
    mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
    sigma = np.exp(-mass / 150)
    columns = dict(zip(COLUMNS, np.column_stack([mass, mixing]).T, strict=True))
    columns |= {"sigma_pb": sigma, "scale_up": sigma * (1.03 + mass / 5e4)}
    columns |= {"lo_pb": sigma / (1.3 + 0.1 * mixing[:, 0])}
    columns |= {"scale_down": sigma * (0.98 - mass / 5e4)}
    columns |= {"pdf_error_fb": 1000 * sigma * (0.02 + mass / 2e4)}
    if change:
        change(columns)
    units = {"m1": "GeV", **dict.fromkeys(COLUMNS[1:], "1"), "pdf_error_fb": "fb"}
    in_pb = ("sigma_pb", "lo_pb", "scale_up", "scale_down")
    return Table(columns, units | dict.fromkeys(in_pb, "pb"), {})


def prepared(folder: Path, change: Change | None = None, **target: Any) -> Dataset:
    """Make the dataset of the table."""
    (folder / "table.csv").write_text(to_csv_text(table(change)))
    spec = SPEC | {"target": {"theory": THEORY, **target}}
    prepare(json.dumps(spec), folder / "table.csv", folder / "dataset.nc")
    return read_dataset(folder / "dataset.nc")


def test_errors_are_learned_as_ratios_in_one_unit(tmp_path: Path) -> None:
    data, rows = prepared(tmp_path), table().columns
    assert data.target_names == NAMES
    assert [data.units[name] for name in NAMES] == ["pb", "", "", ""]
    sigma = rows["sigma_pb"]
    expected = [sigma, rows["scale_up"] / sigma, rows["scale_down"] / sigma]
    expected.append(rows["pdf_error_fb"] / 1000 / sigma)
    np.testing.assert_allclose(data.observed, np.column_stack(expected), rtol=1e-12)
    assert data.transforms["theory"] == {"scale": [*NAMES[1:3]], "pdf": [NAMES[3]]}
    scaled = np.log10(data.observed) - data.transforms["target"]["mean"]
    np.testing.assert_allclose(data.target, scaled / data.transforms["target"]["sd"])


def test_a_published_error_may_be_negative(tmp_path: Path) -> None:
    def negative(columns: dict[str, np.ndarray]) -> None:
        columns["pdf_error_fb"] = -columns["pdf_error_fb"]

    data = prepared(tmp_path, negative, theory={"combined": "pdf_error_fb"})
    expected = table().columns["pdf_error_fb"] / 1000 / table().columns["sigma_pb"]
    np.testing.assert_allclose(data.observed[:, 1], expected, rtol=1e-12)
    with refused("data.request_refused"):
        prepared(tmp_path, negative, theory={"pdf": "pdf_error_fb"})


def test_beside_a_reference_errors_stay_ratios_to_the_target(tmp_path: Path) -> None:
    """The first output is the K-factor, which errors do not depend on."""
    data, alone = prepared(tmp_path, None, **K_FACTOR), prepared(tmp_path)
    np.testing.assert_array_equal(data.observed, alone.observed)
    np.testing.assert_allclose(data.target[:, 1:], alone.target[:, 1:], atol=1e-13)
    constants, lo = data.transforms["target"], table().columns["lo_pb"]
    left = np.log10(data.observed[:, 0] / lo)
    expected = (left - constants["mean"][0]) / constants["sd"][0]
    np.testing.assert_allclose(data.target[:, 0], expected, atol=1e-12)
    train = data.split == TRAIN
    np.testing.assert_allclose(data.target[train].mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ({"theory": {}}, "study.no_theory"),
        ({"theory": {**THEORY, "scale_errors": ["a", "b"]}}, "study.scale_twice"),
        ({"scale": "identity"}, "study.theory_of_one_log10"),
        ({"column": ["sigma_pb", "lo_pb"]}, "study.theory_of_one_log10"),
        ({"scale_variations": ["scale_up"]}, "study.of_one_column"),
        ({"relative_to": {"column": "scale_up"}}, "references.of_itself"),
        ({"relative_to": {"column": "lo_pb"}, "column": ["a", "b"]}, "study.theory_of_one_log10"),
        ({"theory": {"pdf": "absent"}}, "data.request_refused"),
    ],
)
def test_what_has_no_ratios_is_refused(tmp_path: Path, target: Any, code: str) -> None:
    with refused(code):
        prepared(tmp_path, **target)
    assert not (tmp_path / "dataset.nc").exists()


class Exported:
    """A network of random draws around the true ratios, scored and written as a surrogate."""

    def __init__(self, folder: Path, target: dict[str, Any]) -> None:
        self.data, self.folder = prepared(folder, **target), folder
        behind = [] if self.data.relative_to is None else [self.data.relative_to]
        self.points = np.column_stack([self.data.inputs, *behind])
        self.model = ModelJob.model_validate(MODEL)
        self.drawn = flatten(self._weights())
        self.predicted = predict_draws(self.drawn, self.model, self.data)
        self._score()
        network = {"network": MODEL["network"], "export": {"draws": DRAWS, "tolerance": None}}
        names = ("thinned.nc", "dataset.nc", "diagnostics.json", "evaluation.json")
        self.path = folder / "surrogate.nc"
        thinned, dataset, diagnostics, scores = (folder / name for name in names)
        export(json.dumps(network), thinned, dataset, diagnostics, scores, self.path)

    def _weights(self) -> NamedArrays:
        rng = np.random.default_rng(8)
        shapes = {"weights_1": (5, HIDDEN), "biases_1": (HIDDEN,)}
        shapes |= {"weights_2": (HIDDEN, len(NAMES)), "biases_2": (len(NAMES),)}
        values = {
            name: rng.normal(size=shape) + 0.05 * rng.normal(size=(2, DRAWS // 2, *shape))
            for name, shape in shapes.items()
        }
        dims = {name: tuple(f"{name}_{i}" for i in range(len(s))) for name, s in shapes.items()}
        stored = NamedArrays(values, dims, {})
        groups = {"posterior": named_group(stored, ("chain", "draw"))}
        groups["observed_data"] = xr.Dataset({"target": (("point",), np.zeros(3))})
        made = {"device": "cpu", "precision": "float64", "exact": True, "checks": {}}
        write_groups(self.folder / "thinned.nc", "thinned", groups, made)
        return stored

    def _score(self) -> None:
        draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(DRAWS // 2)})
        groups = predicted_groups(self.predicted, self.predicted, self.data, draws)
        files = [self.folder / name for name in ("predictions.nc", "dataset.nc", "evaluation.json")]
        write_groups(files[0], "predictions", groups, {"exact": True})
        spec = {"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3}
        evaluate(json.dumps(spec), files[0], files[1], files[2])
        verdict = {"checks": {}, "converged": True}
        (self.folder / "diagnostics.json").write_text(json.dumps(verdict))


@pytest.fixture(scope="module", params=[{}, K_FACTOR], ids=["itself", "K-factor"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(tmp_path_factory.mktemp("theory"), request.param)


def test_the_file_predicts_what_the_posterior_says_of_every_target(made: Exported) -> None:
    """Each error has its own draws and the noise that was fitted to it."""
    surrogate = Surrogate.load(made.path)
    assert surrogate.outputs == NAMES
    scores = json.loads((made.folder / "evaluation.json").read_text())["outputs"]
    functions = made.predicted.function
    for place, name in enumerate(NAMES):
        found = surrogate.predict(made.points, on="model", output=name)
        np.testing.assert_allclose(found.mean, functions[..., place].mean(axis=0), atol=1e-5)
        noise = scores[name]["predictive_noise"]["scale"]
        expected = np.hypot(functions[..., place].std(axis=0), noise)
        np.testing.assert_allclose(found.total_sd, expected, rtol=1e-4)


def test_coverage_of_every_component_is_scored(made: Exported) -> None:
    """Coverage on the test rows, counted here with the intervals of the surrogate."""
    surrogate, test = Surrogate.load(made.path), made.data.split == TEST
    scores = json.loads((made.folder / "evaluation.json").read_text())["outputs"]
    for place, name in enumerate(NAMES):
        found = surrogate.predict(made.points[test], quantiles=(0.16, 0.84), output=name)
        low, high = found.quantiles
        observed = made.data.observed[test, place]
        within = np.mean((low <= observed) & (observed <= high))
        assert scores[name]["test"]["coverage_68"] == pytest.approx(within, abs=0.021)  # one row


def test_predict_writes_the_errors_as_columns(made: Exported, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    predict(made.path, str(made.folder / "table.csv"), out=str(out))
    columns = pa_csv.read_csv(out).to_pydict()
    errors = Surrogate.load(made.path).errors(made.points)
    assert {name for name in columns if name.endswith("_rel")} == {f"{n}_rel" for n in errors}
    for name, values in errors.items():
        np.testing.assert_allclose(columns[f"{name}_rel"], values, rtol=1e-6)
