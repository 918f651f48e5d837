"""Kernel gibbs_hmc goes with hyperparameters that are conjugate, and with no other prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.study.grid import Study

MakeStudy = Callable[..., Study]
HIERARCHICAL = {"kind": "hierarchical", "hyper": {"kind": "half_normal"}}


@pytest.fixture
def drawn_by_gibbs(make_study: MakeStudy) -> Callable[[dict[str, Any]], Study]:
    """A study of this prior and the kernel gibbs_hmc alone."""

    def make(prior: dict[str, Any], **warmup: Any) -> Study:
        sampler = {"kernel": {"kind": "gibbs_hmc"}, "draws_per_segment": 16, "warmup": warmup}
        return make_study(
            {
                "priors": {"learned": prior},
                "methods": {"gibbs": sampler},
                "grids": {"small": {"prior": "learned", "method": "gibbs"}},
            }
        )

    return make


@pytest.mark.parametrize(
    "prior",
    [
        {"kind": "hierarchical", "hyper": {"kind": "gamma_precision"}, "shared": "network"},
        {"kind": "hierarchical", "hyper": {"kind": "half_cauchy", "scale": 2.0}},
        {"kind": "tensorbnn"},
    ],
    ids=str,
)
def test_conjugate_hyperparameters_are_drawn(
    drawn_by_gibbs: Callable[..., Study], prior: dict[str, Any]
) -> None:
    [run, *_] = drawn_by_gibbs(prior).runs("small")
    assert run.mcmc is not None
    assert run.mcmc.kernel.kind == "gibbs_hmc"
    assert run.mcmc.warmup.kind == "windows"


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        (
            HIERARCHICAL,
            r"grids\.small: sampler 'gibbs' .* prior 'learned' of kind hierarchical has none: use "
            r"kernel hmc, .* hyper gamma_precision or half_cauchy",
        ),
        ({"kind": "horseshoe"}, r"prior 'learned' of kind horseshoe has none: use kernel hmc"),
        (
            {"kind": "fan_in"},
            r"prior 'learned' of kind fan_in has none: use kernel hmc, or a prior",
        ),
    ],
    ids=str,
)
def test_other_priors_are_refused(
    drawn_by_gibbs: Callable[..., Study], prior: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        drawn_by_gibbs(prior)


def test_joint_hmc_samples_them_all(make_study: MakeStudy) -> None:
    study = make_study({"priors": {"fan_in": HIERARCHICAL}})
    assert {run.prior.kind for run in study.runs("small")} == {"hierarchical"}


def test_a_low_rank_mass_matrix_cannot_be_cut(drawn_by_gibbs: Callable[..., Study]) -> None:
    said = r"methods\.gibbs: warmup\.mass_matrix: low_rank cannot be cut .*; use diagonal or dense"
    prior = {"kind": "tensorbnn"}
    drawn_by_gibbs(prior, mass_matrix="dense")
    with pytest.raises(InputError, match=said):
        drawn_by_gibbs(prior, mass_matrix="low_rank")
