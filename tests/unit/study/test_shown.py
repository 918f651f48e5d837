"""Contents of figures are checked against the network before anything runs."""

from typing import Any

import pytest

from tests.refusals import refused
from tests.unit.study.small import make_study


def showing(**shown: Any) -> dict[str, Any]:
    """Make the small study with one network of 3 and 4 hidden units."""
    return {
        "networks": {"n34": {"hidden": [3, 4]}},
        "evaluation": {"default": {"figures": shown}},
        "grids": {"small": {"network": "n34"}},
    }


@pytest.mark.parametrize(
    "name",
    [
        *("weights_1[m1, 2]", "weights_1[0,2]", "weights_1[ln(m1, m2), 2]", "weights_2[2, 3]"),
        *("weights_3[3, 0]", "biases_1[2]", "biases_3[0]", "noise", "scale_1"),
    ],
)
def test_names_that_the_network_may_have_are_planned(name: str) -> None:
    make_study(showing(weight_planes=[[name, name]], marginals=[name]))


@pytest.mark.parametrize(
    "name",
    [
        *("weights_1[m1, 3]", "weights_2[3, 0]", "weights_2[m1, 0]", "weights_2[0]"),
        *("weights_4[0, 0]", "weights_0[0, 0]", "biases_2[4]", "biases_4[0]", "W1[0, 0]"),
        "biases_1[-1]",
    ],
)
def test_names_that_it_cannot_have_are_refused(name: str) -> None:
    for shown in ({"weight_planes": [["noise", name]]}, {"marginals": [name]}):
        with refused("study.no_such_weight") as caught:
            make_study(showing(**shown))
        assert f"network 'n34' with hidden units 3, 4 has no {name!r}" in str(caught.value)


def test_cases_of_classes_are_refused() -> None:
    classes = {
        "datasets": {"made": {"target": {"scale": "classes"}}},
        "likelihoods": {"soft": {"kind": "categorical"}},
    }
    changes = showing(cases=[1]) | classes
    changes["grids"]["small"]["likelihood"] = "soft"
    with refused("study.cases_of_classes"):
        make_study(changes)
    changes["evaluation"]["default"] = {"export": {"tolerance": 0.1}}
    with refused("study.tolerance_of_classes") as caught:
        make_study(changes)
    assert "evaluation.default.export.tolerance" in str(caught.value)


@pytest.mark.parametrize(
    "shown",
    [
        {"cases": [-1]},
        {"cases": [1.5]},
        {"cases": [{}]},
        {"cases": [1] * 7},
        {"weight_planes": [["noise"]]},
        {"marginals": ["noise", "noise"]},
        {"planes": []},
    ],
)
def test_what_cannot_be_meant_is_refused(shown: dict[str, Any]) -> None:
    with refused("study.refused"):
        make_study(showing(**shown))
