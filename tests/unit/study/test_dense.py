"""Dense curvatures of more parameters than a job takes are refused when the study is read."""

from importlib import import_module
from typing import Any

import pytest

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.inference.curvature import MOST_PARAMETERS
from nlobayes.study import run_checks
from tests.refusals import refused
from tests.unit.study.small import make_study

WINDOWS = {"steps": 300, "mass_matrix": "gauss_newton"}
DENSE: dict[str, dict[str, Any]] = {
    "laplace": {"kind": "laplace"},
    "variational": {"kind": "variational"},
    "gauss_newton": {"kernel": {"kind": "hmc"}, "warmup": WINDOWS, "draws_per_segment": 16},
}


def wide(units: int, method: dict[str, Any], **network: Any) -> dict[str, Any]:
    return {
        "networks": {"wide": {"hidden": [units], **network}},
        "methods": {"m": method},
        "grids": {"small": {"network": "wide", "method": "m", "outputs": "metrics"}},
    }


@pytest.mark.parametrize("kind", DENSE)
def test_a_dense_curvature_of_a_wide_network_is_refused(kind: str) -> None:
    """Five columns: four features at least, so 6 units + 1 parameters."""
    make_study(wide(666, DENSE[kind]))
    with refused("study.dense_curvature") as caught:
        make_study(wide(667, DENSE[kind]))
    assert "4003 parameters or more, above 4000; use a form" in str(caught.value)


def test_an_output_layer_that_is_integrated_out_does_not_count() -> None:
    integrated = {"pretraining": {"adam": {"batch": "full"}}, "precision": "float64"}
    make_study({**wide(700, DENSE["laplace"], output="marginalised"), **integrated})
    with refused("study.dense_curvature") as caught:
        make_study({**wide(801, DENSE["laplace"], output="marginalised"), **integrated})
    assert "4005 parameters" in str(caught.value)


@pytest.mark.parametrize(
    ("model", "learns"),
    [
        ({}, False),
        ({"likelihoods": {"tight": {"kind": "gaussian", "sigma": None}}}, True),
        ({"likelihoods": {"tight": {"kind": "student_t", "sigma": 0.1}}}, False),
        ({"priors": {"fan_in": {"kind": "relevance"}}}, True),
    ],
)
def test_evidence_of_hyperparameters_needs_some_and_the_dense_curvature(
    model: dict[str, Any], learns: bool
) -> None:
    method = {"kind": "laplace", "covariance": "diagonal", "hyperparameters": "evidence"}
    code = "study.dense_curvature" if learns else "study.no_hyperparameters"
    with refused(code):
        make_study({**wide(667, method), **model})
    if learns:
        make_study({**wide(666, method), **model})


def test_plan_and_job_have_one_limit() -> None:
    assert run_checks.MOST_PARAMETERS == MOST_PARAMETERS


@pytest.mark.parametrize("name", FEATURE_MAPS)
def test_no_map_makes_fewer_features_than_are_counted(name: str) -> None:
    found = import_module(f"nlobayes.data.feature_maps.{name}")
    if found.FEATURES is not None:
        assert len(found.FEATURES) >= len(found.COLUMNS) - run_checks.FEWER_FEATURES.get(name, 1)
