"""Predict and evaluate many draws of a large network: seconds and peak memory of each verb.

Run from the root of the repository: `python -m benchmarks.evaluate --help`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import write_dataset, write_map
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.types import Dataset, MAPEstimate, NamedArrays

MEASURED = """
import resource, sys, time
from nlobayes.cli import main
begin = time.perf_counter()
try:
    main()
finally:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{sys.argv[1]}: {time.perf_counter() - begin:.1f} s, peak RSS {peak:.0f} MiB")
"""
MODEL = {
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float32",
}


def main() -> None:
    """Write made-up draws and data, run both verbs on them, print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--points", type=int, default=15_000)
    parser.add_argument("--hidden", type=int, nargs="+", default=[50] * 5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = _dataset(asked.points)
        write_dataset(folder / "data.nc", data, {})
        count = _write_draws(folder, data, [5, *asked.hidden, 1], asked.draws)
        print(f"{asked.draws} draws of {count} weights at {asked.points} points")
        spec: dict[str, object] = {"model": {**MODEL, "network": {"hidden": asked.hidden}}}
        start = ("--start", folder / "start.nc")
        posterior = ("--posterior", folder / "draws.nc", *start)
        _run("posterior_predictive", spec, folder, *posterior, "--out", folder / "predictions.nc")
        spec = {"noise": "gaussian", "calibration": {}, "covariate": "x0", "seed": 1}
        predicted = ("--predictions", folder / "predictions.nc")
        _run("evaluate", spec, folder, *predicted, "--out", folder / "o.json", "--plots", folder)


def _dataset(points: int) -> Dataset:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(points, 5))
    target = np.tanh(features).sum(axis=1)
    names = tuple(f"x{i}" for i in range(5))
    split = np.arange(points) % 10
    return Dataset(
        inputs=features,
        features=features,
        target=target,
        observed=target,
        split=np.where(split < 8, 0, split - 7).astype(np.int8),
        reference=np.arange(8, points, 100),
        input_names=names,
        feature_names=names,
        target_names=("y",),
        transforms={
            "features": {"map": "raw", "mean": [0.0] * 5, "scale": [1.0] * 5},
            "target": {"scale": "identity", "mean": 0.0, "sd": 1.0},
        },
        units={},
    )


def _write_draws(folder: Path, data: Dataset, sizes: list[int], draws: int) -> int:
    rng = np.random.default_rng(1)
    values: dict[str, np.ndarray] = {}
    dims: dict[str, tuple[str, ...]] = {}
    for layer, (into, out) in enumerate(itertools.pairwise(sizes), start=1):
        shapes = {f"weights_{layer}": (into, out), f"biases_{layer}": (out,)}
        for name, shape in shapes.items():
            scale = 1 / np.sqrt(into)
            values[name] = (scale * rng.normal(size=(1, draws, *shape))).astype(np.float32)
            dims[name] = tuple(f"{name}_{axis}" for axis in range(len(shape)))
    posterior = xr.Dataset({n: (("chain", "draw", *dims[n]), v) for n, v in values.items()})
    posterior = posterior.assign_coords(chain=[0], draw=np.arange(draws))
    train = xr.Dataset({"target": (("point",), data.target[data.split == 0])})
    attrs = {"exact": True, "checks": {}}
    write_groups(
        folder / "draws.nc", "thinned", {"posterior": posterior, "observed_data": train}, attrs
    )
    one = NamedArrays({name: value[0, 0] for name, value in values.items()}, dims, {})
    size = sum(value.size for value in one.values.values())
    start = MAPEstimate(
        chain=0,
        position=np.zeros(size, np.float32),
        variables=one,
        loss=np.zeros(1),
        validation_rmse=np.zeros(1),
        path_epochs=np.zeros(1, np.int32),
        path=np.zeros((1, size), np.float32),
    )
    write_map(folder / "start.nc", start, {})
    return size


def _run(verb: str, spec: Mapping[str, object], folder: Path, *words: object) -> None:
    command = [sys.executable, "-c", MEASURED, verb, "--spec", json.dumps(spec)]
    data = ["--dataset", str(folder / "data.nc")]
    subprocess.run([*command, *data, *map(str, words)], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
