"""Which stored draws are kept, from the thinning step in draws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.netcdf import read_attrs, read_groups
from nlobayes.errors import InputError
from nlobayes.verbs.thin import thin

STORED = [3, 7, 11, 15, 19, 23, 27, 31]
CHECKS = {"rhat_f_median": {"value": 1.2, "threshold": 1.01, "passed": False}}


def diagnosed(folder: Path, **verdict: Any) -> Path:
    """Write diagnostics with a thinning step."""
    path = folder / "diagnostics.json"
    path.write_text(json.dumps({"checks": CHECKS, **verdict}))
    return path


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (4, STORED),
        (8, [7, 15, 23, 31]),
        (12, [11, 23]),
        (16, [15, 31]),
        (20, [19]),
        (32, [31]),
        (64, [31]),  # chains that never moved have an autocorrelation time of twice their length
        (10**9, [31]),
    ],
)
def test_draws_lie_a_thinning_step_apart(
    run: Any, tmp_path: Path, step: int, kept: list[int]
) -> None:
    """Numbers of draws, of which every 4th is stored; chains that are stuck keep their last."""
    thin(run.posterior, diagnosed(tmp_path, thinning_step=step), tmp_path / "thinned.nc")
    before = read_groups(run.posterior, "posterior")
    after = read_groups(tmp_path / "thinned.nc", "thinned")
    assert after["posterior"]["draw"].values.tolist() == kept
    assert after["posterior"].equals(before["posterior"].sel(draw=kept))
    for name in ("observed_data", "constant_data"):
        assert after[name].identical(before[name])


def test_the_verdict_travels_with_the_draws(run: Any, tmp_path: Path) -> None:
    thin(run.posterior, diagnosed(tmp_path, thinning_step=4), tmp_path / "thinned.nc")
    made, before = read_attrs(tmp_path / "thinned.nc"), read_attrs(run.posterior)
    assert made["checks"] == CHECKS
    assert made["verb"] == "thin"
    assert {name: made[name] for name in ("spec", "device", "exact")} == {
        name: before[name] for name in ("spec", "device", "exact")
    }


def test_equal_posteriors_give_equal_bytes(run: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        thin(run.posterior, diagnosed(tmp_path, thinning_step=8), tmp_path / f"{name}.nc")
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


@pytest.mark.parametrize("step", [0, 1, 3, -4])
def test_a_step_below_the_stored_one_is_refused(run: Any, tmp_path: Path, step: int) -> None:
    said = f"thinning_step {step} is smaller than the 4 draws between stored ones; diagnose"
    with pytest.raises(InputError, match=said):
        thin(run.posterior, diagnosed(tmp_path, thinning_step=step), tmp_path / "thinned.nc")
    assert not (tmp_path / "thinned.nc").exists()


def test_diagnostics_without_a_step_are_refused(run: Any, tmp_path: Path) -> None:
    """As when the scores are given in their place."""
    with pytest.raises(InputError, match=r"lacks \['thinning_step'\], it has \['checks', 'test'\]"):
        thin(run.posterior, diagnosed(tmp_path, test={}), tmp_path / "thinned.nc")


def test_missing_diagnostics_are_refused(run: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .* as JSON: .* make it again"):
        thin(run.posterior, tmp_path / "nothing.json", tmp_path / "thinned.nc")


@pytest.mark.parametrize("place", ["segments", "warmups"])
def test_files_of_another_kind_are_refused(run: Any, tmp_path: Path, place: str) -> None:
    with pytest.raises(InputError, match="not 'posterior'; check the path"):
        thin(getattr(run, place)[0], diagnosed(tmp_path, thinning_step=4), tmp_path / "thinned.nc")


def test_thinned_draws_cannot_be_thinned_again(run: Any, tmp_path: Path) -> None:
    verdict = diagnosed(tmp_path, thinning_step=8)
    thin(run.posterior, verdict, tmp_path / "thinned.nc")
    with pytest.raises(InputError, match="kind 'thinned', not 'posterior'"):
        thin(tmp_path / "thinned.nc", verdict, tmp_path / "again.nc")


def test_kept_weights_keep_their_bits(run: Any, tmp_path: Path) -> None:
    thin(run.posterior, diagnosed(tmp_path, thinning_step=12), tmp_path / "thinned.nc")
    before = read_groups(run.posterior, "posterior")["posterior"]["weights_1"].values
    after = read_groups(tmp_path / "thinned.nc", "thinned")["posterior"]["weights_1"].values
    assert after.dtype == before.dtype == np.float32
    assert after.tobytes() == before[:, 2::3].tobytes()
