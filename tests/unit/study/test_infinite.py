"""A network of infinite width is planned; what it cannot be combined with is refused."""

from typing import Any

import pytest

from nlobayes.study.resources import size_of
from nlobayes.study.study import override
from tests.refusals import refused
from tests.unit.study.small import make_study

INFINITE: dict[str, Any] = {
    "networks": {"n4": {"hidden": [], "width": "infinite", "activation": "erf"}},
    "priors": {"fan_in": {"kind": "scales"}},
    "grids": {"small": {"network": "n4", "method": "hmc"}},
    "pretraining": {"adam": {"batch": "full", "optimiser": {"kind": "lbfgs"}}},
    "precision": "float64",
}
LACKS: dict[str, dict[str, Any]] = {
    "a prior of kind scales": {"priors": {"fan_in": {"kind": "fan_in"}}},
    "a gaussian likelihood with one sigma": {"likelihoods": {"tight": {"kind": "laplace"}}},
    "a method of kind mcmc": {
        "methods": {"few": {"kind": "map_ensemble"}},
        "grids": {"small": {"method": "few"}},
    },
    "no earlier data": {"priors": {"fan_in": {"earlier": {"file": "earlier.nc"}}}},
    "pretraining with another start than he": {"pretraining": {"adam": {"start": "he"}}},
    "precision: float64": {"precision": "float32"},
    "execution.shards: 1": {"execution": {"shards": 2}},
    "split.train: 5000 or fewer rows": {
        "datasets": {
            "made": {
                "source": {"points": 20000},
                "split": {"train": 10000, "validation": 15, "test": 15},
            }
        }
    },
}


def test_its_covariance_requests_memory() -> None:
    run = next(iter(make_study(INFINITE).runs("small")))
    assert size_of(run, 60).marginal == 10 * 30**2


@pytest.mark.parametrize(("needed", "changes"), LACKS.items(), ids=LACKS)
def test_what_it_needs_is_named(needed: str, changes: dict[str, Any]) -> None:
    with refused("study.infinite_needs") as caught:
        make_study(override(INFINITE, changes))
    assert f"needs {needed};" in str(caught.value)


@pytest.mark.parametrize(
    ("code", "changes"),
    {
        "infinite_with_others": {"networks": {"n4": {"hidden": [4]}}},
        "erf_of_finite": {"networks": {"n4": {"width": None}}},
        "lbfgs_of_batches": {"pretraining": {"adam": {"batch": 10}}},
    }.items(),
)
def test_settings_that_contradict_each_other_are_refused(
    code: str, changes: dict[str, Any]
) -> None:
    with refused(f"study.{code}"):
        make_study(override(INFINITE, changes))
