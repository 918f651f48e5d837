"""Limits of presets: each violation is an error of one line that names the place."""

from typing import Any

import pytest

from nlobayes.priors.independent import GaussianPrior
from nlobayes.study.datasets import SPLIT_PRESETS
from tests.refusals import refused
from tests.unit.study.small import make_study

NAN, INFINITY = float("nan"), float("inf")

HMC, NUTS = ("methods", "hmc"), ("methods", "nuts")
SOURCE, SPLIT = ("datasets", "made", "source"), ("datasets", "made", "split")

# The place, the value, and the code of the error.
REFUSED: list[tuple[tuple[str, ...], Any, str]] = [
    (("networks", "n4", "hiden"), [4], "study.unknown_key"),
    (("networks", "n4", "hidden"), 4, "tuple_type"),
    (("networks", "n4", "activation"), "tan", "study.unknown_activation"),
    (("networks", "n4", "activation"), "leaky_relu(1.5)", "study.unknown_activation"),
    (("networks", "n4", "activation"), ["tanh", "relu(0.3)"], "study.unknown_activation"),
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
    ((*HMC, "warmup", "mass_matrix"), "full", "literal_error"),
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
]


def nested(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Nest a value into mappings, one per part of its place."""
    for key in reversed(place):
        value = {key: value}
    return value


@pytest.mark.parametrize(("place", "value", "fault"), REFUSED, ids=lambda part: str(part)[:60])
def test_refused_values_are_reported_in_one_line(
    place: tuple[str, ...], value: Any, fault: str
) -> None:
    with refused(fault, where="configuration") as caught:
        make_study(nested(place, value))
    found = caught.value.fields["places"][0]
    assert found.startswith(".".join(place[:2]))
    unkeyed = {"study.unknown_key", "union_tag_invalid"}
    assert {*place} - ({place[-1]} if fault in unkeyed else set()) <= {*found.split(".")}
    assert str(caught.value).startswith(f"configuration: {'.'.join(place[:2])}")
    assert "\n" not in str(caught.value)


# The section, a preset, the key at which it is refused, and the code of the error.
PRESETS: list[tuple[str, dict[str, Any], str, str]] = [
    ("priors", {"kind": "normal"}, "", "union_tag_invalid"),
    ("priors", {"scale": 1}, "", "union_tag_not_found"),
    ("priors", {"kind": "fan_in", "scale": -1}, "scale", "greater_than"),
    ("priors", {"kind": "gaussian", "bias_precision": NAN}, "bias_precision", "finite_number"),
    ("priors", {"kind": "gaussian", "scale": 1}, "", "study.unknown_key"),
    (
        "priors",
        {"kind": "student_t", "degrees_of_freedom": 0},
        "degrees_of_freedom",
        "greater_than",
    ),
    ("priors", {"kind": "horseshoe", "slab_scale": 0}, "slab_scale", "greater_than"),
    ("priors", {"kind": "tensorbnn_cauchy", "location_sd": 0}, "location_sd", "greater_than"),
    ("priors", {"kind": "tensorbnn_cauchy", "scale": 1}, "", "study.unknown_key"),
    ("priors", {"kind": "hierarchical", "shared": "unit"}, "shared", "literal_error"),
    ("priors", {"kind": "hierarchical", "hyper": {"kind": "gamma"}}, "hyper", "union_tag_invalid"),
    (
        "priors",
        {"kind": "hierarchical", "hyper": {"kind": "half_normal", "scale": -1}},
        "hyper",
        "greater_than",
    ),
    (
        "priors",
        {"kind": "hierarchical", "hyper": {"kind": "half_cauchy", "rate": 1}},
        "hyper",
        "study.unknown_key",
    ),
    ("priors", {"kind": "fan_in", "slopes": {"kind": "flat"}}, "slopes", "union_tag_invalid"),
    ("priors", {"kind": "fan_in", "slopes": {"kind": "normal", "sd": 0}}, "slopes", "greater_than"),
    ("priors", {"kind": "custom"}, "file", "missing"),
    (
        "priors",
        {"kind": "custom", "file": "priors/none.py", "function": "state"},
        "",
        "study.no_file",
    ),
    ("likelihoods", {"kind": "normal"}, "", "union_tag_invalid"),
    ("likelihoods", {"kind": "gaussian"}, "sigma", "missing"),
    ("likelihoods", {"kind": "gaussian", "sigma": -0.1}, "sigma", "greater_than"),
    ("likelihoods", {"kind": "gaussian", "sigma": None, "scale": -1}, "scale", "greater_than"),
    ("likelihoods", {"kind": "student_t", "sigma": -1}, "sigma", "greater_than"),
    ("likelihoods", {"kind": "student_t", "scale": 0}, "scale", "greater_than"),
    (
        "likelihoods",
        {"kind": "student_t", "degrees_of_freedom": 2},
        "degrees_of_freedom",
        "greater_than",
    ),
    (
        "likelihoods",
        {"kind": "student_t", "degrees_of_freedom": 1.5},
        "degrees_of_freedom",
        "greater_than",
    ),
    (
        "likelihoods",
        {"kind": "student_t", "degrees_of_freedom": -4},
        "degrees_of_freedom",
        "greater_than",
    ),
    (
        "likelihoods",
        {"kind": "student_t", "degrees_of_freedom": INFINITY},
        "degrees_of_freedom",
        "finite_number",
    ),
    ("likelihoods", {"kind": "laplace", "sigma": 0}, "sigma", "greater_than"),
    ("likelihoods", {"kind": "laplace", "scale": -1}, "scale", "greater_than"),
    ("likelihoods", {"kind": "laplace", "degrees_of_freedom": 4}, "", "study.unknown_key"),
    ("likelihoods", {"kind": "heteroscedastic", "scale": -1}, "scale", "greater_than"),
    ("likelihoods", {"kind": "bernoulli", "temperature": 0}, "temperature", "greater_than"),
    ("likelihoods", {"kind": "categorical", "temperature": -1}, "temperature", "greater_than"),
    ("pretraining", {"optimiser": "amsgrad"}, "", "study.kind_alone"),
    ("pretraining", {"optimiser": {"kind": "adan"}}, "", "union_tag_invalid"),
    ("pretraining", {"optimiser": {"kind": "sgd", "weight_decay": 0.1}}, "", "study.unknown_key"),
    ("pretraining", {"optimiser": {"kind": "adam", "weight_decay": 0.1}}, "", "study.unknown_key"),
    ("pretraining", {"optimiser": {"kind": "adamw", "weight_decay": 0}}, "", "greater_than"),
    ("pretraining", {"optimiser": {"kind": "sgd", "momentum": 1.0}}, "", "less_than"),
    ("pretraining", {"optimiser": {"kind": "sgd", "momentum": -0.1}}, "", "greater_than_equal"),
    ("pretraining", {"weight_decay": 0.1}, "", "study.unknown_key"),
    ("pretraining", {"schedule": "cosine"}, "", "study.kind_alone"),
    ("pretraining", {"schedule": {"kind": "linear"}}, "", "union_tag_invalid"),
    ("pretraining", {"schedule": {"kind": "exponential"}}, "", "missing"),
    ("pretraining", {"schedule": {"kind": "exponential", "decay_rate": 1.0}}, "", "less_than"),
    ("pretraining", {"schedule": {"kind": "cosine", "decay_rate": 0.1}}, "", "study.unknown_key"),
    ("pretraining", {"schedule": {"kind": "cycles"}}, "", "study.cycles_without_patience"),
    ("pretraining", {"start_draws": 50}, "", "study.start_draws"),
    ("pretraining", {"start_sd": 0.2}, "", "study.start_sd"),
    ("pretraining", {"start_weights": {"file": "none.npz"}}, "", "study.no_file"),
    ("pretraining", {"start_weights": {"file": "../weights.npz"}}, "", "study.no_file"),
    (
        "pretraining",
        {"schedule": {"kind": "cycles", "cycles": 1}, "patience": 3},
        "",
        "greater_than_equal",
    ),
    ("pretraining", {"schedule": {"kind": "cycles", "factor": 1}, "patience": 3}, "", "less_than"),
    ("pretraining", {"batch": "all"}, "", "int_parsing"),
    ("pretraining", {"batch": 0}, "", "greater_than_equal"),
    ("pretraining", {"restarts": 0}, "", "greater_than_equal"),
    ("pretraining", {"restarts": 1001}, "", "less_than_equal"),
    ("methods", {"kind": "pymc", "nuts_sampler": "blackjax"}, "", "study.blackjax_by_pymc"),
    ("methods", {"kind": "pymc", "nuts_sampler": "stan"}, "", "literal_error"),
    ("methods", {"kind": "pymc", "chains": 1}, "", "study.one_chain"),
    ("methods", {"kind": "pymc", "draws": 7}, "", "greater_than_equal"),
    ("methods", {"kind": "pymc", "target_accept": 1.0}, "", "less_than"),
    ("methods", {"kind": "pymc", "kernel": {"kind": "nuts"}}, "", "study.unknown_key"),
]


@pytest.mark.parametrize(
    ("section", "preset", "key", "fault"), PRESETS, ids=lambda part: str(part)[:70]
)
def test_refused_presets_are_reported_in_one_line(
    section: str, preset: dict[str, Any], key: str, fault: str
) -> None:
    with refused(fault, where="configuration") as caught:
        make_study({section: {"mine": preset}})
    place = caught.value.fields["places"][0]
    assert place.startswith(f"{section}.mine")
    assert key in place
    assert "\n" not in str(caught.value)


def test_fractions_above_one_are_refused() -> None:
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


@pytest.mark.parametrize("file", ["../mine.py", "/tmp/mine.py", "a/../../mine.py", "mine.txt"])
def test_a_file_outside_the_project_is_refused(
    file: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the file exists."""
    (tmp_path / "project" / "a").mkdir(parents=True)
    for path in (tmp_path / "mine.py", tmp_path / "project" / "mine.txt"):
        path.write_text("def state(parameters): ...\n")
    monkeypatch.chdir(tmp_path / "project")
    given = file if file != "/tmp/mine.py" else str(tmp_path / "mine.py")
    with refused("study.file_outside", places=["priors.mine.custom.file"]):
        make_study({"priors": {"mine": {"kind": "custom", "file": given, "function": "state"}}})


def test_the_old_name_of_a_key_is_read_with_a_warning() -> None:
    with pytest.warns(FutureWarning, match="'whitened' is now 'non_centered'"):
        prior = GaussianPrior.model_validate({"kind": "gaussian", "whitened": False})
    assert not prior.non_centered
