"""Kernel gibbs_hmc goes with hyperparameters that are conjugate, and with no other prior."""

from typing import Any

import pytest

from nlobayes.study.study import Study
from tests.refusals import refused
from tests.unit.study.small import make_study

HIERARCHICAL = {"kind": "hierarchical", "hyper": {"kind": "half_normal"}}


def drawn_by_gibbs(prior: dict[str, Any], **warmup: Any) -> Study:
    """Make the study of a prior with the kernel gibbs_hmc alone."""
    sampler = {"kernel": {"kind": "gibbs_hmc"}, "draws_per_segment": 16, "warmup": warmup}
    return make_study(
        {
            "priors": {"learned": prior},
            "methods": {"gibbs": sampler},
            "grids": {"small": {"prior": "learned", "method": "gibbs"}},
        }
    )


@pytest.mark.parametrize(
    "prior",
    [
        {"kind": "hierarchical", "hyper": {"kind": "gamma_precision"}, "shared": "network"},
        {"kind": "hierarchical", "hyper": {"kind": "half_cauchy", "scale": 2.0}},
        {"kind": "tensorbnn"},
    ],
    ids=str,
)
def test_conjugate_hyperparameters_are_drawn(prior: dict[str, Any]) -> None:
    [run, *_] = drawn_by_gibbs(prior).runs("small")
    assert run.mcmc is not None
    assert run.mcmc.kernel.kind == "gibbs_hmc"
    assert run.mcmc.warmup.kind == "windows"


@pytest.mark.parametrize(
    "prior", [HIERARCHICAL, {"kind": "horseshoe"}, {"kind": "fan_in"}], ids=str
)
def test_other_priors_are_refused(prior: dict[str, Any]) -> None:
    with refused("study.not_conjugate", places=["grids.small"]):
        drawn_by_gibbs(prior)


def test_a_low_rank_mass_matrix_cannot_be_cut() -> None:
    prior = {"kind": "tensorbnn"}
    drawn_by_gibbs(prior, mass_matrix="dense")
    with refused("study.low_rank_cut", places=["methods.gibbs.warmup.mass_matrix"]):
        drawn_by_gibbs(prior, mass_matrix="low_rank")
