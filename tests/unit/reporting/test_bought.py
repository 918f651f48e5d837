"""What a program cost and what its surrogate reached is said of the last round alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from nlobayes.choosing.stopping import judge
from nlobayes.reporting.bought import earlier_rounds, lines_of
from nlobayes.study.accuracy import Accuracy

WANTED = Accuracy(median=0.01, p95=0.02, confidence=0.9)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two rounds of `slow`, the second accurate, and jobs of 900 and 2700 CPU s; another table."""
    far, near = (
        judge(np.full(90, error), WANTED, 3, rows) for error, rows in ((0.03, 10), (0.005, 30))
    )
    folder = tmp_path / "results"
    (folder / "rounds").mkdir(parents=True)
    for name, rounds in {"slow": [far], "slow_1": [far, near]}.items():
        verdict = {"met": rounds[-1]["met"], "rounds": rounds}
        verdict["as_random"] = {"points": 70, "is_bound": name == "slow_1"}
        (folder / f"rounds/{name}.json").write_text(json.dumps(verdict))
    for name, seconds in {"slow/0": 900, "slow_1/0": 1200, "slow_1/1": 1500}.items():
        path = tmp_path / f"timings/run_program/{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tcpu_time\n1.0\t{seconds}\n")
    return folder


def test_points_hours_accuracy_and_random_points(results: Path) -> None:
    first, *_, last = lines_of(results, ["slow", "slow_1", "table"])
    assert first.startswith(
        "slow_1: 120 points up to round 1, 1 CPU hours of the program; accuracy"
    )
    assert last == "  more than 70 random points would do as well as 30"


def test_the_surrogate_of_an_earlier_round_is_not_the_one_to_use(results: Path) -> None:
    assert earlier_rounds(results, ["slow", "slow_1", "table"]) == {"slow"}
    assert earlier_rounds(results, ["slow", "table"]) == set()


def test_a_round_that_is_the_last_so_far(results: Path) -> None:
    first, *_ = lines_of(results, ["slow"])
    assert "100 points up to round 0, 0.25 CPU hours" in first
    assert "not shown to be reached" in first
    assert [*lines_of(results, ["table"])] == []
