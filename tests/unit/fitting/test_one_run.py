"""The program of one run: which stages it calls, with which files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlobayes.artifacts.files import read_json, write_json
from nlobayes.fitting.one_run import OneRun
from nlobayes.fitting.running import Bar
from nlobayes.fitting.studies import Choices, configure, plan_of
from tests.unit.fitting.studies import DATASET

METHOD = {"kernel": {"kind": "hmc", "integration_steps": 8}, "chains": 2, "segments": 4}


@pytest.mark.parametrize("met", [None, 0, 1, 2, 3])
def test_chains_that_have_converged_are_checked_no_more(
    met: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their other segments are made all the same, with verdicts that repeat the last one."""
    until = None if met is None else {"ess_min": 400}
    method = {**METHOD, "draws_per_segment": 60, "until": until}
    chosen = Choices({"hidden": [4]}, method=method, precision="float32")
    one, called = OneRun(*plan_of(configure("t", DATASET, chosen)), tmp_path), list[str]()
    expected: list[int] = []

    def stage_of(name: str) -> Any:
        def stage(out: Path, **_: Any) -> None:
            number = out.stem.rpartition("_")[2]
            called.append(f"{name} {number}" if name == "draw" else name)
            if name == "check_convergence":
                write_json(out, {"met": int(number) == met, "checks": number})

        return stage

    monkeypatch.setattr("nlobayes.fitting.one_run.function_of", stage_of)
    monkeypatch.setattr(Bar, "expect", lambda _, stages: expected.append(stages))
    one.make_surrogate()
    drawn = [name for name in called if name.startswith("draw")]
    assert drawn[:2] == (["draw 0", "draw 0"] if until else ["draw 0", "draw 1"])
    assert sorted(drawn) == [f"draw {number}" for number in range(4) for _ in range(2)]
    others = [name for name in called if name not in drawn]
    checked = 0 if met is None else min(met + 1, 3)
    assert others == [
        *("prepare", "pretrain", "warmup", "pretrain", "warmup"),
        *["check_convergence"] * checked,
        *("assemble", "diagnose", "thin", "posterior_predictive", "evaluate", "export"),
    ]
    assert len(called) == len(one.output) == expected[-1]
    assert expected[0] - expected[-1] == (3 - checked if until else 0)
    if until:
        verdicts = [one.path("check_convergence", segment=number) for number in range(3)]
        numbers = [read_json(path)["checks"] for path in verdicts]
        assert numbers == [str(min(number, checked - 1)) for number in range(3)]
