"""A program in rounds becomes one dataset and one run a round; what cannot be is refused."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from nlobayes.study.job_builder import choose_job, design_job, judge_job
from nlobayes.study.study import Study, load_study, override, shipped_presets
from nlobayes.workflow.plan import load_plan
from nlobayes.workflow.targets import grid_outputs
from tests.refusals import refused

STUDY: dict[str, Any] = {
    "datasets": {
        "bought": {
            "source": {
                "kind": "program",
                "program": {
                    "command": ["echo", "{a}"],
                    "version": "1",
                    "output": {"kind": "number", "column": "y", "unit": ""},
                },
                "design": {"kind": "sobol", "points": 25, "ranges": {"a": {"low": 0, "high": 1}}},
                "chunk": 10,
                "rounds": {"most": 2, "points": 11, "held_out": 90, "random": 0.2},
            },
            "features": {"columns": ["a"], "map": "raw", "units": {}},
            "target": {"column": "y", "unit": "", "scale": "identity"},
            "split": {"column": "split"},
        }
    },
    "grids": {
        "only": {
            "dataset": "bought",
            "network": "n16",
            "prior": "fan_in",
            "likelihood": "tolerance_10",
            "pretraining": "adam",
            "method": "hmc",
        }
    },
    "targets": ["only"],
}
RUN = "bought{}/n16/fan_in/tolerance_10/adam/hmc/s1"


def study(**changes: Any) -> Study:
    return load_study(override(shipped_presets(), override(deepcopy(STUDY), changes)))


def test_each_round_is_a_dataset_with_the_rows_so_far() -> None:
    found = study()
    names = ["bought", "bought_1", "bought_2"]
    assert found.rounds == {"bought": tuple(names)}
    assert found.grids["only"].dataset == tuple(names)
    assert [run.run_id for run in found.runs("only")] == [RUN.format(n) for n in ("", "_1", "_2")]
    sources = [found.program(name) for name in names]
    assert [source.rows(1) for source in sources] == [115, 126, 137]
    assert [source.chunks for source in sources] == [12, 2, 2]


def test_jobs_have_what_they_use() -> None:
    found = study()
    design, later = design_job(found.datasets["bought"]), choose_job(found.datasets["bought_2"])
    assert (design.held_out, design.seed) == (90, 1)
    assert (later.round, later.points, later.random) == (2, 11, 0.2)
    judged = judge_job(found.datasets["bought_1"])
    assert (judged.looks, judged.target.confidence) == (3, 0.95)


def test_a_plan_knows_what_each_round_follows() -> None:
    plan = load_plan(override(shipped_presets(), STUDY))
    assert plan.chosen_datasets == ["bought_1", "bought_2"]
    assert [one.number for one in plan.rounds.values()] == [0, 1, 2]
    assert plan.rounds["bought_2"].run == RUN.format("_2")
    assert "only" not in plan.compared, "of rounds no comparison"


def test_a_grid_ends_with_the_round_that_meets_the_target(tmp_path: Any) -> None:
    plan = load_plan(override(shipped_presets(), STUDY))
    asked: list[str] = []

    def verdict_of(dataset: str) -> str:
        asked.append(dataset)
        path = tmp_path / f"{dataset}.json"
        path.write_text(f'{{"met": {"true" if dataset == "bought_1" else "false"}}}')
        return str(path)

    wanted = grid_outputs(plan, "only", verdict_of)
    assert asked == ["bought", "bought_1"]
    assert f"results/surrogates/{RUN.format('_1')}.nc" in wanted
    assert not [path for path in wanted if "bought_2" in path or "bought/" in path]
    assert "results/figures/rounds/bought_1/rounds.svg" in wanted


def of_source(**changes: Any) -> dict[str, Any]:
    return {"datasets": {"bought": {"source": changes}}}


LIST = {"kind": "list", "path": "README.md", "columns": ["a"], "points": 3}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"datasets": {"bought_1": STUDY["datasets"]["bought"]}}, "study.round_is_taken"),
        ({"grids": {"only": {"seed": [1, 2]}}}, "study.rounds_of_runs"),
        ({"grids": {"only": {"network": ["n16", "n32"]}}}, "study.rounds_of_runs"),
        ({"datasets": {"bought": {"split": "thesis"}}}, "study.rounds_split"),
        ({"grids": {"only": {"method": "laplace_linearised"}}}, "study.rounds_without_surrogate"),
        (of_source(rounds={"points": 1}), "study.round_of_one_kind"),
        (of_source(rounds={"held_out": 5}), "study.target_of_few"),
        (of_source(rounds={"target": {"median": 0.1}}), "study.accuracy"),
        (
            of_source(design={"ranges": {"b": {"low": 0, "high": 1}}}),
            "study.rounds_of_columns",
        ),
    ],
)
def test_rounds_that_cannot_be_are_refused(changes: dict[str, Any], code: str) -> None:
    with refused("study.refused") as caught:
        study(**changes)
    assert code in caught.value.fields["faults"], str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_has_no_further_points() -> None:
    changed = override(shipped_presets(), deepcopy(STUDY))
    changed["datasets"]["bought"]["source"]["design"] = LIST
    with refused("study.rounds_of_list"):
        load_study(changed)
