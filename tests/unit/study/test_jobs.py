"""Content of each job: a change reaches the jobs that it concerns and no other."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from nlobayes.study.job_builder import ingest_job, prepare_job, run_jobs, simulate_job
from nlobayes.study.jobs import (
    CheckConvergenceJob,
    DiagnoseJob,
    DrawJob,
    EvaluateJob,
    ExportJob,
    Frozen,
    IngestJob,
    LandscapeJob,
    PosteriorPredictiveJob,
    PretrainJob,
    PriorPredictiveJob,
    TabulateChainsJob,
    TabulateJob,
    WarmupJob,
)
from nlobayes.study.read_jobs import read_job
from nlobayes.study.sources.slha import SlhaSource
from nlobayes.study.study import Study
from tests.refusals import invalid, refused
from tests.unit.study.small import make_study

KINDS: dict[str, type[Frozen]] = {
    "pretrain": PretrainJob,
    "warmup": WarmupJob,
    "draw": DrawJob,
    "check_convergence": CheckConvergenceJob,
    "diagnose": DiagnoseJob,
    "posterior_predictive": PosteriorPredictiveJob,
    "landscape": LandscapeJob,
    "prior_predictive": PriorPredictiveJob,
    "evaluate": EvaluateJob,
    "tabulate": TabulateJob,
    "tabulate_chains": TabulateChainsJob,
    "export": ExportJob,
}
ON_DEVICE = {"pretrain", "warmup", "draw", "posterior_predictive", "landscape"}
MODEL = ON_DEVICE | {"prior_predictive"}

# A change of the small study, and the jobs that must run again because of it.
REACHED: list[tuple[dict[str, Any], set[str]]] = [
    ({"evaluation": {"default": {"noise": "student_t"}}}, {"evaluate"}),
    ({"evaluation": {"default": {"thresholds": {"rhat_max": 1.1}}}}, {"diagnose"}),
    ({"evaluation": {"default": {"calibration": {"coverage": 0.1}}}}, {"evaluate", "tabulate"}),
    ({"evaluation": {"default": {"thinning_loss": 0.2}}}, {"diagnose"}),
    ({"evaluation": {"default": {"combine": "stacking"}}}, {"evaluate"}),
    ({"evaluation": {"default": {"export": {"draws": 9}}}}, {"export"}),
    ({"evaluation": {"default": {"figures": {"cases": [3]}}}}, {"tabulate"}),
    ({"evaluation": {"default": {"figures": {"marginals": ["noise"]}}}}, {"tabulate_chains"}),
    (
        {"evaluation": {"default": {"figures": {"weight_planes": [["noise", "biases_1[0]"]]}}}},
        {"tabulate_chains"},
    ),
    ({"methods": {"hmc": {"chains_per_start": 2}}}, {"diagnose"}),
    ({"methods": {"hmc": {"segments": 3}}}, set()),
    ({"methods": {"hmc": {"chains": 6}}}, set()),
    ({"methods": {"hmc": {"draws_per_segment": 32}}}, {"draw"}),
    ({"methods": {"hmc": {"thin": 4}}}, {"draw"}),
    ({"methods": {"hmc": {"warmup": {"steps": 50}}}}, {"warmup", "draw"}),
    ({"methods": {"hmc": {"warmup": {"segments": 2}}}}, {"warmup", "draw"}),
    ({"methods": {"hmc": {"until": {"rhat_max": 1.1}}}}, {"check_convergence"}),
    ({"execution": {"chains_per_job": 2}}, set()),
    ({"execution": {"device": "gpu"}}, ON_DEVICE),
    ({"execution": {"pretraining_device": "gpu"}}, {"pretrain"}),
    ({"execution": {"device": "gpu", "pretraining_device": "cpu"}}, ON_DEVICE - {"pretrain"}),
    ({"execution": {"shards": 2}}, ON_DEVICE),
    ({"methods": {"hmc": {"kernel": {"jitter": 0.1}}}}, {"warmup", "draw", "diagnose"}),
    ({"pretraining": {"adam": {"epochs": 3}}}, {"pretrain"}),
    ({"networks": {"n4": {"activation": "relu"}}}, MODEL | {"export"}),
    ({"priors": {"fan_in": {"scale": 2.0}}}, MODEL),
    ({"likelihoods": {"tight": {"sigma": 0.2}}}, MODEL | {"diagnose"}),
    ({"precision": "float64"}, MODEL),
    ({"datasets": {"made": {"split": {"seed": 3}}}}, set()),
    ({"datasets": {"made": {"source": {"points": 70}}}}, set()),
    ({"networks": {"n8": {"hidden": [9]}}}, set()),
    ({"methods": {"nuts": {"segments": 2}}}, set()),
    ({"seeds": [1, 5]}, set()),
]


def first_jobs(study: Study) -> dict[str, Frozen]:
    """Return the jobs of made/n4/fan_in/tight/adam/hmc/s1."""
    return run_jobs(next(study.runs("small")))


@pytest.mark.parametrize(("change", "reached"), REACHED, ids=lambda part: "-".join(sorted(part)))
def test_a_change_reaches_the_jobs_that_it_concerns(
    change: dict[str, Any], reached: set[str]
) -> None:
    before, after = first_jobs(make_study()), first_jobs(make_study(change))
    assert before.keys() <= after.keys()
    differing = {
        verb for verb in after if specification(before, verb) != specification(after, verb)
    }
    assert differing == reached


def specification(jobs: dict[str, Frozen], verb: str) -> str | None:
    """Return the specification of a verb, None if it is not called."""
    return jobs[verb].model_dump_json() if verb in jobs else None


def test_only_chains_are_stacked() -> None:
    """An approximation of the same grid has no chains, and is scored without stacking."""
    study = make_study(
        {
            "methods": {"maps": {"kind": "map_ensemble"}},
            "evaluation": {"default": {"combine": "stacking"}},
            "grids": {"small": {"method": ["hmc", "maps"]}},
        }
    )
    jobs = {run.names["method"]: run_jobs(run)["evaluate"] for run in study.runs("small")}
    assert {name: job.model_dump()["combine"] for name, job in jobs.items()} == {
        "hmc": "stacking",
        "maps": "equal",
    }


def test_only_a_sampler_with_targets_is_checked_on_its_way() -> None:
    """Another target reaches no other job, so the existing draws stay."""
    assert "check_convergence" not in first_jobs(make_study())
    one, two = (
        first_jobs(make_study({"methods": {"hmc": {"until": {"ess_min": ess}}}}))
        for ess in (200.0, 300.0)
    )
    assert {verb for verb in one if one[verb] != two[verb]} == {"check_convergence"}


def test_the_energy_variance_of_an_unadjusted_kernel_reaches_its_diagnosis() -> None:
    """The target of its warm-up is its limit; other kernels have none."""

    def jobs_of(**warmup: float) -> dict[str, Any]:
        sampler = {"kernel": {"kind": "mclmc"}, "warmup": warmup}
        return first_jobs(make_study({"methods": {"hmc": sampler}}))

    one, two = jobs_of(), jobs_of(energy_variance=1e-5)
    assert {verb for verb in one if one[verb] != two[verb]} == {"warmup", "draw", "diagnose"}
    assert two["diagnose"].energy_variance == two["warmup"].warmup.energy_variance == 1e-5
    assert first_jobs(make_study())["diagnose"].model_dump()["energy_variance"] is None


def test_the_shape_of_images_reaches_their_tables_alone() -> None:
    """Nothing is prepared or sampled again for a figure."""
    run = next(make_study().runs("small"))
    shown = run.model_copy(update={"dataset": run.dataset.model_copy(update={"image": (1, 5)})})
    one, two = run_jobs(run), run_jobs(shown)
    assert {verb for verb in one if one[verb] != two[verb]} == {"tabulate"}
    assert two["tabulate"].model_dump()["image"] == (1, 5)
    assert prepare_job(run.dataset) == prepare_job(shown.dataset)


def test_equal_posteriors_have_equal_jobs_whatever_their_names() -> None:
    """Preset names are in the path of a run, not in its jobs."""
    renamed = make_study({"networks": {"n8": {"hidden": [4]}}})
    runs = {run.run_id: run_jobs(run) for run in renamed.runs("small")}
    same = "fan_in/tight/adam/hmc/s1"
    assert runs[f"made/n4/{same}"] == runs[f"made/n8/{same}"]


@pytest.mark.parametrize(
    ("change", "simulated", "prepared"),
    [
        ({"source": {"points": 70}}, True, False),
        ({"source": {"sqrt_s_tev": 14.0}}, True, False),
        ({"split": {"seed": 3}}, False, True),
        ({"features": {"map": "raw"}}, False, True),
        ({"target": {"unit": "fb"}}, False, True),
        ({"reference_points": 7}, False, True),
    ],
    ids=str,
)
def test_a_dataset_is_simulated_or_only_prepared_anew(
    change: dict[str, Any], simulated: bool, prepared: bool
) -> None:
    before = make_study().datasets["made"]
    after = make_study({"datasets": {"made": change}}).datasets["made"]
    assert (simulate_job(before) != simulate_job(after)) is simulated
    assert (prepare_job(before) != prepare_job(after)) is prepared


def slha_source(**changes: Any) -> SlhaSource:
    return SlhaSource.model_validate({"kind": "slha", "folder": "scan"} | changes)


def test_every_key_of_slha_files_reaches_their_ingestion() -> None:
    """Their folder is an input of the rule."""
    changes: dict[str, Any] = {
        **{"pair": [3, 1], "sqrt_s_tev": 8.0, "cross_section": "nlo", "masses": "absolute"},
        **{"pattern": "**/*.spc", "layout": ["nlo:fb"]},
    }
    instead = {"process": [1000023, 1000024], "order": 1}
    assert {"kind", "folder", *changes, *instead} == SlhaSource.model_fields.keys()
    source = {"kind": "slha", "folder": "scan", **changes}
    read = ["m1", "n11", "m3", "n33"]
    mine = {"source": source, "split": {"train": 5, "validation": 2, "test": 2}}
    mine |= {"features": {"columns": read, "map": "raw"}}
    dataset = make_study({"datasets": {"real": mine}}).datasets["real"]
    job = ingest_job(dataset)
    assert job.spectra.model_dump(mode="json") == changes | {"pair": [1, 3]}
    assert read_job(IngestJob, job.model_dump_json()) == job
    mine |= {"source": {"kind": "slha", "folder": "scan", **instead}}
    mine |= {"features": {"columns": ["m2", "mc1"], "map": "raw", "units": {}}}
    other = ingest_job(make_study({"datasets": {"real": mine}}).datasets["real"]).spectra
    assert instead.items() <= other.model_dump(mode="json").items()
    assert prepare_job(dataset).units == {}


def test_files_are_listed_by_name_and_digested_by_content(tmp_path: Path) -> None:
    for name in ("b.slha", "a.slha", "c.txt", "below/d.slha"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "SPheno.spc").write_text("# by SPheno\nBlock MASS\n")
    (tmp_path / "folder.slha").mkdir()
    with refused("study.no_spectra", where="folder"):
        slha_source(folder=str(tmp_path), pattern="*.out").check_given()
    with refused("study.no_table", where="path"):
        make_study().datasets["mine"].source.check_given()
    names = [path.name for path in slha_source().files(tmp_path)]
    assert names == ["SPheno.spc", "a.slha", "b.slha"]
    assert [path.name for path in slha_source(pattern="**/*").files(tmp_path)] == [
        *("SPheno.spc", "a.slha", "b.slha", "d.slha"),
    ]
    digests = [slha_source(folder=str(tmp_path)).digest()]
    for change in (
        lambda: (tmp_path / "a.slha").write_text("B.slha"),
        lambda: (tmp_path / "a.slha").rename(tmp_path / "aa.slha"),
        lambda: (tmp_path / "e.slha").write_text(""),
        lambda: (tmp_path / "b.slha").unlink(),
    ):
        change()
        digests.append(slha_source(folder=str(tmp_path)).digest())
    assert len(set(digests)) == 5
    os.utime(tmp_path / "e.slha", (0, 0))
    (tmp_path / "c.txt").write_text("other")
    assert slha_source(folder=str(tmp_path)).digest() == digests[-1]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"folder": "../scan"}, "study.path_climbs"),
        ({"folder": ""}, "study.path_climbs"),
        ({"pattern": "../*"}, "study.path_climbs"),
        ({"pattern": "/etc/*"}, "study.pattern"),
        ({"pattern": "a**/*"}, "study.pattern"),
        ({"pair": [0, 1]}, "greater_than_equal"),
        ({"pair": [1, 5]}, "less_than_equal"),
        ({"pair": [1]}, "missing"),
        ({"pair": [1.0, 2]}, "int_type"),
        ({"sqrt_s_tev": 0}, "greater_than"),
        ({"cross_section": "lo"}, "literal_error"),
        ({"masses": "some"}, "literal_error"),
        ({"path": "a.csv"}, "study.unknown_key"),
        ({"order": 1, "cross_section": "nlo"}, "study.order_and_prospino"),
    ],
)
def test_slha_sources_that_cannot_be_are_refused(change: dict[str, Any], fault: str) -> None:
    with invalid(fault) as caught:
        slha_source(**change)
    [detail] = caught.value.errors()
    assert detail["loc"][:1] == (tuple(change) if len(change) == 1 and "path" not in change else ())


@pytest.mark.parametrize("verb", KINDS)
def test_jobs_are_read_back_from_text_and_from_a_file(tmp_path: Path, verb: str) -> None:
    job = first_jobs(make_study({"methods": {"hmc": {"until": {}}}}))[verb]
    text = job.model_dump_json()
    (tmp_path / "spec.json").write_text(text)
    assert isinstance(job, KINDS[verb])
    assert read_job(KINDS[verb], text) == job
    assert read_job(KINDS[verb], f"\n {text}") == job
    assert read_job(KINDS[verb], str(tmp_path / "spec.json")) == job


@pytest.mark.parametrize(
    ("change", "place", "fault"),
    [
        ({"draws": 0}, "draws", "greater_than_equal"),
        ({"draws": -8}, "draws", "greater_than_equal"),
        ({"thin": 0}, "thin", "greater_than_equal"),
        ({"thin": 5}, "", "study.uneven_thin"),
        ({"seed": -1}, "seed", "greater_than_equal"),
        ({"seed": 2**32}, "seed", "less_than"),
        ({"drawz": 3}, "", "study.unknown_key"),
        ({"kernel": {"kind": "nutz"}}, "kernel", "union_tag_invalid"),
        ({"warmup": {"kind": "windows", "steps": 5}}, "warmup.windows", "study.no_window"),
        ({"warmup": {"kind": "none"}}, "warmup", "union_tag_invalid"),
        ({"kernel": {}}, "kernel", "union_tag_not_found"),
        ({"model": {}}, "model.network", "missing"),
    ],
    ids=str,
)
def test_refused_specifications_name_the_error_and_its_place(
    change: dict[str, Any], place: str, fault: str
) -> None:
    spec = first_jobs(make_study())["draw"].model_dump(mode="json") | change
    with refused(fault, where="DrawJob specification") as caught:
        read_job(DrawJob, json.dumps(spec))
    assert caught.value.fields["places"][0] == place
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", ["", "draw", "[1]", "x" * 5000])
def test_text_that_is_no_object_is_taken_for_a_path(spec: str) -> None:
    with refused("study.no_spec", where="--spec", path=Path(spec)):
        read_job(DrawJob, spec)
