"""Presets crossed by name: the runs, their names, and which names are refused."""

from typing import Any

import pytest
import yaml

from nlobayes.kernels.nuts import NUTSKernel
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.grids import CROSSED, Execution
from nlobayes.study.study import SECTIONS, load_study
from tests.refusals import invalid, refused
from tests.unit.study.small import make_study


def test_a_grid_is_the_cross_of_its_names_and_seeds() -> None:
    runs = [run.run_id for run in make_study().runs("small")]
    assert runs == [
        f"made/{network}/fan_in/tight/adam/{sampler}/s{seed}"
        for network in ("n4", "n8")
        for sampler in ("hmc", "nuts")
        for seed in (1, 2)
    ]


def test_a_run_holds_the_presets_of_its_names() -> None:
    study = make_study({"precision": "float64", "grids": {"small": {"evaluation": "strict"}}})
    for run in study.runs("small"):
        assert [*run.names] == [*CROSSED, "evaluation"]
        for kind, name in run.names.items():
            assert getattr(run, kind) == getattr(study, SECTIONS[kind])[name]
        assert run.precision == "float64"
        assert run.run_id == "/".join([*(run.names[kind] for kind in CROSSED), f"s{run.seed}"])


def test_seeds_of_a_grid_replace_those_of_the_study() -> None:
    runs = make_study({"grids": {"small": {"seed": 7, "network": "n4", "method": "hmc"}}})
    assert [run.seed for run in runs.runs("small")] == [7]


@pytest.mark.parametrize(
    ("chains_per_job", "chain_groups"),
    [
        (1, [[0], [1], [2], [3], [4]]),
        (2, [[0, 1], [2, 3], [4]]),
        (5, [[0, 1, 2, 3, 4]]),
        (9, [[0, 1, 2, 3, 4]]),
        ("all", [[0, 1, 2, 3, 4]]),
    ],
)
def test_chains_share_jobs_as_the_execution_states(
    chains_per_job: int | str, chain_groups: list[list[int]]
) -> None:
    """Every chain is in one chain group, in order; the last chain group may be smaller."""
    chains = {"methods": {"hmc": {"chains": 5}, "nuts": {"chains": 5}}}
    study = make_study(chains | {"execution": {"chains_per_job": chains_per_job}})
    assert [run.chain_groups for run in study.runs("small")] == [chain_groups] * 8


def test_every_chain_has_its_own_job_on_one_cpu_by_default() -> None:
    study = make_study()
    assert study.execution.model_dump(exclude_none=True) == {
        "device": "cpu",
        "chains_per_job": 1,
        "shards": 1,
    }
    assert next(study.runs("small")).chain_groups == [[0], [1], [2], [3]]


def test_chains_that_learn_from_each_other_share_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the execution states; other kernels of the study do not share one job."""
    monkeypatch.setattr(NUTSKernel, "fewest_chains", 3)
    study = make_study({"execution": {"chains_per_job": 2}})
    chain_groups = {run.names["method"]: run.chain_groups for run in study.runs("small")}
    assert chain_groups == {"hmc": [[0, 1], [2, 3]], "nuts": [[0, 1, 2, 3]]}
    make_study({"methods": {"nuts": {"chains": 3}, "hmc": {"chains": 2}}})
    with refused("study.too_few_chains", places=["methods.nuts.chains"]):
        make_study({"methods": {"nuts": {"chains": 2}}})


def test_the_execution_reads_from_yaml_and_reaches_every_run() -> None:
    text = "execution: {device: gpu, chains_per_job: all, shards: 2}"
    study = make_study(yaml.safe_load(text))
    expected = Execution(device="gpu", chains_per_job="all", shards=2)
    assert study.execution == expected
    runs = list(study.runs("small"))
    assert {run.execution for run in runs} == {expected}
    assert [run.run_id for run in runs] == [run.run_id for run in make_study().runs("small")]


@pytest.mark.parametrize("kind", [*CROSSED, "evaluation"])
def test_unknown_presets_are_reported_with_the_known(kind: str) -> None:
    known = sorted(getattr(make_study(), SECTIONS[kind]))
    with refused("study.unknown_name", places=[f"grids.small.{kind}"]) as caught:
        make_study({"grids": {"small": {kind: "nome"}}})
    assert caught.value.fields["reasons"].endswith(f"'nome'; known: {known}")


REFUSED: list[tuple[dict[Any, Any], str, str]] = [
    ({"networkz": {}}, "", "study.unknown_key"),
    ({"grids": {"small": {"networks": "n4"}}}, "grids.small", "study.unknown_key"),
    ({"grids": {"small": {"network": []}}}, "grids.small.network", "too_short"),
    ({"grids": {"small": {"network": ["n4", "n4"]}}}, "grids.small.network", "study.twice"),
    ({"grids": {"small": {"seed": []}}}, "grids.small.seed", "too_short"),
    ({"grids": {"small": {"seed": -1}}}, "grids.small.seed.0", "greater_than_equal"),
    ({"seeds": []}, "seeds", "too_short"),
    ({"seeds": [3, 3]}, "seeds", "study.twice"),
    ({"seeds": [2**32]}, "seeds.0", "less_than"),
    ({"targets": []}, "targets", "too_short"),
    ({"targets": ["smal"]}, "targets", "study.unknown_name"),
    ({"targets": "small"}, "targets", "tuple_type"),
    ({"precision": "float16"}, "precision", "literal_error"),
    ({"networks": None}, "networks", "dict_type"),
    ({1: 2}, "", "study.unknown_key"),
]


def target_of(**keys: Any) -> dict[str, Any]:
    return {"datasets": {"made": {"target": keys}}}


def likelihood_of(kind: str) -> dict[str, Any]:
    return {"likelihoods": {"mine": {"kind": kind}}, "grids": {"small": {"likelihood": "mine"}}}


TWO = target_of(column=["sigma_pb", "lo_pb"])
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"networks": {"n4": {"activation": "prelu"}}}, "study.no_prior_of_slopes"),
    ({"networks": {"n4": {"activation": ["tanh", "relu"]}}}, "study.activations"),
    ({"networks": {"n4": {"outputs": 3}}}, "study.outputs"),
    (likelihood_of("bernoulli"), "study.likelihood_of_classes"),
    (likelihood_of("heteroscedastic") | TWO, "study.likelihood_of_one_target"),
    (TWO | {"grids": {"small": {"outputs": "figures"}}}, "study.figures_of_several_targets"),
    (target_of(scale="classes"), "study.target_of_classes"),
    (target_of(column=[]), "study.no_target"),
    (target_of(column=["a", "b"], scale="classes"), "study.classes_of_columns"),
    ({"datasets": {"made": {"split": {"per_class": True}}}}, "study.per_class_of_numbers"),
    ({"datasets": {"made": {"features": {"covariate": "x"}}}}, "study.covariate"),
]


@pytest.mark.parametrize(("changes", "fault"), UNFIT, ids=lambda part: str(part)[:60])
def test_parts_that_do_not_fit_each_other_are_refused(changes: dict[str, Any], fault: str) -> None:
    with refused(fault):
        make_study(changes)


@pytest.mark.parametrize(("changes", "place", "fault"), REFUSED, ids=lambda part: str(part)[:60])
def test_refused_studies_are_reported_in_one_line(
    changes: dict[Any, Any], place: str, fault: str
) -> None:
    with refused(fault, where="configuration") as caught:
        make_study(changes)
    assert caught.value.fields["places"][0] == place
    assert str(caught.value).startswith(f"configuration: {place}")
    assert "\n" not in str(caught.value)


def test_an_error_names_its_place_and_what_was_received() -> None:
    with refused("dict_type") as caught:
        make_study({"networks": None, "seeds": [3, 3]})
    assert str(caught.value) == (
        "configuration: networks: must have keys with values, as {key: value}, got None; "
        "seeds: 3 is given twice; give each once"
    )
    assert caught.value.fields["faults"] == ["dict_type", "study.twice"]
    assert caught.value.fields["places"] == ["networks", "seeds"]


def test_one_run_is_evaluated_in_one_way() -> None:
    again = make_study().grids["small"].model_dump(mode="json") | {"network": ["n8"]}
    make_study({"grids": {"again": again}})
    with refused("study.two_evaluations", places=["grids.again.evaluation"]) as caught:
        make_study({"grids": {"again": again | {"evaluation": "strict"}}})
    assert "made/n8/fan_in/tight/adam/hmc/s1" in str(caught.value)


def test_chains_that_share_a_start_are_dealt_in_order() -> None:
    sampler = {"kernel": {"kind": "hmc"}, "draws_per_segment": 8, "chains": 6}
    own, shared = (MCMC.model_validate(sampler | {"chains_per_start": n}) for n in (1, 3))
    assert (own.superchains, shared.superchains) == (None, 2)
    run = next(make_study().runs("small"))
    assert run.model_copy(update={"method": own}).starts == [0, 1, 2, 3, 4, 5]
    assert run.model_copy(update={"method": shared}).starts == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("per_start", [4, 5, 6])
def test_starts_are_shared_evenly_and_by_no_less_than_two_groups(per_start: int) -> None:
    sampler = {"kernel": {"kind": "hmc"}, "draws_per_segment": 8, "chains": 6}
    with invalid("study.uneven_starts", chains=6, chains_per_start=per_start):
        MCMC.model_validate(sampler | {"chains_per_start": per_start})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": 3}, "seeds: must be a list, as [first, second], got 3"),
        ({"seeds": [1, 1.5]}, "seeds.1: must be an integer, got 1.5"),
        (
            {"networks": {"n4": 4}},
            "networks.n4: must have keys with values, as {",
        ),
        (
            {"datasets": {"made": {"split": {"train": "a"}}}},
            "datasets.made.split.train: must be an integer or must be a number, got 'a'",
        ),
        ({"priors": {"p": {}}}, "priors.p: must have the key 'kind', got {}"),
        (
            {"priors": {"p": {"kind": "no"}}},
            "priors.p: has the unknown 'kind' 'no'; known: ",
        ),
    ],
)
def test_a_value_of_another_type_is_refused_in_plain_words(
    changes: dict[str, Any], message: str
) -> None:
    """No type of Python and no key that the study does not contain is named."""
    with refused("study.refused") as caught:
        make_study(changes)
    assert str(caught.value).startswith(f"configuration: {message}")
    assert len({*caught.value.fields["places"]}) == 1


@pytest.mark.parametrize("config", [None, [], "study", 3])
def test_a_study_is_a_mapping(config: Any) -> None:
    with refused("model_type", where="configuration"):
        load_study(config)
