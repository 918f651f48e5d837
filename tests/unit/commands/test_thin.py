"""Which stored draws are kept, from the thinning step in draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts.files import read_csv
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.commands.pipeline import thin as verb
from tests.refusals import refused

Thin = Callable[[Path, Path, Path], None]
CHECKS = {"rhat_f_median": {"value": 1.2, "threshold": 1.01, "passed": False}}


@pytest.fixture(scope="module")
def posterior(run: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The draws of the run four times, each time a little shifted: 128, every 4th stored."""
    groups, attrs = open_artifact(run.posterior, "posterior").groups, read_attrs(run.posterior)
    for name in ("posterior", "sample_stats", "all_sample_stats", "predictions"):
        group = groups[name]
        parts = [
            (group + 0.01 * part).assign_coords(draw=group["draw"] + 32 * part) for part in range(4)
        ]
        groups[name] = xr.concat(parts, "draw").astype(np.float32).assign_attrs(group.attrs)
    path = tmp_path_factory.mktemp("thin") / "posterior.nc"
    write_groups(path, "posterior", groups, attrs)
    return path


@pytest.fixture
def thin(run: Any, tmp_path: Path) -> Callable[[Path, Path, Path], None]:
    """Thin a posterior, and write the table of costs to the folder."""

    def thinned(posterior: Path, diagnostics: Path, out: Path) -> None:
        verb.thin(posterior, diagnostics, run.dataset, out, tmp_path / "thinning.csv")

    return thinned


def diagnosed(folder: Path, **verdict: Any) -> Path:
    """Write diagnostics with a thinning step."""
    path = folder / "diagnostics.json"
    path.write_text(json.dumps({"checks": CHECKS, **verdict}))
    return path


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (4, range(3, 128, 4)),
        (8, range(7, 128, 8)),
        (12, range(11, 128, 12)),
        (16, range(15, 128, 16)),
    ],
)
def test_draws_lie_a_thinning_step_apart(
    thin: Thin, posterior: Path, tmp_path: Path, step: int, kept: range
) -> None:
    """Numbers of draws, of which every 4th is stored."""
    thin(posterior, diagnosed(tmp_path, thinning_step=step), tmp_path / "thinned.nc")
    before = open_artifact(posterior, "posterior").groups
    after = open_artifact(tmp_path / "thinned.nc", "thinned").groups
    assert after["posterior"]["draw"].values.tolist() == list(kept)
    assert after["posterior"].equals(before["posterior"].sel(draw=list(kept)))
    for name in ("observed_data", "constant_data"):
        assert after[name].identical(before[name])


def test_the_verdict_travels_with_the_draws(thin: Thin, posterior: Path, tmp_path: Path) -> None:
    thin(posterior, diagnosed(tmp_path, thinning_step=4), tmp_path / "thinned.nc")
    made, before = read_attrs(tmp_path / "thinned.nc"), read_attrs(posterior)
    assert made["checks"] == CHECKS
    assert made["verb"] == "thin"
    assert {name: made[name] for name in ("spec", "device", "exact")} == {
        name: before[name] for name in ("spec", "device", "exact")
    }


def test_thinned_draws_cannot_be_thinned_again(thin: Thin, posterior: Path, tmp_path: Path) -> None:
    verdict = diagnosed(tmp_path, thinning_step=8)
    thin(posterior, verdict, tmp_path / "thinned.nc")
    with refused("artifacts.other_kind", found="thinned", kind="posterior"):
        thin(tmp_path / "thinned.nc", verdict, tmp_path / "again.nc")


def test_kept_weights_keep_their_bits(thin: Thin, posterior: Path, tmp_path: Path) -> None:
    thin(posterior, diagnosed(tmp_path, thinning_step=12), tmp_path / "thinned.nc")
    before = open_artifact(posterior, "posterior").groups["posterior"]["weights_1"].values
    after = (
        open_artifact(tmp_path / "thinned.nc", "thinned").groups["posterior"]["weights_1"].values
    )
    assert after.dtype == before.dtype == np.float32
    assert after.tobytes() == before[:, 2::3].tobytes()


@pytest.mark.parametrize("step", [20, 10**9])
def test_a_step_that_leaves_too_few_draws_is_refused(
    thin: Thin, posterior: Path, tmp_path: Path, step: int
) -> None:
    with refused("diagnostics.chosen_step", fewest=8, draws=128):
        thin(posterior, diagnosed(tmp_path, thinning_step=step), tmp_path / "thinned.nc")
    assert not (tmp_path / "thinned.nc").exists()


def test_the_table_shows_what_each_step_costs(thin: Thin, posterior: Path, tmp_path: Path) -> None:
    thin(posterior, diagnosed(tmp_path, thinning_step=12), tmp_path / "thinned.nc")
    table = read_csv(tmp_path / "thinning.csv")
    assert table["step"].tolist() == [1, 4, 8, 12, 16]
    assert table["draws"].tolist() == [384, 96, 48, 30, 24]
    assert table["step"][table["stored"]].tolist() == [4]
    assert table["step"][table["chosen"]].tolist() == [12]
    weights = open_artifact(posterior, "posterior").groups["posterior"].data_vars.values()
    assert table["megabytes"][1] == pytest.approx(sum(w.nbytes for w in weights) / 1e6)
    assert np.isfinite(table[["ess_f_median", "rmse", "crps", "lppd"]]).all(axis=None)


@pytest.mark.parametrize("step", [0, 1, 3, -4])
def test_a_step_below_the_stored_one_is_refused(
    thin: Thin, posterior: Path, tmp_path: Path, step: int
) -> None:
    with refused("commands.thinning_step_too_small", step=step, stored_every=4):
        thin(posterior, diagnosed(tmp_path, thinning_step=step), tmp_path / "thinned.nc")
    assert not (tmp_path / "thinned.nc").exists()
