"""Memory and time that jobs request: enough for what was measured, and not much more."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from nlobayes.likelihoods import Likelihood
from nlobayes.stages import PIPELINE
from nlobayes.stages.job_size import Size
from nlobayes.study.grids import RunSpec
from nlobayes.study.job_builder import run_jobs
from nlobayes.study.jobs import PretrainJob
from nlobayes.study.resources import GPU_MB, SNAKEMAKE_MB, gpus_of, need, rows_of, size_of
from nlobayes.study.sources import UNKNOWN_ROWS
from nlobayes.study.study import Study
from nlobayes.study.target import Target
from tests.unit.study.small import make_study

BASE_MB = {name: mb for name, stage in PIPELINE.items() if (mb := stage.base_mb) is not None}
ON_GPU = {"pretrain", "approximate", "warmup", "draw", "landscape"}

TINY = {
    "datasets": {
        "made": {
            "source": {"points": 300},
            "split": {"train": 150, "validation": 75, "test": 75},
            "reference_points": 20,
        }
    },
    "methods": {
        "hmc": {
            "kernel": {"integration_steps": 8},
            "warmup": {"steps": 60},
            "chains": 2,
            "draws_per_segment": 60,
            "thin": 4,
        }
    },
}
CI = {
    "datasets": {
        "made": {
            "source": {"points": 1200},
            "split": {"train": 500, "validation": 300, "test": 400},
            "reference_points": 200,
        }
    },
    "networks": {"n4": {"hidden": [16]}},
    "pretraining": {"adam": {"epochs": 1000}},
    "methods": {"hmc": {"warmup": {"steps": 300}, "draws_per_segment": 500, "thin": 4}},
}
LARGE = {  # 10 551 weights, 2000 draws kept without thinning, 15 000 rows
    "datasets": {
        "made": {
            "source": {"points": 15000},
            "split": {"train": 200, "validation": 2000, "test": 12800},
            "reference_points": 500,
        }
    },
    "networks": {"n4": {"hidden": [50, 50, 50, 50, 50]}},
    "methods": {
        "hmc": {
            "kernel": {"integration_steps": 16},
            "warmup": {"steps": 200},
            "chains": 2,
            "draws_per_segment": 1000,
            "thin": 1,
        }
    },
}
LONG = {  # 80 000 draws of the function at 500 points
    "datasets": LARGE["datasets"],
    "methods": {
        "hmc": {
            "kernel": {"integration_steps": 4},
            "warmup": {"steps": 200},
            "chains": 2,
            "draws_per_segment": 40000,
            "thin": 40,
        }
    },
}
# Peaks that Snakemake recorded (`max_rss` in MiB), cold compilation caches included.
MEASURED = {
    "tiny": {
        **{"simulate": 179, "prepare": 165, "pretrain": 450, "warmup": 665, "draw": 613},
        **{
            "assemble": 153,
            "diagnose": 374,
            "thin": 395,
            "posterior_predictive": 340,
            "evaluate": 418,
        },
        **{"tabulate": 420, "plot": 255},
    },
    "ci": {
        **{"simulate": 170, "prepare": 147, "pretrain": 721, "warmup": 889, "draw": 726},
        **{
            "assemble": 157,
            "diagnose": 380,
            "thin": 408,
            "posterior_predictive": 365,
            "evaluate": 418,
        },
        **{"plot": 229, "landscape": 526, "prior_predictive": 630},
    },
    "large": {
        **{"simulate": 178, "prepare": 129, "pretrain": 776, "warmup": 942, "draw": 798},
        **{"assemble": 298, "diagnose": 746, "thin": 524, "posterior_predictive": 763},
        **{"evaluate": 1017},
    },
    "long": {"warmup": 881, "draw": 762, "assemble": 404, "diagnose": 2055, "thin": 1625},
}
STUDIES: dict[str, dict[str, Any]] = {"tiny": TINY, "ci": CI, "large": LARGE, "long": LONG}
TWO_SNAKEMAKES = 355
"""Peak of the processes that start a job on a cluster (MiB)."""
SIZE = Size(
    rows=4000,
    columns=5,
    train=1000,
    reference=500,
    weights=225,
    matrix=225,
    chains=4,
    chain_group=1,
    warmup=400,
    segment=2000,
    draws=4000,
    kept=500,
    segment_kept=2000,
    prior_draws=500,
    called_mb=1000,
    calling_seconds=60.0,
    draw_seconds=0.1,
    pretrain_seconds=10.0,
)


def first_run(study: Study) -> RunSpec:
    return next(study.runs("small"))


def size_in(study: Study) -> Size:
    run = first_run(study)
    return size_of(run, rows_of(run.dataset))


@pytest.mark.parametrize("study", STUDIES)
def test_memory_is_enough_and_at_most_four_times_of_what_was_measured(study: str) -> None:
    size = size_in(make_study(STUDIES[study]))
    ratios = {
        verb: need(verb, size).mem_mb / (measured + TWO_SNAKEMAKES)
        for verb, measured in MEASURED[study].items()
    }
    assert {verb: ratio for verb, ratio in ratios.items() if not 1.1 < ratio < 4} == {}


def test_nothing_grows_without_asking_for_at_least_as_much() -> None:
    """But a job that draws one segment has a smaller share of more draws."""
    more = {name: SIZE._replace(**{name: 2 * getattr(SIZE, name)}) for name in Size._fields}
    pairs = [(verb, name) for verb in BASE_MB for name in more]
    sizes = {pair: (need(pair[0], SIZE), need(pair[0], more[pair[1]])) for pair in pairs}
    less = [pair for pair, (before, after) in sizes.items() if after.mem_mb < before.mem_mb]
    assert {*less} <= {("draw", "draws")}
    assert [pair for pair in pairs if sizes[pair][1].runtime < sizes[pair][0].runtime] == []


READ = {
    "rows": "simulate ingest design gather prepare posterior_predictive plot",
    "weights": "pretrain landscape",
    "matrix": "warmup",
    "segment": "draw",
    "chain_group": "draw",
    "chains": "assemble",
    "reference": "diagnose prior_predictive",
    "kept": "thin evaluate tabulate tabulate_sizes export",
    "draws": "tabulate_chains agree",
    "called_mb": "run_program",
}


def test_memory_follows_what_the_verb_reads() -> None:
    for name, verbs in READ.items():
        more = SIZE._replace(**{name: 100 * getattr(SIZE, name)})
        for verb in verbs.split():
            assert need(verb, more).mem_mb > need(verb, SIZE).mem_mb, (verb, name)


@pytest.mark.parametrize(
    ("verb", "seconds"),
    [("pretrain", 1e4), ("warmup", 400 * 10.0), ("draw", 2000 * 10.0)],
)
def test_wall_time_holds_the_work_of_one_job(verb: str, seconds: float) -> None:
    slow = SIZE._replace(draw_seconds=10.0, pretrain_seconds=1e4)
    assert need(verb, slow).runtime == pytest.approx(10 + seconds / 60, abs=1)


def test_wall_time_of_scores_is_enough_and_not_days() -> None:
    """30 million predictions took 98 CPU seconds, 238 s on a machine shared by many."""
    size = SIZE._replace(chains=2, kept=1000, rows=15000)
    assert 238 / 60 < need("evaluate", size).runtime < 30


@pytest.mark.parametrize(
    ("kernel", "gradients"),
    [
        ({"kind": "hmc", "integration_steps": 64}, 64),
        ({"kind": "nuts", "max_depth": 7}, 128),
        ({"kind": "gibbs_hmc", "integration_steps": 64}, 65),
        ({"kind": "mclmc", "integration_steps": 32}, 64),
        ({"kind": "adjusted_mclmc", "most_integration_steps": 100}, 200),
        ({"kind": "tensorbnn"}, 512),
        ({"kind": "tempering", "num_temperatures": 8, "integration_steps": 4}, 32),
        (
            {
                "kind": "tempering",
                "inverse_temperatures": [1, 0.5, 0.1],
                "integration_steps": 4,
            },
            12,
        ),
        ({"kind": "random_walk"}, 1),
    ],
)
def test_time_of_a_draw_is_that_of_its_gradients(kernel: dict[str, Any], gradients: int) -> None:
    study = make_study({"methods": {"other": {"kernel": kernel, "draws_per_segment": 16}}})
    run = first_run(study).model_copy(update={"method": study.methods["other"]})
    one = size_of(first_run(study), 60).draw_seconds / 256  # the default of hmc
    assert size_of(run, 60).draw_seconds == pytest.approx(gradients * one, rel=0.02)


@pytest.mark.parametrize("mass_matrix", ["dense", "low_rank", "gauss_newton"])
def test_a_dense_mass_matrix_needs_its_square(mass_matrix: str) -> None:
    wide = {"networks": {"n4": {"hidden": [500]}}}
    dense = {"methods": {"hmc": {"warmup": {"mass_matrix": mass_matrix}}}}
    diagonal = need("warmup", size_in(make_study(wide)))
    squared = need("warmup", size_in(make_study(wide | dense)))
    assert squared.mem_mb > diagonal.mem_mb + 8 * 3501**2 / 1e6


@pytest.mark.parametrize(
    ("likelihood", "target", "outputs"),
    [
        ({"kind": "heteroscedastic"}, {}, 2),
        ({"kind": "gaussian", "sigma": 0.1}, {"column": ["sigma_pb", "scale_up"]}, 2),
        ({"kind": "categorical"}, {"scale": "classes"}, 10),
        ({"kind": "bernoulli"}, {"scale": "classes"}, 1),
    ],
)
def test_every_output_is_predicted_and_has_weights(
    likelihood: dict[str, Any], target: dict[str, Any], outputs: int
) -> None:
    """The number of classes is not known before the table is read: ten are assumed."""
    run = first_run(make_study())
    changed = run.model_copy(
        update={
            "likelihood": TypeAdapter(Likelihood).validate_python(likelihood),
            "dataset": run.dataset.model_copy(update={"target": Target(**target)}),
        }
    )
    one, several = size_of(run, 60), size_of(changed, 60)
    assert several.weights == one.weights + (outputs - 1) * (run.network.hidden[-1] + 1)
    assert several.predicted == outputs * one.predicted


def test_the_host_of_a_gpu_holds_its_libraries() -> None:
    on_gpu = size_in(make_study({"execution": {"device": "gpu", "shards": 2}}))
    on_cpu = size_in(make_study())
    assert (on_gpu.gpus, on_cpu.gpus) == (2, 0)
    more = {verb: need(verb, on_gpu).mem_mb - need(verb, on_cpu).mem_mb for verb in BASE_MB}
    assert {verb for verb, megabytes in more.items() if megabytes} == ON_GPU
    assert {more[verb] for verb in ON_GPU} == {GPU_MB}


def test_maps_on_a_core_beside_chains_on_a_gpu_request_no_gpu() -> None:
    """Their job has one shard, however many the chains have."""
    study = make_study({"execution": {"device": "gpu", "pretraining_device": "cpu", "shards": 2}})
    requested = {verb for verb in PIPELINE if gpus_of(verb, size_in(study))}
    assert requested == ON_GPU - {"pretrain"}
    job = run_jobs(first_run(study))["pretrain"]
    assert isinstance(job, PretrainJob)
    assert (job.model.device, job.model.shards) == ("cpu", 1)


def test_several_runs_need_the_sum_of_their_numbers() -> None:
    fixed = BASE_MB["agree"] + SNAKEMAKE_MB
    one, three = (need("agree", *[SIZE] * runs).mem_mb - fixed for runs in (1, 3))
    assert three == pytest.approx(3 * one, abs=3)
    assert need("compare").mem_mb == BASE_MB["compare"] + SNAKEMAKE_MB


def test_rows_of_every_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    toy = {
        "source": {"kind": "toy", "name": "marek"},
        "features": {"columns": ["x"], "map": "raw"},
        "target": {"column": "y", "scale": "identity"},
        "split": "thesis",
    }
    files = {"source": {"kind": "slha", "folder": "scan"}, "split": "thesis"}
    datasets = make_study({"datasets": {"toy": toy, "files": files}}).datasets
    assert rows_of(datasets["made"]) == 60
    assert rows_of(datasets["toy"]) >= 2227  # the longest
    assert rows_of(datasets["mine"]) == UNKNOWN_ROWS
    csv = "".join(f"{row}.5,{row}.25,1.0,2.0,3.0,1e-3\n" for row in range(1000))
    (tmp_path / "data").mkdir()
    (tmp_path / "data/points.csv").write_text(csv)
    assert 1000 <= rows_of(datasets["mine"]) <= 3000
    assert rows_of(datasets["files"]) == 0
    (tmp_path / "scan").mkdir()
    for name in ("a.slha", "b.slha", "c.txt"):
        (tmp_path / "scan" / name).touch()
    assert rows_of(datasets["files"]) == 2
