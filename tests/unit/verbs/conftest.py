"""A small run on disk: dataset, chains, posterior, diagnostics, predictions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts.contents import predictions_groups, write_dataset
from nlobayes.artifacts.netcdf import write_groups
from nlobayes.data.splits import TEST, TRAIN, VALIDATION
from nlobayes.types import Dataset
from nlobayes.verbs.assemble import assemble

CHAINS = 3
DRAWS = 40
ERRORS = {TRAIN: 0.01, VALIDATION: 0.03, TEST: 0.05}
MEMBERS = 3


class Run(NamedTuple):
    """The files of one run."""

    dataset: Path
    warmups: list[Path]
    segments: list[Path]
    starts: list[Path]
    posterior: Path


@pytest.fixture(scope="session")
def run(
    dataset_path: Path,
    make_chain: Callable[..., tuple[Path, list[Path]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """Three chains of two segments of 16 draws, every 4th stored."""
    folder = tmp_path_factory.mktemp("run")
    chains = [make_chain(folder, chain, 2, draws=16, keep_every=4) for chain in range(CHAINS)]
    warmups = [warmup for warmup, _ in chains]
    segments = [segment for _, paths in chains for segment in paths]
    starts = [folder / f"{chain}/start.nc" for chain in range(CHAINS)]
    assemble(dataset_path, warmups, segments, folder / "posterior.nc")
    return Run(dataset_path, warmups, segments, starts, folder / "posterior.nc")


@pytest.fixture(scope="session")
def make_predictions() -> Callable[..., tuple[Path, Path]]:
    """Write a dataset and predictions of it that are off by 0.01 to 0.05 dex."""
    return _predictions


def _predictions(folder: Path, dataset: Dataset) -> tuple[Path, Path]:
    rng = np.random.default_rng(9)
    errors = np.array([ERRORS[split] for split in dataset.split.tolist()])
    centre = np.log10(dataset.observed) + rng.normal(0, errors)
    functions = centre + rng.normal(0, 0.01, (2, DRAWS, len(centre)))
    members = centre + rng.normal(0, 0.02, (MEMBERS, len(centre)))
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(DRAWS)})
    groups = predictions_groups(functions, members, dataset, draws)
    write_dataset(folder / "dataset.nc", dataset, {})
    write_groups(folder / "predictions.nc", "predictions", groups, {"exact": True})
    return folder / "predictions.nc", folder / "dataset.nc"


@pytest.fixture(scope="session")
def read() -> Callable[[Path], dict[str, Any]]:
    """Read a JSON file without the help of the package."""
    return lambda path: json.loads(path.read_text())
