"""The check whether segments suffice: limits, counted draws, and refused input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.chains import read_functions, write_empty_segment
from nlobayes.artifacts.records import read_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.pipeline.check_convergence import check_convergence
from nlobayes.diagnostics.convergence import ess_bulk

LOOSE = {"rhat_f_median": 9.0, "rhat_f_p99": 9.0, "ess_f_bulk_min": 1.0}
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
    ("name", "limit"), [("rhat_f_median", 0.5), ("rhat_f_p99", 0.5), ("ess_f_bulk_min", 1e6)]
)
def test_one_target_that_is_missed_is_enough(checked: Check, name: str, limit: float) -> None:
    found = checked(**LOOSE | {name: limit})
    assert found["met"] is False
    assert [other for other, check in found["checks"].items() if not check["passed"]] == [name]
    assert found["checks"][name]["threshold"] == limit


def test_all_draws_of_all_chains_so_far_are_counted(run: Any, checked: Check) -> None:
    """Two segments of 16 draws of three chains, or the first alone."""
    whole, half = checked(), checked(run.segments[::2])
    assert (whole["draws_per_chain"], half["draws_per_chain"]) == (32, 16)
    for found, segments in ((whole, run.segments), (half, run.segments[::2])):
        expected = ess_bulk(read_functions(segments)).min()
        assert found["checks"]["ess_f_bulk_min"]["value"] == expected


def test_every_output_of_several_counts(
    run: Any, checked: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chains that are far apart in one of two outputs are found, whichever output it is."""
    one = read_functions(run.segments)
    apart = one + np.arange(len(one))[:, np.newaxis, np.newaxis] * 100
    module = "nlobayes.commands.pipeline.check_convergence.read_functions"
    for both in (np.stack([one, apart], axis=-1), np.stack([apart, one], axis=-1)):
        monkeypatch.setattr(module, lambda _, both=both: both)
        found = checked()["checks"]["ess_f_bulk_min"]["value"]
        assert found == ess_bulk(apart).min() < ess_bulk(one).min()


def test_a_record_states_limits_and_segments(run: Any, tmp_path: Path) -> None:
    limits = {"rhat_f_median": 1.02, "rhat_f_p99": 1.1, "ess_f_bulk_min": 250.0}
    out, record = tmp_path / "verdict.json", tmp_path / "record.json"
    check_convergence(json.dumps({"until": limits}), run.segments, out, record)
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
        write_empty_segment(empty, run.segments[place], {})
        segments.append(empty)
    assert checked(segments, **LOOSE) == checked(**LOOSE)
