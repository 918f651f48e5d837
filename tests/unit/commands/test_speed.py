"""Timings of networks: one row each, of plausible order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nlobayes.artifacts.files import read_csv
from nlobayes.commands.pipeline import speed as module
from nlobayes.commands.pipeline.speed import speed
from tests.refusals import refused

LOADINGS = 50


def spec(*widths: int) -> str:
    runs: list[dict[str, Any]] = [
        {
            "run": f"n{width}",
            "model": {
                "network": {"hidden": [width]},
                "prior": {"kind": "fan_in"},
                "likelihood": {"kind": "gaussian", "sigma": 0.2},
                "precision": "float64",
            },
            "integration_steps": 10 if width < 3 else None,
            "most_gradients": None if width < 3 else 4096,
        }
        for width in widths
    ]
    return json.dumps({"runs": runs})


@pytest.fixture
def timed(
    dataset_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Times of a small and a large network, the large one sampled by NUTS; with few trials."""
    for name, number in {"DRAWS": 100, "TRIALS": 3, "LOADINGS": LOADINGS}.items():
        monkeypatch.setattr(module, name, number)
    out, loadings = tmp_path / "speed.csv", tmp_path / "loadings.csv"
    speed(spec(2, 50), [dataset_path] * 2, out, loadings)
    return read_csv(out).set_index("run"), read_csv(loadings)


def test_every_network_has_its_times(timed: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table, _ = timed
    assert table["parameters"].tolist() == [6 * 2 + 2 + 1, 6 * 50 + 50 + 1]
    assert table["rows"].tolist() == [30, 30]
    assert table["trials"].tolist() == [3, 3]
    small, large = table.loc["n2"], table.loc["n50"]
    assert small["seconds_per_draw"] == pytest.approx(10 * small["gradient_ms"] / 1e3)
    assert np.isnan(small["seconds_per_draw_at_most"])
    assert np.isnan(large["seconds_per_draw"])  # NUTS has no fixed length, but a maximum
    assert large["seconds_per_draw_at_most"] == pytest.approx(4.096 * large["gradient_ms"])
    times = table.filter(regex="_ms$")
    assert [*times] == [
        "gradient_ms",
        *(f"predict_{count}_ms" for count in (1, 16, 256, 4096)),
        *(f"raw_{count}_ms" for count in (1, 16, 256, 4096)),
        "load_ms",
    ]
    assert ((times > 0) & (times < 10_000)).all(axis=None)
    for name in times:
        assert (table[f"{name}_least"] <= table[name]).all()
    assert large["predict_4096_ms"] > large["predict_1_ms"]
    assert large["raw_4096_ms"] > small["raw_4096_ms"]
    assert (table["cores"] > 0).all()


def test_every_loading_is_kept(timed: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table, loadings = timed
    assert loadings["parameters"].value_counts().to_dict() == dict.fromkeys(
        table["parameters"], LOADINGS
    )
    of_each = loadings.groupby("run")["load_ms"]
    for name, expected in {
        "load_ms": of_each.median(),
        "load_ms_mean": of_each.mean(),
        "load_ms_least": of_each.min(),
        "load_ms_q16": of_each.quantile(0.16),
        "load_ms_q97_5": of_each.quantile(0.975),
    }.items():
        np.testing.assert_allclose(table[name], expected[table.index], rtol=1e-6)


def test_a_dataset_for_each_network_is_required(dataset_path: Path, tmp_path: Path) -> None:
    out, loadings = tmp_path / "speed.csv", tmp_path / "loadings.csv"
    with refused("commands.unequal_datasets", datasets=1, networks=2):
        speed(spec(2, 3), [dataset_path], out, loadings)
    assert not out.exists()
    assert not loadings.exists()
