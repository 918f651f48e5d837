"""The display of running runs, from complete, missing or damaged files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from nlobayes.artifacts.segments import (
    Checkpoint,
    Segment,
    WarmupSegment,
    write_segment,
    write_warmup,
)
from nlobayes.commands.tools.watch import watch
from nlobayes.diagnostics.convergence import rhat
from nlobayes.errors import InputError
from nlobayes.study.jobs_of_runs import WatchedRun, WatchJob
from nlobayes.types import NamedArrays
from nlobayes.watching.chain_files import Folders, cached_reader
from nlobayes.watching.run_states import RunState, state_of

RUN = "toy/n4/fan_in/tolerance_10/tiny/tiny/s1"
DRAWS = 20
WATCHED = WatchedRun(
    run=RUN,
    model=RUN.rsplit("/", 2)[0],
    label="tiny",
    chain_groups=(1, 1),
    maps=2,
    warmup_steps=40,
    segments=3,
    draws_per_segment=DRAWS,
)


def draws_of(chain: int, segment: int) -> np.ndarray:
    """Function draws (chain, draw, reference point) of one segment."""
    return np.random.default_rng([chain, segment]).normal(size=(1, DRAWS, 3))


def end_of(chain: int, steps: int) -> Checkpoint:
    return Checkpoint((chain,), steps, {"position": np.zeros((1, 2))}, {}, {})


def touch(path: Path, text: str, at: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))


def write_group(project: Path, chain: int, segments: int) -> None:
    """Write the warm-up and some segments of a chain, of a step each second."""
    folder = project / "results/chains" / RUN / str(chain)
    folder.mkdir(parents=True, exist_ok=True)
    lp = np.zeros((1, 40))
    warmed = WarmupSegment(0, {"lp": lp, "energy": lp}, end_of(chain, 40))
    write_warmup(folder / "warmup_0.nc", warmed, {})
    os.utime(folder / "warmup_0.nc", (1000, 1000))
    for number in range(segments):
        stats = {name: np.zeros((1, DRAWS)) for name in ("lp", "energy")}
        stats["acceptance_rate"] = np.full((1, DRAWS), 0.8)
        function, end = draws_of(chain, number), end_of(chain, DRAWS * (number + 1))
        kept = NamedArrays({"weights": function[:, ::4, :1]}, {"weights": ("feature",)}, {})
        path = folder / f"segment_{number}.nc"
        write_segment(path, Segment(DRAWS * number, 4, kept, stats, function, end), {})
        at = 1000.0 + DRAWS * (number + 1)
        os.utime(path, (at, at))
        log = project / "logs/draw" / RUN / f"{chain}/{number}.log"
        touch(log, f"draws of chains [{chain}]: {DRAWS} of {DRAWS}\n", at)
        timing = project / "timings/draw" / RUN / f"{chain}/{number}.tsv"
        touch(timing, f"s\th:m:s\n{DRAWS}.0\t0:00:20\n", at)


def write_log(project: Path, chain: int, segment: int, draws: int) -> None:
    """Write the draws of a running job to its log."""
    log = project / "logs/draw" / RUN / f"{chain}/{segment}.log"
    touch(log, f"draws of chains [{chain}]: {draws} of {DRAWS}\n", 5000)


def seen(project: Path, run: WatchedRun = WATCHED) -> RunState:
    return state_of(Folders.beside(project / "results"), run, cached_reader())


def test_draws_are_those_of_finished_segments_and_of_logs(tmp_path: Path) -> None:
    write_group(tmp_path, 0, 2)
    write_group(tmp_path, 1, 1)
    write_log(tmp_path, 0, 2, 10)
    state = seen(tmp_path)
    assert (state.stage, state.chains) == ("drawing", 2)
    assert (state.draws, state.total) == (2 * DRAWS + 10 + DRAWS, 2 * 3 * DRAWS)
    assert state.acceptance == pytest.approx(0.8)
    assert state.updated == 5000


def test_the_r_hat_is_that_of_the_draws_that_all_chains_have(tmp_path: Path) -> None:
    write_group(tmp_path, 0, 2)
    write_group(tmp_path, 1, 1)
    common = np.concatenate([draws_of(0, 0), draws_of(1, 0)])
    state = seen(tmp_path)
    assert state.rhat == pytest.approx(rhat(common).max())
    assert state.in_brief() == f"drawing, 60 of 120 draws, R-hat {state.rhat:.3f}"


def test_the_time_left_is_that_of_the_longest_line_of_jobs(tmp_path: Path) -> None:
    """A second per draw: one chain has 10 left, the other 35; a single running job does both."""
    write_group(tmp_path, 0, 2)
    write_group(tmp_path, 1, 1)
    assert seen(tmp_path).left is None  # nothing is at work
    write_log(tmp_path, 0, 2, 10)
    assert seen(tmp_path).left == pytest.approx(10 + 40)
    write_log(tmp_path, 1, 1, 5)
    assert seen(tmp_path).left == pytest.approx(35)


def test_a_damaged_segment_is_named_and_the_draws_before_it_count(tmp_path: Path) -> None:
    write_group(tmp_path, 0, 2)
    write_group(tmp_path, 1, 2)
    path = tmp_path / "results/chains" / RUN / "1/segment_1.nc"
    path.write_bytes(path.read_bytes()[:-100])
    state = seen(tmp_path)
    assert state.draws == 3 * DRAWS
    (fault,) = state.faults
    assert "segment_1.nc" in fault
    assert fault in state.in_one_line()


def test_a_run_is_not_begun_then_pretrained_then_warmed_up(tmp_path: Path) -> None:
    assert seen(tmp_path).stage == "not begun"
    touch(tmp_path / "results/pretrain" / WATCHED.model / "0.nc", "", 10)
    for other in (2, 3):  # of a run of the same model with more chains
        touch(tmp_path / "results/pretrain" / WATCHED.model / f"{other}.nc", "", 10)
    assert seen(tmp_path).stage == "pretraining, 1 of 2"
    log = tmp_path / "logs/warmup" / RUN / "0/0.log"
    touch(log, "warm-up of chains [0]: 20 of 40\n", 20)
    assert seen(tmp_path).stage == "warm-up"


def test_chains_that_converged_early_have_no_draws_left(tmp_path: Path) -> None:
    write_group(tmp_path, 0, 1)
    write_group(tmp_path, 1, 1)
    write_log(tmp_path, 0, 1, 0)
    touch(tmp_path / "results/chains" / RUN / "verdict_0.json", json.dumps({"met": True}), 10)
    state = seen(tmp_path)
    assert (state.draws, state.total, state.left) == (2 * DRAWS, 2 * DRAWS, None)


def test_a_finished_run_has_its_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "results/metrics" / RUN
    check = {"rhat_f": {"value": 1.2, "threshold": 1.05, "passed": False}}
    facts = {"chains": 4, "draws_per_chain": 50, "rhat_f": 1.2, "acceptance_rate": 0.7}
    touch(folder / "diagnostics.json", json.dumps(facts | {"checks": check}), 10)
    touch(folder / "evaluation.json", json.dumps({"calibration_checks": {}}), 10)
    state = seen(tmp_path)
    assert state.stage == "done: NOT CONVERGED, calibrated"
    assert (state.draws, state.rhat) == (200, 1.2)
    (folder / "diagnostics.json").write_text("{")
    damaged = seen(tmp_path)
    assert damaged.is_done
    assert len(damaged.faults) == 1


def test_once_prints_a_table_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_group(tmp_path, 0, 1)
    write_group(tmp_path, 1, 1)
    monkeypatch.chdir(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    watch(results=Path("results"), once=True, spec=WatchJob(runs=(WATCHED,)).model_dump_json())
    printed = capsys.readouterr().out
    assert "40 of 120" in printed
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_what_is_no_terminal_gets_lines_also_from_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jupyter sets FORCE_COLOR for its subprocesses."""
    facts = {"chains": 4, "draws_per_chain": 50, "rhat_f": 1.0, "acceptance_rate": 0.7}
    folder = tmp_path / "results/metrics" / RUN
    touch(folder / "diagnostics.json", json.dumps(facts | {"checks": {}}), 10)
    touch(folder / "evaluation.json", json.dumps({"calibration_checks": {}}), 10)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    watch(results=tmp_path / "results", spec=WatchJob(runs=(WATCHED,)).model_dump_json())
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("tiny: done: ")


def test_without_runs_the_error_states_what_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        watch(results=Path("results"), once=True)
    assert caught.value.code == "commands.nothing_to_watch"
