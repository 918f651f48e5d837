"""The check whether segments suffice: limits, counted draws, and refused input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digests
from nlobayes.artifacts.segments import empty_segment, write_segment
from nlobayes.commands.pipeline.check_convergence import check_convergence
from nlobayes.diagnostics.convergence import ess_bulk, ess_tail
from tests.unit.artifacts.opened import draws

LOOSE = {"rhat_max": 9.0, "ess_min": 1.0}
Read = Callable[[Path], dict[str, Any]]
Check = Callable[..., dict[str, Any]]


@pytest.fixture
def checked(run: Any, tmp_path: Path, read: Read) -> Check:
    """Check segments against some limits, and read the verdict."""

    def check_segments(segments: list[Path] = run.segments, **until: float) -> dict[str, Any]:
        check_convergence(json.dumps({"until": until}), segments, tmp_path / "verdict.json")
        return read(tmp_path / "verdict.json")

    return check_segments


def test_the_targets_are_met_when_all_are(checked: Check) -> None:
    assert checked(**LOOSE)["met"] is True


@pytest.mark.parametrize(
    ("limit", "value", "measure"), [("rhat_max", 0.5, "rhat"), ("ess_min", 1e6, "ess")]
)
def test_one_limit_that_is_missed_is_enough(
    checked: Check, limit: str, value: float, measure: str
) -> None:
    found = checked(**LOOSE | {limit: value})
    assert found["met"] is False
    missed = {name for name, check in found["checks"].items() if not check["passed"]}
    assert missed == {f"{measure}_f", f"{measure}_log_density"}
    assert {found["checks"][name]["threshold"] for name in missed} == {value}


def test_all_draws_of_all_chains_so_far_are_counted(run: Any, checked: Check) -> None:
    """Two segments of 16 draws of three chains, or the first alone."""
    whole, half = checked(), checked(run.segments[::2])
    assert (whole["draws_per_chain"], half["draws_per_chain"]) == (32, 16)
    for found, segments in ((whole, run.segments), (half, run.segments[::2])):
        function = draws(segments)["predictions"]["f"].values
        expected = min(ess_bulk(function).min(), ess_tail(function).min())
        assert found["checks"]["ess_f"]["value"] == expected


def test_chains_go_on_while_any_quantity_disagrees(
    run: Any, checked: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One output of several of f, the log density, the noise or a scale that a prior learns."""
    module = "nlobayes.commands.pipeline.check_convergence.draws_of"
    shift = 100.0 * np.arange(3)[:, np.newaxis]
    rng = np.random.default_rng(3)

    def with_changes(apart: str) -> Any:
        groups = draws(run.segments)
        one = groups["predictions"]["f"].values
        moved = one + shift[..., np.newaxis] * (apart == "f")
        dims = ("chain", "draw", "reference_point", "output")
        groups["predictions"] = xr.Dataset({"f": (dims, np.stack([one, moved], axis=-1))})
        stats = groups["all_sample_stats"]
        density = stats["lp"] + shift * (apart == "log_density")
        noise = rng.normal(size=one.shape[:2]) + shift * (apart == "noise")
        every = ("chain", "draw")
        groups["all_sample_stats"] = stats.assign(lp=density, noise=(every, noise))
        stored = groups["posterior"].sizes["draw"]
        scale = rng.normal(size=(3, stored)) + shift * (apart == "hyperparameters")
        groups["posterior"] = groups["posterior"].assign(scale=(every, scale))
        return groups

    for name in ("f", "log_density", "noise", "hyperparameters"):
        monkeypatch.setattr(module, lambda _, name=name: with_changes(name))
        found = checked(rhat_max=2.0, ess_min=1.0)
        assert found["met"] is False
        assert [n for n, check in found["checks"].items() if not check["passed"]] == [
            f"rhat_{name}"
        ]
    monkeypatch.setattr(module, lambda _: with_changes("nothing"))
    assert checked(rhat_max=2.0, ess_min=1.0)["met"] is True


def test_a_record_states_limits_and_segments(run: Any, tmp_path: Path) -> None:
    limits = {"rhat_max": 1.02, "ess_min": 250.0}
    out, record = tmp_path / "verdict.json", tmp_path / "record.json"
    check_convergence(json.dumps({"until": limits}), run.segments, out, record=record)
    made = read_record(record)
    assert (made["verb"], made["spec"]) == ("check_convergence", {"until": limits})
    assert made["inputs"] == digests(run.segments)
    assert made["outputs"] == digests([out])


def test_a_verdict_stays_met_after_segments_of_no_draws(
    run: Any, tmp_path: Path, checked: Check
) -> None:
    segments = list(run.segments)
    for place in (1, 3, 5):
        empty = tmp_path / f"{place}.nc"
        nothing = empty_segment(open_artifact(run.segments[place], "segment"))
        write_segment(empty, nothing, {})
        segments.append(empty)
    assert checked(segments, **LOOSE) == checked(**LOOSE)


@pytest.mark.parametrize("before", [True, False])
def test_only_a_verdict_that_is_met_stays(
    run: Any, tmp_path: Path, checked: Check, read: Read, before: bool
) -> None:
    """The limits of the second call have another result than those of the first."""
    limits = [LOOSE, {"rhat_max": 0.5}]
    first, second = limits if before else limits[::-1]
    verdict = checked(**first)
    assert verdict["met"] is before
    out = tmp_path / "after.json"
    until = json.dumps({"until": second})
    check_convergence(until, run.segments, out, verdict=tmp_path / "verdict.json")
    assert read(out)["met"] is True
    assert (read(out) == verdict) is before
