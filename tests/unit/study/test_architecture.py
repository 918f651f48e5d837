"""Networks whose units or layers are drawn are refused where nothing could draw them."""

from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.study.study import Study
from tests.refusals import refused
from tests.unit.study.small import make_study

UNITS: dict[str, Any] = {"kind": "uniform"}
JUMPS: dict[str, Any] = {"kernel": {"kind": "reversible_jump"}, "draws_per_segment": 50, "thin": 5}
REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "nothing varies": ("study.nothing_varies", {}, {}),
    "another kernel": ("study.varies_without_jumps", {"units": UNITS}, {"method": "hmc"}),
    "both": ("study.units_and_layers", {"units": UNITS, "layers": UNITS}, {}),
    "an empty range": (
        "study.nothing_to_choose",
        {"units": {"kind": "poisson", "mean": 2.0, "fewest": 4}},
        {},
    ),
    "one layer": ("study.nothing_to_choose", {"layers": UNITS, "activation": "relu"}, {}),
    "tanh": ("study.layers_of_others", {"layers": UNITS, "hidden": [4, 4]}, {}),
    "widths": (
        "study.layers_of_others",
        {"layers": UNITS, "hidden": [4, 3], "activation": "relu"},
        {},
    ),
    "moves of layers": ("study.moves_of_others", {"units": UNITS}, {"method": "of_layers"}),
    "moves of units": (
        "study.moves_of_others",
        {"layers": UNITS, "hidden": [4, 4], "activation": "relu"},
        {"method": "of_units"},
    ),
    "prior": ("study.jumps_of_prior", {"units": UNITS}, {"prior": "horseshoe"}),
    "earlier data": ("study.jumps_of_prior", {"units": UNITS}, {"prior": "earlier"}),
    "no output": (
        "study.jumps_of_network",
        {"units": UNITS, "output": "marginalised"},
        {"prior": "relevance", "pretraining": "whole"},
    ),
    "slopes": (
        "study.jumps_of_network",
        {"units": UNITS, "activation": "prelu"},
        {"prior": "sloped"},
    ),
    "start": ("study.jumps_of_start", {"units": UNITS}, {"pretraining": "he"}),
    "normal start": ("study.jumps_of_start", {"units": UNITS}, {"pretraining": "normal"}),
    "start above": ("study.start_sizes", {"units": UNITS}, {"pretraining": "at_5"}),
    "start below": (
        "study.start_sizes",
        {"units": {"kind": "uniform", "fewest": 2}},
        {"pretraining": "at_1"},
    ),
    "start of a fixed size": (
        "study.start_sizes_fixed",
        {},
        {"pretraining": "at_1", "method": "hmc"},
    ),
    "noise": ("study.jumps_of_likelihood", {"units": UNITS}, {"likelihood": "of_inputs"}),
}


def jumps_by(*moves: str) -> dict[str, Any]:
    return {**JUMPS, "kernel": {"kind": "reversible_jump", "moves": moves}}


def study_of(network: dict[str, Any], grid: dict[str, Any]) -> Study:
    """Make the small study with a network of four units that may vary."""
    return make_study(
        {
            "networks": {"varying": {"hidden": [4], **network}},
            "priors": {
                "horseshoe": {"kind": "horseshoe"},
                "relevance": {"kind": "relevance"},
                "earlier": {"kind": "fan_in", "earlier": {"file": "earlier.nc"}},
                "sloped": {"kind": "fan_in", "slopes": {"kind": "exponential"}},
            },
            "likelihoods": {"of_inputs": {"kind": "heteroscedastic"}},
            "precision": "float64",
            "pretraining": {
                "whole": {"epochs": 10, "batch": "full"},
                "he": {"start": "he"},
                "normal": {"start": "standard_normal"},
                "at_1": {"start_sizes": [4, 1]},
                "at_5": {"start_sizes": [4, 5]},
            },
            "methods": {
                "jumps": JUMPS,
                "of_layers": jumps_by("identity"),
                "of_units": jumps_by("split"),
            },
            "grids": {"small": {"network": "varying", "method": "jumps", **grid}},
        }
    )


@pytest.mark.parametrize("count", [UNITS, {"kind": "geometric", "ratio": 0.5, "fewest": 2}])
def test_a_varying_network_is_planned_with_its_kernel(count: Any) -> None:
    run, *_ = study_of({"units": count}, {}).runs("small")
    assert run.network.varies
    assert run.mcmc is not None
    assert run.mcmc.kernel.kind == "reversible_jump"


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_vary_is_refused_with_a_remedy(case: str) -> None:
    code, network, grid = REFUSED[case]
    with refused(code) as caught:
        study_of(network, grid)
    assert "network 'varying'" in str(caught.value)


def test_a_law_without_its_setting_is_refused() -> None:
    with pytest.raises(InputError, match="mean"):
        study_of({"units": {"kind": "poisson"}}, {})


def test_one_chain_is_refused() -> None:
    """One chain cannot show convergence between sizes."""
    with pytest.raises(InputError, match=r"jumps.*chains"):
        make_study(
            {
                "networks": {"varying": {"hidden": [4], "units": UNITS}},
                "methods": {"jumps": {**JUMPS, "chains": 1}},
                "grids": {"small": {"network": "varying", "method": "jumps"}},
            }
        )
