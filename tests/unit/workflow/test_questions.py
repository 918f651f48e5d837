"""Functions of the rules: paths of the study, quoted options, resources of the right run."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace as Wildcards
from typing import Any

import pytest

from nlobayes.figures import FigureKind, names_of
from nlobayes.study.job_builder import run_jobs
from nlobayes.study.resources import need, size_of
from nlobayes.study.study import override
from nlobayes.workflow.inputs import Inputs
from nlobayes.workflow.needs import Needs
from nlobayes.workflow.parameters import Options, Specifications
from nlobayes.workflow.patterns import (
    one_of,
    runs_in_segments,
    runs_made_by,
    runs_of_chains,
    runs_of_drawn_sizes,
    wildcard_patterns,
)
from nlobayes.workflow.plan import Plan
from nlobayes.workflow.targets import figures_of, grid_outputs, outputs_of

MakePlan = Callable[..., Plan]

RUN = "made/n4/fan_in/tight/adam/hmc/s1"
MODEL = "made/n4/fan_in/tight/adam/s1"
OF_CLASSES = "kinds/n4/fan_in/classes/adam/hmc/s1"
CHAINS = f"results/chains/{RUN}"
GRID = {
    "dataset": "made",
    "likelihood": "tight",
    **{"network": "n4", "prior": "fan_in", "pretraining": "adam"},
}


class Files(list[str]):
    """Files of a job as Snakemake passes them: a list with names."""

    def __init__(self, **named: list[str]) -> None:
        super().__init__(path for paths in named.values() for path in paths)
        self.__dict__.update(named)


def of_run(**more: str) -> Any:
    return Wildcards(run=RUN, **more)


def test_the_first_piece_of_a_warmup_begins_with_maps_the_others_with_the_piece_before(
    plan: Plan,
) -> None:
    inputs, first, second = (
        Inputs(plan),
        of_run(chain_group="2", segment="0"),
        of_run(chain_group="2", segment="1"),
    )
    assert inputs.maps_of_chain_group(first) == [f"results/pretrain/{MODEL}/2.nc"]
    assert inputs.warmup_before(first) == []
    assert inputs.maps_of_chain_group(second) == []
    assert inputs.warmup_before(second) == [f"{CHAINS}/2/warmup_0.nc"]


def test_a_warmup_gets_its_maps_with_their_chains(make_plan: MakePlan) -> None:
    together = make_plan({"execution": {"chains_per_job": 2}})
    wildcards = of_run(chain_group="1", segment="0")
    starts = Inputs(together).maps_of_chain_group(wildcards)
    options = Options(together).begin_warmup(wildcards, Files(starts=starts, previous=[]))
    maps = [f"results/pretrain/{MODEL}/{number}.nc" for number in (2, 3)]
    assert options == f"--start {maps[0]} --chain 2 --start {maps[1]} --chain 3"


def test_a_segment_continues_the_one_before_and_the_first_the_warmup(plan: Plan) -> None:
    inputs = Inputs(plan)
    assert inputs.segment_before(of_run(chain_group="0", segment="1")) == f"{CHAINS}/0/segment_0.nc"
    assert inputs.segment_before(of_run(chain_group="0", segment="0")) == f"{CHAINS}/0/warmup_0.nc"


def test_only_a_sampler_with_until_waits_for_verdicts(plan: Plan, make_plan: MakePlan) -> None:
    with_until = make_plan({"methods": {"hmc": {"until": {}}}})
    second, first = of_run(segment="1"), of_run(segment="0")
    assert Inputs(plan).verdict_before(second) == []
    assert Inputs(with_until).verdict_before(first) == []
    assert Inputs(with_until).verdict_before(second) == [f"{CHAINS}/verdict_0.json"]


def test_files_of_a_run_are_listed_chain_group_by_chain_group(plan: Plan) -> None:
    every = [
        f"{CHAINS}/{chain_group}/segment_{number}.nc"
        for chain_group in range(4)
        for number in range(2)
    ]
    assert Inputs(plan).segments(of_run()) == every
    assert Inputs(plan).segments_so_far(of_run(segment="0")) == every[::2]
    assert len(Inputs(plan).warmups(of_run())) == 4


def test_chains_of_pymc_are_chains_that_one_job_makes(make_plan: MakePlan) -> None:
    """They are compared with other samplers and with approximations, and need no MAP."""
    changes = {
        "methods": {
            "yardstick": {"kind": "pymc", "chains": 3},
            "maps": {"kind": "map_ensemble", "members": 2},
        },
        "grids": {"two": {"method": ["yardstick", "hmc", "maps"], "seed": [1]}},
    }
    plan, name = make_plan(changes), f"two/{MODEL}"
    yardstick, hmc = RUN.replace("hmc", "yardstick"), RUN
    assert plan.samplers == {name: [yardstick, hmc]}
    assert plan.approximated[name].exact.timings == (f"sample/{yardstick}.tsv",)
    patterns = {
        "chains": runs_of_chains(plan),
        "segments": runs_in_segments(plan),
        "sample": runs_made_by("sample", plan),
        "approximate": runs_made_by("approximate", plan),
    }
    found = {
        run: {name for name, pattern in patterns.items() if re.fullmatch(pattern, run)}
        for run in (yardstick, hmc, RUN.replace("hmc", "maps"))
    }
    assert [*found.values()] == [{"chains", "sample"}, {"chains", "segments"}, {"approximate"}]
    jobs = run_jobs(plan.runs[yardstick])
    assert {"sample", "tabulate_chains", "diagnose"} < jobs.keys()
    assert not {"warmup", "draw", "approximate"} & jobs.keys()
    assert jobs["sample"].model_dump()["model"]["precision"] == "float64"
    assert len(Inputs(plan).maps(Wildcards(run=yardstick))) == 3
    assert {"trace", "rank"} & {Path(figure).stem for figure in figures_of(plan.runs[yardstick])}
    fewer = plan.runs[yardstick].method.model_copy(update={"draws": 8, "tune": 8})
    cheap = plan.runs[yardstick].model_copy(update={"method": fewer})
    costs = [need("sample", size_of(run, 300)).runtime for run in (cheap, plan.runs[yardstick])]
    assert costs[0] < costs[1]


def test_approximations_are_held_against_the_chains_of_their_model(make_plan: MakePlan) -> None:
    """In grids with both kinds; each run has the timings of its own jobs, of MAPs too."""
    changes = {
        "methods": {"maps": {"kind": "map_ensemble", "members": 2}},
        "grids": {"two": {"method": ["maps", "hmc", "nuts"], "seed": [1, 2]}},
    }
    plan, name = make_plan(changes), f"two/{MODEL}"
    assert [*plan.approximated] == [name, f"two/{MODEL[:-1]}2"]
    job, maps = plan.approximated[name], RUN.replace("hmc", "maps")
    assert (job.exact.run, [one.run for one in job.approximations]) == (RUN, [maps])
    pretrained = [f"pretrain/{MODEL}/{number}.tsv" for number in range(4)]
    assert job.approximations[0].timings == (*pretrained[:2], f"approximate/{maps}.tsv")
    chains = [f"{verb}/{RUN}/{chain}" for verb in ("warmup", "draw") for chain in range(4)]
    assert {*job.exact.timings} >= {*pretrained, *(f"{one}/0.tsv" for one in chains)}
    assert len(job.exact.timings) == 4 + 4 + 8  # two segments of draws
    read = Inputs(plan).held_against(Wildcards(approximated=name))
    assert read["predictions"] == [f"results/predictions/{run}.nc" for run in (RUN, maps)]
    assert read["diagnostics"][0] == f"results/metrics/{RUN}/diagnostics.json"
    assert f"timings/fidelity/{name}/fidelity.svg" in grid_outputs(plan, "two")
    assert not [path for path in grid_outputs(plan, "one") if "fidelity" in path]


@pytest.mark.parametrize(("more", "exact"), [(["hmc"], RUN), ([], None)])
def test_approximations_are_not_held_against_chains_that_are_not_exact(
    make_plan: MakePlan, more: list[str], exact: str | None
) -> None:
    """Chains of mclmc are first in the grid; without exact chains nothing is compared."""
    changes = {
        "methods": {
            "maps": {"kind": "map_ensemble", "members": 2},
            "biased": {"kernel": {"kind": "mclmc"}, "draws_per_segment": 80},
        },
        "grids": {"two": {"method": ["biased", "maps", *more], "seed": [1]}},
    }
    jobs = make_plan(changes).approximated
    assert [job.exact.run for job in jobs.values()] == ([] if exact is None else [exact])


def test_a_grid_ends_with_what_its_outputs_ask_for(plan: Plan) -> None:
    assert grid_outputs(plan, "prior") == [
        f"results/figures/prior_predictive/{MODEL}/prior_predictive.svg"
    ]
    two = grid_outputs(plan, "two")
    assert f"results/metrics/agreement/two/{MODEL}.json" in two
    assert "results/figures/comparison/two/differences.svg" in two
    assert f"results/metrics/{RUN}/evaluation.json" not in two  # an input of the comparison
    assert f"results/metrics/{RUN}/evaluation.json" in grid_outputs(plan, "one")
    both = outputs_of(plan, "one", "two")(Wildcards())
    assert both == grid_outputs(plan, "one") + two


def test_only_runs_whose_size_is_drawn_have_figures_of_it(make_plan: MakePlan) -> None:
    plan = make_plan(
        {
            "networks": {"drawn": {"hidden": [4], "units": {"kind": "uniform"}}},
            "methods": {"jumps": {"kernel": {"kind": "reversible_jump"}, "draws_per_segment": 8}},
            "grids": {"sized": {**GRID, "network": "drawn", "method": "jumps"}},
        }
    )
    drawn, run = grid_outputs(plan, "sized"), RUN.replace("n4", "drawn").replace("hmc", "jumps")
    for figure in names_of(FigureKind.DRAWN_SIZES):
        assert f"results/figures/{run}/{figure}.svg" in drawn
        assert f"results/figures/{RUN}/{figure}.svg" not in grid_outputs(plan, "one")
    assert re.fullmatch(runs_of_drawn_sizes(plan), run)
    assert not re.fullmatch(runs_of_drawn_sizes(plan), RUN)
    spec = Specifications(plan).fields_of_run("tabulate_sizes")["spec"](Wildcards(run=run))
    assert json.loads(spec)["network"]["units"]["kind"] == "uniform"


def test_figures_that_some_runs_of_classes_have(make_plan: MakePlan) -> None:
    """Classes of two inputs have a plane, and images their figure; others have neither."""
    image = {"features": {"columns": ["x", "y", "z", "w"]}, "image": [2, 2]}
    changes = [{}, {"features": {"columns": ["x", "y"]}}, image]
    plans = [make_plan({"datasets": {"kinds": each}}) for each in changes]
    found = [
        {name for name in ("certainty", "images") if _figure(name) in grid_outputs(plan, "kinds")}
        for plan in plans
    ]
    assert found == [set(), {"certainty"}, {"images"}]
    assert not [path for path in grid_outputs(plans[0], "one") if "certainty" in path]


def test_timed_grids_end_with_both_figures_and_state_the_length_of_draws(
    make_plan: MakePlan,
) -> None:
    """The longest trajectory of NUTS has two to the power of its depth steps."""
    kernel = {"kind": "nuts", "max_depth": 12}
    plan = make_plan(
        {
            "methods": {"nuts": {"kernel": kernel}, "tangent": {"kind": "laplace"}},
            "grids": {"timed": {**GRID, "method": ["hmc", "nuts", "tangent"], "outputs": "speed"}},
        }
    )
    assert grid_outputs(plan, "timed") == [
        "timings/speed/timed/speed.svg",
        "timings/speed/timed/loadings.svg",
    ]
    timed_runs = json.loads(Specifications(plan).timing_job(Wildcards(grid="timed")))["runs"]
    lengths = [(run["integration_steps"], run["most_gradients"]) for run in timed_runs]
    assert lengths == [(256, None), (None, 4096), (None, None)]


def _figure(name: str) -> str:
    return f"results/figures/{OF_CLASSES}/{name}.svg"


def test_patterns_take_names_letter_by_letter(plan: Plan) -> None:
    assert re.fullmatch(one_of(["a.b"]), "a.b")
    assert not re.fullmatch(one_of(["a.b"]), "axb")
    assert not re.fullmatch(one_of([]), "")
    patterns = wildcard_patterns(plan)
    assert re.fullmatch(patterns["run"], RUN)
    assert not re.fullmatch(patterns["run"], MODEL)
    assert re.fullmatch(patterns["model"], MODEL)


def test_a_plot_gets_its_figures_quoted_and_their_name(plan: Plan) -> None:
    of_run, of_grid = (Options(plan).to_plot(kind, ["a", "it's"]) for kind in ("run", "grid"))
    assert shlex.split(of_run["names"]) == ["--figure", "a", "--figure", "it's"]
    line = of_run["name"](Wildcards(run=RUN))
    assert line == f"run {RUN}, target {plan.runs[RUN].dataset.target.columns[0]}"
    assert (of_grid["name"], of_grid["verdict"]) == ("grid {grid}", "")


@pytest.mark.parametrize("verb", ["warmup", "draw", "evaluate", "tabulate"])
def test_a_command_gets_its_own_specification_and_the_digest_of_its_code(
    plan: Plan, verb: str
) -> None:
    hmc, nuts = (Wildcards(run=RUN.replace("hmc", kernel)) for kernel in ("hmc", "nuts"))
    fields = Specifications(plan).fields_of_run(verb)
    assert json.loads(fields["spec"](hmc))["seed"] == 1
    same_code = fields["code"](hmc) == fields["code"](nuts)
    assert same_code is (verb in {"evaluate", "tabulate"})


def test_a_job_needs_what_its_run_does_and_more_at_each_attempt(plan: Plan) -> None:
    resources = Needs(plan).of("draw")
    expected = need("draw", size_of(plan.runs[RUN], 60))
    job = {"run": RUN, "chain_group": "0", "segment": "0"}
    assert resources["mem_mb"](job, attempt=1) == expected.mem_mb
    assert resources["runtime"](job, attempt=3) == 3 * expected.runtime


RIVALS = {
    "rivals": {"gp": {"kind": "gaussian_process"}, "trees": {"kind": "boosted_trees", "seed": 4}},
    "grids": {"one": {"rivals": ["gp"]}, "two": {"rivals": ["trees", "gp"]}},
}


def test_a_rival_is_told_its_settings_alone_and_whether_its_library_is_there(
    make_plan: MakePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it is fitted once its library is installed."""
    fields = Specifications(make_plan(RIVALS)).fields_of_rival("rival")
    job = Wildcards(dataset="made", rival="trees")
    assert json.loads(fields["spec"](job))["rival"]["seed"] == 4
    assert fields["missing"](job) == ""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert fields["missing"](job) == "sklearn"


def test_a_rival_asks_for_the_memory_of_a_gaussian_process(make_plan: MakePlan) -> None:
    """At most two gigabytes more than its base, however many rows there are."""
    rows = {
        "source": {"points": 50_000},
        "split": {"train": 40_000, "validation": 0.1, "test": 0.1},
    }
    small, large = (
        Needs(make_plan(override(RIVALS, {"datasets": {"made": change}}))).of("rival")["mem_mb"](
            {"dataset": "made", "rival": "gp"}, attempt=1
        )
        for change in ({}, rows)
    )
    assert small < 1500
    assert small + 1000 < large < 4500
