"""Timings of networks: one row each, of plausible order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nlobayes.artifacts.files import read_csv
from nlobayes.commands.pipeline.speed import speed
from tests.refusals import refused


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
        }
        for width in widths
    ]
    return json.dumps({"runs": runs})


def test_every_network_has_its_times(dataset_path: Path, tmp_path: Path) -> None:
    speed(spec(2, 50), [dataset_path] * 2, tmp_path / "speed.csv")
    table = read_csv(tmp_path / "speed.csv").set_index("run")
    assert table["parameters"].tolist() == [6 * 2 + 2 + 1, 6 * 50 + 50 + 1]
    assert table["rows"].tolist() == [30, 30]
    small, large = table.loc["n2"], table.loc["n50"]
    assert small["seconds_per_draw"] == pytest.approx(10 * small["seconds_per_gradient"])
    assert large[["seconds_per_draw"]].isna().all()  # trees have no fixed length
    times = table.filter(regex="_ms$|gradient")
    assert ((times > 0) & (times < 10_000)).all(axis=None)
    assert large["predict_4096_ms"] > large["predict_1_ms"]
    assert large["predict_4096_ms"] > small["predict_4096_ms"]


def test_a_dataset_for_each_network_is_asked_for(dataset_path: Path, tmp_path: Path) -> None:
    with refused("commands.unequal_datasets", datasets=1, networks=2):
        speed(spec(2, 3), [dataset_path], tmp_path / "speed.csv")
    assert not (tmp_path / "speed.csv").exists()
