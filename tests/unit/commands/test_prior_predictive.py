"""The tables of a prior predictive check, compared with draws made without the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.files import read_csv
from nlobayes.commands.pipeline.prior_predictive import prior_predictive
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import Split
from nlobayes.types import Dataset
from tests.refusals import refused

SCALE, DRAWS = 1.5, 1500
MODEL: dict[str, Any] = {
    "network": {"hidden": [2]},
    "prior": {"kind": "fan_in", "scale": SCALE},
    "likelihood": {"kind": "gaussian", "sigma": 0.2},
    "precision": "float64",
}
COLUMNS = {
    "prior_draws": ["output", "draw", "covariate", "f"],
    "prior_quantiles": [
        *("output", "covariate", "q2_5", "q16", "q50", "q84", "q97_5", "spread", "observed"),
    ],
    "prior_scales": ["output", "draw", "mean", "sd", "step", "range"],
    "labels": ["covariate", "target", "unit", "scale"],
}
Tables = dict[str, pd.DataFrame]


def tables_of(dataset: Path, folder: Path, model: dict[str, Any] | None = None, **job: Any) -> Path:
    """Write the tables of a model and return their folder."""
    spec = {"model": MODEL | (model or {}), "covariate": "m1", "seed": 1} | job
    prior_predictive(json.dumps(spec), dataset, folder / "plots", folder / "record.json")
    return folder / "plots"


def read(folder: Path) -> Tables:
    return {path.stem: read_csv(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def plots(dataset_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of a network of 5, 2 and 1 units."""
    return tables_of(dataset_path, tmp_path_factory.mktemp("prior"), draws=DRAWS)


@pytest.fixture(scope="module")
def by_hand(dataset: Dataset) -> np.ndarray:
    """Log10 of the cross section of 5000 networks (draw, reference_point) along |m1|, by NumPy."""
    rng = np.random.default_rng(17)
    order = np.argsort(np.abs(dataset.inputs[dataset.reference, 0]))
    features = dataset.features[dataset.reference][order]
    first = rng.normal(0, SCALE / np.sqrt(5), (5000, 5, 2))
    last = rng.normal(0, SCALE / np.sqrt(2), (5000, 2, 1))
    hidden = np.tanh(features @ first + rng.normal(0, SCALE, (5000, 1, 2)))
    outputs = (hidden @ last + rng.normal(0, 1, (5000, 1, 1)))[..., 0]
    logs = np.log10(dataset.observed[dataset.split == 0])
    return np.asarray(logs.mean() + logs.std() * outputs)


def test_tables_have_the_columns_and_rows_of_the_contract(plots: Path, dataset: Dataset) -> None:
    tables, rows = read(plots), len(dataset.reference)
    assert {name: [*table.columns] for name, table in tables.items()} == COLUMNS
    assert {name: len(table) for name, table in tables.items()} == {
        **{"prior_draws": 24 * rows, "prior_quantiles": rows, "prior_scales": 1 + DRAWS},
        "labels": 1,
    }
    numbers = [tables[name] for name in ("prior_draws", "prior_quantiles")]
    assert all(np.isfinite(table.to_numpy()).all() for table in numbers)
    assert np.isfinite(tables["prior_scales"].iloc[1:].to_numpy()).all()


def test_scales_are_distributed_as_by_hand(plots: Path, by_hand: np.ndarray) -> None:
    scales = read(plots)["prior_scales"].iloc[1:]
    expected = {
        "mean": by_hand.mean(axis=1),
        "sd": by_hand.std(axis=1),
        "step": np.abs(np.diff(by_hand)).mean(axis=1),
        "range": np.ptp(by_hand, axis=1),
    }
    for name, values in expected.items():
        assert ks_2samp(scales[name], values).pvalue > 0.005, name


def test_quantiles_are_those_by_hand(plots: Path, by_hand: np.ndarray) -> None:
    """Within five standard errors of the median, twice as much in the tails."""
    table, error = read(plots)["prior_quantiles"], by_hand.std(axis=0) / np.sqrt(DRAWS)
    for level, allowed in {"2_5": 14, "16": 7, "50": 7, "84": 7, "97_5": 14}.items():
        expected = np.quantile(by_hand, float(level.replace("_", ".")) / 100, axis=0)
        assert (np.abs(table[f"q{level}"] - expected) < allowed * error).all(), level


def test_the_target_stands_beside_the_draws(plots: Path, dataset: Dataset) -> None:
    tables, rows = read(plots), dataset.reference
    order = np.argsort(np.abs(dataset.inputs[rows, 0]))
    observed = np.log10(dataset.observed[rows])[order]
    np.testing.assert_allclose(tables["prior_quantiles"]["observed"], observed, rtol=1e-7)
    target = tables["prior_scales"].iloc[0]
    assert np.isnan(target["draw"])
    assert target["sd"] == pytest.approx(observed.std())
    assert target["range"] == pytest.approx(np.ptp(observed))
    assert tables["labels"].iloc[0].tolist() == ["|m1| (GeV)", "sigma_pb", "pb", "log10"]


def test_another_seed_gives_other_draws_and_the_same_seed_equal_bytes(
    plots: Path, dataset_path: Path, tmp_path: Path
) -> None:
    again = tables_of(dataset_path, tmp_path / "again", draws=DRAWS)
    other = tables_of(dataset_path, tmp_path / "other", draws=DRAWS, seed=2)
    for name in COLUMNS:
        before, after = ((folder / f"{name}.csv").read_bytes() for folder in (plots, again))
        assert before == after
    for name in ("prior_draws", "prior_quantiles", "prior_scales"):
        assert (other / f"{name}.csv").read_bytes() != (plots / f"{name}.csv").read_bytes()


def test_no_target_reaches_the_draws(plots: Path, dataset: Dataset, tmp_path: Path) -> None:
    """Only the scale of the target matters, which the transform stores."""
    write_dataset(tmp_path / "d.nc", dataset._replace(target=dataset.target[::-1].copy()), {})
    found = tables_of(tmp_path / "d.nc", tmp_path, draws=DRAWS) / "prior_draws.csv"
    assert found.read_bytes() == (plots / "prior_draws.csv").read_bytes()


def made(folder: Path, target: np.ndarray, names: tuple[str, ...], scale: str) -> Path:
    """Write a dataset of one input from -3 to 3, its rows in that order."""
    x = np.linspace(-3, 3, len(target))[:, None]
    units = {"m1": "1"} | dict.fromkeys(names, "cm")
    choices = Choices("raw", True, scale, True, Split(30, 15, 15, True, 0), 12)
    write_dataset(
        folder / "d.nc", make_dataset(Selection(x, target, units), ("m1",), names, choices), {}
    )
    return folder / "d.nc"


X = np.linspace(-3, 3, 60)


@pytest.mark.parametrize(
    ("kind", "labels"), [("categorical", [1.0, 2.0, 5.0]), ("bernoulli", [0.0, 1.0])]
)
@pytest.mark.by_day(1)
def test_classes_have_probabilities(tmp_path: Path, kind: str, labels: list[float]) -> None:
    rng = np.random.default_rng(4)
    path = made(tmp_path, rng.choice(labels, 60), ("kind",), "classes")
    tables = read(tables_of(path, tmp_path, {"likelihood": {"kind": kind}}))
    names = ["largest probability", *(f"probability of class {label:g}" for label in labels)]
    assert tables["labels"]["target"].tolist() == names
    f = tables["prior_draws"]["f"].to_numpy().reshape(len(names), 24, 12)
    np.testing.assert_allclose(f[1:].sum(axis=0), 1, atol=1e-7)
    np.testing.assert_allclose(f[0], f[1:].max(axis=0), atol=1e-12)
    observed = tables["prior_quantiles"]["observed"].to_numpy().reshape(len(names), 12)
    assert np.isnan(observed[0]).all()
    assert (observed[1:].sum(axis=0) == 1).all()
    assert {*observed[1:].ravel()} == {0, 1}


def test_a_wider_prior_is_surer_of_its_classes(tmp_path: Path) -> None:
    path = made(tmp_path, (X > 0).astype(float), ("kind",), "classes")
    means = [
        read(tables_of(path, tmp_path / str(scale), model))["prior_scales"].query("output == 0")
        for scale in (0.3, 30)
        for model in [
            {"prior": {"kind": "fan_in", "scale": scale}, "likelihood": {"kind": "bernoulli"}}
        ]
    ]
    narrow, wide = (table["mean"].median() for table in means)
    assert narrow < 0.8 < 0.97 < wide


def test_each_of_several_targets_is_on_its_own_scale(tmp_path: Path) -> None:
    path = made(tmp_path, np.column_stack([X, 1000 + 100 * X]), ("a", "b"), "identity")
    tables = read(tables_of(path, tmp_path))
    assert tables["labels"][["target", "unit"]].to_numpy().tolist() == [["a", "cm"], ["b", "cm"]]
    medians = tables["prior_quantiles"].groupby("output")["q50"].mean()
    assert abs(medians[0]) < 2
    assert abs(medians[1] - 1000) < 200
    targets = tables["prior_scales"].query("draw.isna()")
    assert targets["sd"].iloc[1] == pytest.approx(100 * targets["sd"].iloc[0])


@pytest.mark.parametrize(
    ("job", "fault", "place"),
    [
        ({"draws": 0}, "greater_than_equal", "draws"),
        ({"model": {}}, "missing", "model.network"),
    ],
)
def test_bad_specifications_are_refused(
    dataset_path: Path, tmp_path: Path, job: dict[str, Any], fault: str, place: str
) -> None:
    spec = {"model": MODEL, "covariate": "m1", "seed": 1} | job
    with refused(fault) as caught:
        prior_predictive(json.dumps(spec), dataset_path, tmp_path / "plots")
    assert caught.value.fields["places"][0] == place
    assert not (tmp_path / "plots").exists()
