"""A run of several targets: each is scored as if alone; some scores are common to all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.files import read_csv
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.thin import thin
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import TEST
from nlobayes.types import Dataset, PredictedDraws
from tests.unit.conftest import predicted_groups

DRAWS, MEMBERS, ERRORS = 40, 3, (0.02, 0.06)
COLUMNS = ("m1", "n11", "n12", "n13", "n14")
TARGETS = ("sigma_pb", "scale_up")
SPEC = json.dumps({"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 3})


@pytest.fixture(scope="module")
def two(points: Selection, choices: Choices) -> Dataset:
    """The 60 rows with a second target, which falls faster."""
    both = np.column_stack([points.target, points.target**1.5])
    units = points.units | {"scale_up": "pb"}
    return make_dataset(points._replace(target=both, units=units), COLUMNS, TARGETS, choices)


@pytest.fixture(scope="module")
def of_draws(two: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Draws and members (draw, point, output) on the model scale."""
    rng = np.random.default_rng(9)
    centre = np.log10(two.observed) + rng.normal(0, ERRORS, two.observed.shape)
    draws, members = (centre + rng.normal(0, 0.01, (n, *centre.shape)) for n in (DRAWS, MEMBERS))
    return draws, members


def scores_of(folder: Path, dataset: Dataset, of_draws: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """Score draws and members of a dataset."""
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(DRAWS // 2)})
    posterior, baseline = (PredictedDraws(f, "gaussian", np.array(0.05)) for f in of_draws)
    groups = predicted_groups(posterior, baseline, dataset, draws)
    write_dataset(folder / "dataset.nc", dataset, {})
    write_groups(folder / "predictions.nc", "predictions", groups, {"exact": True})
    evaluate(SPEC, folder / "predictions.nc", folder / "dataset.nc", folder / "out.json")
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


@pytest.fixture(scope="module")
def scored(
    two: Dataset, of_draws: tuple[np.ndarray, ...], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """The scores of both targets."""
    return scores_of(tmp_path_factory.mktemp("two"), two, of_draws)


@pytest.mark.parametrize("place", [0, 1])
def test_each_target_is_scored_as_if_it_were_alone(
    scored: dict[str, Any],
    points: Selection,
    choices: Choices,
    two: Dataset,
    of_draws: tuple[np.ndarray, ...],
    tmp_path: Path,
    place: int,
) -> None:
    alone = points._replace(target=two.observed[:, place], units={**two.units})
    dataset = make_dataset(alone, COLUMNS, TARGETS[place : place + 1], choices)
    expected = scores_of(tmp_path, dataset, tuple(values[..., place] for values in of_draws))
    found = scored["outputs"][TARGETS[place]]
    assert found.keys() | {"learned", "scored_draws"} == expected.keys()
    for name in ("train", "val", "test", "predictive_noise", "baseline", "calibration_checks"):
        assert found[name] == expected[name]
    for name, coefficient in expected["linear"]["coefficients"].items():
        assert found["linear"]["coefficients"][name] == pytest.approx(coefficient)


def test_chains_are_stacked_by_all_targets_together(
    two: Dataset, of_draws: tuple[np.ndarray, ...], tmp_path: Path
) -> None:
    """The second chain predicts only the second target wrongly; the density is the product."""
    function, members = of_draws
    wrong = function.copy()
    wrong[DRAWS // 2 :, :, 1] += 1.0
    scores_of(tmp_path, two, (wrong, members))
    paths = tmp_path / "predictions.nc", tmp_path / "dataset.nc"
    job = json.dumps({**json.loads(SPEC), "combine": "stacking"})
    evaluate(job, *paths, tmp_path / "stacked.json")
    stacking = json.loads((tmp_path / "stacked.json").read_text())["stacking"]
    np.testing.assert_allclose(stacking["weights"], [1, 0], atol=1e-6)
    rows = two.split == TEST
    density = norm.pdf(np.log10(two.observed[rows]), function[: DRAWS // 2, rows], 0.05)
    expected = np.log(density.prod(axis=2).mean(axis=0)).mean()
    assert stacking["lppd_test"]["stacking"] == pytest.approx(expected, rel=1e-4)


def test_what_all_have_in_common_is_their_mean(scored: dict[str, Any]) -> None:
    first, second = (scored["outputs"][name] for name in TARGETS)
    for key in ("rmse_log10", "crps", "coverage_95"):
        mean = (first["test"][key] + second["test"][key]) / 2
        assert scored["test"][key] == pytest.approx(mean)
    assert scored["test"]["rmse_log10"] == pytest.approx(np.mean(ERRORS), rel=0.4)
    members = [one["baseline"]["members"]["rmse_log10_test"] for one in (first, second)]
    found = scored["baseline"]["members"]["rmse_log10_test"]
    assert found == pytest.approx(np.mean(members, axis=0))


@pytest.mark.parametrize("heteroscedastic", [False, True], ids=["two", "heteroscedastic"])
def test_thinning_costs_are_means_over_targets(
    run: Any,
    two: Dataset,
    dataset: Dataset,
    tmp_path: Path,
    heteroscedastic: bool,
    make_costs: Callable[[Path, Dataset, np.ndarray], Any],
) -> None:
    """The second output of a heteroscedastic network is no target."""
    f = np.random.default_rng(4).normal(size=(3, 128, 6, 2))
    learned = dataset if heteroscedastic else two
    found = make_costs(tmp_path / "both", learned, f)
    alone = make_costs(tmp_path / "first", dataset, f[..., 0])
    if heteroscedastic:
        np.testing.assert_allclose(found, alone)
    else:
        assert (found["rmse"] > alone["rmse"]).all()


@pytest.fixture
def make_costs(run: Any) -> Callable[[Path, Dataset, np.ndarray], Any]:
    """Tabulate the costs of thinning, given f at the reference points."""

    def costs(folder: Path, dataset: Dataset, f: np.ndarray) -> Any:
        groups = open_artifact(run.posterior, "posterior").groups
        stored = groups["posterior"]
        parts = [stored.assign_coords(draw=stored["draw"] + 32 * part) for part in range(4)]
        groups["posterior"] = xr.concat(parts, "draw")
        dims = ("chain", "draw", "reference_point", "output")[: f.ndim]
        groups["predictions"] = xr.Dataset({"f": (dims, f)})
        write_dataset(folder / "dataset.nc", dataset, {})
        write_groups(folder / "p.nc", "posterior", groups, read_attrs(run.posterior))
        verdict = folder / "verdict.json"
        verdict.write_text(json.dumps({"checks": {}, "thinning_step": 4}))
        out, table = folder / "thinned.nc", folder / "thinning.csv"
        thin(folder / "p.nc", verdict, folder / "dataset.nc", out, table)
        return read_csv(table).astype(float)

    return costs
