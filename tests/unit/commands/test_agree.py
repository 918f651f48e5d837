"""The verdict on two samplers of one posterior, and refused comparisons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.netcdf import open_artifact, write_groups
from nlobayes.commands.pipeline.agree import agree
from tests.refusals import refused

Read = Callable[[Path], dict[str, Any]]


@pytest.fixture
def rival(run: Any, tmp_path: Path) -> Callable[..., Path]:
    """Write the posterior with other predictions at its reference points."""

    def write(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Path:
        groups = open_artifact(run.posterior, "posterior").groups
        function = groups["predictions"]["f"]
        groups["predictions"] = groups["predictions"].assign(
            f=(function.dims, change(function.values))
        )
        write_groups(tmp_path / f"{name}.nc", "posterior", groups, {})
        return tmp_path / f"{name}.nc"

    return write


def test_equal_posteriors_agree(
    run: Any, rival: Callable[..., Path], tmp_path: Path, read: Read
) -> None:
    agree([run.posterior, rival("same", np.copy)], tmp_path / "out.json")
    verdict = read(tmp_path / "out.json")
    assert verdict["passed"] is True
    assert verdict["pairs"][0]["z_mean_max"] == verdict["pairs"][0]["z_sd_max"] == 0


def test_different_posteriors_disagree(
    run: Any,
    rival: Callable[..., Path],
    tmp_path: Path,
    read: Read,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One of six points is off by its sd, which 96 draws determine to a tenth."""
    shift = np.where(np.arange(6) == 4, 1.0, 0.0)
    moved = rival("moved", lambda f: f + shift)
    agree([run.posterior, rival("same", np.copy), moved], tmp_path / "out.json")
    verdict = read(tmp_path / "out.json")
    assert [pair["passed"] for pair in verdict["pairs"]] == [True, False, False]
    assert verdict["passed"] is False
    assert verdict["pairs"][2]["posteriors"] == [str(tmp_path / "same.nc"), str(moved)]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.split(":")[0] for line in printed.err.splitlines()] == [
        "agree",
        "DISAGREE",
        "DISAGREE",
    ]


def test_every_output_of_several_counts(run: Any, tmp_path: Path, read: Read) -> None:
    """As the logits of classes: the second output alone is off."""
    groups = open_artifact(run.posterior, "posterior").groups
    function = groups["predictions"]["f"]
    paths = []
    for name, shift in (("first", 0.0), ("same", 0.0), ("off", 1.0)):
        both = np.stack([function.values, function.values[::-1] + shift], axis=-1)
        changed = groups["predictions"].assign(f=((*function.dims, "output"), both))
        paths.append(tmp_path / f"{name}.nc")
        write_groups(paths[-1], "posterior", {**groups, "predictions": changed}, {})
    agree(paths, tmp_path / "out.json")
    assert [pair["passed"] for pair in read(tmp_path / "out.json")["pairs"]] == [True, False, False]


def test_a_sampler_that_never_moved_does_not_agree(
    run: Any,
    rival: Callable[..., Path],
    tmp_path: Path,
    read: Read,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stuck = rival("stuck", lambda f: np.broadcast_to(f.mean(axis=(0, 1)), f.shape))
    agree([run.posterior, stuck], tmp_path / "out.json")
    verdict = read(tmp_path / "out.json")
    assert verdict["passed"] is False
    assert verdict["pairs"][0]["z_mean_max"] is None
    assert "rms z infinite" in capsys.readouterr().err


@pytest.mark.parametrize("times", [1, 2])
def test_one_posterior_alone_is_refused(run: Any, tmp_path: Path, times: int) -> None:
    """It would agree with itself."""
    with refused("commands.too_few_posteriors", posteriors=[str(run.posterior)]):
        agree([run.posterior] * times, tmp_path / "out.json")
    assert list(tmp_path.iterdir()) == []


def test_other_reference_points_are_refused(run: Any, tmp_path: Path) -> None:
    groups = open_artifact(run.posterior, "posterior").groups
    constant = groups["predictions_constant_data"]
    groups["predictions_constant_data"] = constant.assign(features=constant["features"] + 1)
    write_groups(tmp_path / "other.nc", "posterior", groups, {})
    with refused("commands.other_reference_points", path=str(tmp_path / "other.nc")):
        agree([run.posterior, tmp_path / "other.nc"], tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
