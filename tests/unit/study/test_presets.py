"""Limits of presets: each violation is an error of one line that names the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.study.datasets import SPLIT_PRESETS
from nlobayes.study.grid import Study
from tests.refusals import refused

NAN, INFINITY = float("nan"), float("inf")

HMC, NUTS = ("methods", "hmc"), ("methods", "nuts")
SOURCE, SPLIT = ("datasets", "made", "source"), ("datasets", "made", "split")
PATH = ("datasets", "mine", "source", "path")

# The place, the value, and the code of the error.
REFUSED: list[tuple[tuple[str, ...], Any, str]] = [
    (("networks", "n4", "hiden"), [4], "study.unknown_key"),
    (("networks", "n4", "hidden"), 4, "tuple_type"),
    (("networks", "n4", "activation"), "tan", "study.unknown_activation"),
    (("networks", "n4", "activation"), "leaky_relu(1.5)", "study.unknown_activation"),
    (("networks", "n4", "activation"), ["tanh", "relu(0.3)"], "study.unknown_activation"),
    (("priors", "fan_in", "kind"), "fan_out", "union_tag_invalid"),
    (("priors", "fan_in", "scale"), INFINITY, "finite_number"),
    (("likelihoods", "tight", "sigma"), -0.1, "greater_than"),
    (("pretraining", "adam", "batch"), 2.5, "int_from_float"),
    (("pretraining", "adam", "start"), "zero", "literal_error"),
    ((*HMC, "warmup", "dual_averaging"), {"kappa": 0.5}, "greater_than"),
    ((*HMC, "warmup", "dual_averaging"), {"t0": -1}, "greater_than_equal"),
    ((*HMC, "warmup", "dual_averaging"), {"mu": 0}, "study.unknown_key"),
    ((*HMC, "kernel", "max_depth"), 9, "study.unknown_key"),
    ((*HMC, "kernel", "jitter"), 1.0, "less_than"),
    ((*HMC, "kernel", "jitter"), NAN, "less_than"),
    ((*NUTS, "kernel", "max_depth"), 21, "less_than_equal"),
    ((*HMC, "warmup", "steps"), 0, "greater_than_equal"),
    ((*HMC, "warmup", "adaptation_share"), 0, "greater_than"),
    ((*HMC, "warmup", "target_acceptance"), 1, "less_than"),
    (
        (*HMC, "warmup", "mass_matrix"),
        "full",
        "literal_error",
    ),
    ((*HMC, "warmup", "segments"), 0, "greater_than_equal"),
    ((*HMC, "warmup", "initial_step_size"), 0, "greater_than"),
    ((*HMC, "kernel", "trajectory_length"), INFINITY, "finite_number"),
    (("methods", "walk"), {"kernel": {"kind": "random_walk", "jitter": 0.1}}, "study.unknown_key"),
    ((*HMC, "until"), {"ebfmi_min": 0.3}, "study.unknown_key"),
    ((*HMC, "until"), True, "study.truth_value"),
    (("execution", "device"), "tpu", "literal_error"),
    (("execution", "chains_per_job"), None, "int_type"),
    (("execution",), {"gpus": 1}, "study.unknown_key"),
    ((*HMC, "chains"), 1, "study.one_chain"),
    (("evaluation", "default", "noise"), "cauchy", "literal_error"),
    (("evaluation", "strict", "thresholds", "max_divergences"), -1, "greater_than_equal"),
    ((*SOURCE, "sqrt_s_tev"), NAN, "less_than_equal"),
    ((*SOURCE, "squark_mass_gev"), 1999, "greater_than_equal"),
    ((*SOURCE, "kind"), "tabel", "union_tag_invalid"),
    (SPLIT, "thesiss", "study.unknown_split"),
    ((*SPLIT, "train"), 1.0, "int_type"),
    ((*SPLIT, "train"), True, "study.truth_value"),
    (("datasets", "made", "features"), {"map": "invariant"}, "literal_error"),
    (PATH, "../points.csv", "study.path_climbs"),
    (PATH, "data/../../points.csv", "study.path_climbs"),
]


def nested(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Nest a value into mappings, one per part of its place."""
    for key in reversed(place):
        value = {key: value}
    return value


@pytest.mark.parametrize(("place", "value", "fault"), REFUSED, ids=lambda part: str(part)[:60])
def test_refused_values_are_reported_in_one_line(
    make_study: Callable[..., Study], place: tuple[str, ...], value: Any, fault: str
) -> None:
    with refused(fault, where="configuration") as caught:
        make_study(nested(place, value))
    found = caught.value.fields["places"][0]
    assert found.startswith(".".join(place[:2]))
    unkeyed = {"study.unknown_key", "union_tag_invalid"}
    assert {*place} - ({place[-1]} if fault in unkeyed else set()) <= {*found.split(".")}
    assert str(caught.value).startswith(f"configuration: {'.'.join(place[:2])}")
    assert "\n" not in str(caught.value)


def test_fractions_above_one_are_refused(make_study: Callable[..., Study]) -> None:
    fractions = {"train": 0.8, "validation": 0.2, "test": 0.1}
    with refused("study.fractions", places=["datasets.made.split"]):
        make_study({"datasets": {"made": {"split": fractions}}})


def test_the_thesis_split_is_in_order_and_complete() -> None:
    assert SPLIT_PRESETS["thesis"].model_dump() == {
        "train": 0.8,
        "validation": 0.05,
        "test": 0.15,
        "shuffle": False,
        "seed": 0,
        "train_from": 0,
        "validation_from": None,
    }
