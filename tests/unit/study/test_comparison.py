"""Comparison of the runs of a grid: settings by content, replicates by seeds."""

from typing import Any

import pytest

from nlobayes.study.comparison import compare_job, scanned
from tests.refusals import refused
from tests.unit.study.small import make_study

SPLIT = {"train": 30, "validation": 15, "test": 15}


def grid(**changes: Any) -> dict[str, Any]:
    """Make a grid of one network and one sampler unless changed."""
    return {"grids": {"small": {"network": "n4", "method": "hmc", **changes}}}


def test_settings_are_named_by_the_presets_that_differ() -> None:
    job = compare_job(make_study(), "small")
    assert [(run.setting, run.replicate) for run in job.runs] == [
        (f"{network}/{sampler}", f"s{seed}")
        for network in ("n4", "n8")
        for sampler in ("hmc", "nuts")
        for seed in (1, 2)
    ]
    assert [run.run for run in job.runs] == [run.run_id for run in make_study().runs("small")]


def test_values_are_those_that_differ() -> None:
    hmc, _, nuts, *_ = compare_job(make_study(), "small").runs
    assert hmc.values == {
        "network": "n4",
        "network.width": 4,
        "method": "hmc",
        "method.kernel.kind": "hmc",
        "method.kernel.integration_steps": 256,
        "method.kernel.jitter": 0.2,
    }
    assert nuts.values == {
        "network": "n4",
        "network.width": 4,
        "method": "nuts",
        "method.kernel.kind": "nuts",
        "method.kernel.max_depth": 9,
    }


def test_a_single_setting_bears_the_name_of_its_sampler() -> None:
    job = compare_job(make_study(grid()), "small")
    assert [(run.setting, run.replicate, run.values) for run in job.runs] == [
        ("hmc", "s1", {}),
        ("hmc", "s2", {}),
    ]
    assert scanned(job) == (None, None)


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        (([4], [8]), [{"network.width": 4}, {"network.width": 8}]),
        (([4], [4, 4]), [{"network.depth": 1}, {"network.depth": 2}]),
        (([], [4]), [{"network.depth": 0}, {"network.width": 4, "network.depth": 1}]),
        (([4, 2], [2, 4]), [{"network.hidden": "4 2"}, {"network.hidden": "2 4"}]),
        (
            ([4, 4], [8, 4]),
            [{"network.width": 4}, {"network.hidden": "8 4"}],
        ),
    ],
)
def test_layers_become_width_and_depth(
    hidden: tuple[list[int], ...], expected: list[dict[str, Any]]
) -> None:
    networks = {name: {"hidden": found} for name, found in zip("ab", hidden, strict=True)}
    changes = {"networks": networks, "seeds": [1]} | grid(network=["a", "b"])
    found = [run.values for run in compare_job(make_study(changes), "small").runs]
    assert [{key: v for key, v in values.items() if key != "network"} for values in found] == (
        expected
    )


def datasets(**sections: dict[str, Any]) -> dict[str, Any]:
    """Make datasets of 60 simulated points with changes, by name."""
    made = {"source": {"kind": "simulate", "points": 60}, "split": SPLIT}
    return {
        name: {key: made[key] | change.get(key, {}) for key in made}
        for name, change in sections.items()
    }


def test_splits_by_other_seeds_are_replicates() -> None:
    """Their presets have different names, which name no setting."""
    made = datasets(first={"split": {"seed": 0}}, second={"split": {"seed": 3}})
    crossed = grid(dataset=[*made], network=["n4", "n8"])
    job = compare_job(make_study({"datasets": made} | crossed), "small")
    assert [(run.setting, run.replicate) for run in job.runs] == [
        (network, f"s{seed}-split{split}")
        for split in (0, 3)
        for network in ("n4", "n8")
        for seed in (1, 2)
    ]
    assert {key for run in job.runs for key in run.values} == {"network", "network.width"}
    assert scanned(job) == ("network.width", None)


def test_points_by_other_seeds_are_replicates() -> None:
    made = datasets(first={"source": {"seed": 5}}, second={"source": {"seed": 6}})
    changes = {"datasets": made, "seeds": [1]} | grid(dataset=[*made])
    job = compare_job(make_study(changes), "small")
    assert [(run.setting, run.replicate) for run in job.runs] == [
        ("hmc", "s1-source5"),
        ("hmc", "s1-source6"),
    ]


def test_other_numbers_of_rows_are_settings() -> None:
    """The first preset with the same rows names the setting."""
    made = datasets(
        few={"split": {"train": 10}},
        many={"split": {"seed": 1}},
        few_again={"split": {"train": 10, "seed": 1}},
    )
    changes = {"datasets": made, "seeds": [1]} | grid(dataset=[*made])
    job = compare_job(make_study(changes), "small")
    assert [(run.setting, run.replicate) for run in job.runs] == [
        ("few", "s1-split0"),
        ("many", "s1-split1"),
        ("few", "s1-split1"),
    ]
    assert scanned(job) == ("dataset.split.train", None)


def test_targets_of_one_grid_are_equal() -> None:
    made = datasets(first={}, second={}) | {"second": {"target": {"unit": "fb"}}}
    made["second"] |= datasets(second={})["second"]
    with refused("study.different_targets", where="grids.small", first="first", second="second"):
        compare_job(make_study({"datasets": made} | grid(dataset=[*made])), "small")


def test_one_preset_under_two_names_is_refused() -> None:
    """The same run twice would count as two replicates."""
    changes = {"networks": {"twin": {"hidden": [4]}}} | grid(network=["n4", "twin"])
    with refused("study.equal_runs", where="grids.small") as caught:
        compare_job(make_study(changes), "small")
    twins = [caught.value.fields[name] for name in ("first", "second")]
    assert [run.split("/")[1] for run in twins] == ["n4", "twin"]


@pytest.mark.parametrize(
    ("network", "method", "expected"),
    [
        (["n4", "n8"], "hmc", ("network.width", None)),
        (["n4", "n8"], ["hmc", "nuts"], ("network.width", "method")),
        ("n4", ["hmc", "nuts_long"], (None, None)),
        ("n4", ["hmc", "nuts", "nuts_long"], ("method.draws_per_segment", "method.kernel.kind")),
        (["n4", "relu8"], "hmc", (None, None)),
    ],
)
def test_what_is_scanned_is_a_number_that_nothing_else_follows(
    network: Any, method: Any, expected: tuple[str | None, str | None]
) -> None:
    changes = {
        "networks": {"relu8": {"hidden": [8], "activation": "relu"}},
        "methods": {"nuts_long": {"kernel": {"kind": "nuts"}, "draws_per_segment": 32}},
    } | grid(network=network, method=method)
    assert scanned(compare_job(make_study(changes), "small")) == expected
