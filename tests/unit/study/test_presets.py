"""What a preset may hold: every limit is an error of one line that names the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from nlobayes.errors import InputError
from nlobayes.study.grid import Study
from nlobayes.study.presets import SPLIT_PRESETS, Split
from nlobayes.study.pretraining import Pretraining

NAN, INFINITY = float("nan"), float("inf")

HMC, NUTS = ("methods", "hmc"), ("methods", "nuts")
SOURCE, SPLIT = ("datasets", "made", "source"), ("datasets", "made", "split")
PATH = ("datasets", "mine", "source", "path")

# Where, the value, and what the message must say besides the place.
REFUSED: list[tuple[tuple[str, ...], Any, tuple[str, ...]]] = [
    (("networks", "n4", "hiden"), [4], ("unknown key 'hiden'", "'activation', 'hidden'")),
    (("networks", "n4", "hidden"), [4, 0], ("greater than or equal to 1", "got 0")),
    (("networks", "n4", "hidden"), 4, ("got 4",)),
    (("networks", "n4", "activation"), "tan", ("unknown activation 'tan'", "known: elu,")),
    (("networks", "n4"), None, ("got None",)),
    (("priors", "fan_in", "kind"), "fan_out", ("'fan_out'", "'fan_in', 'gaussian'")),
    (("priors", "fan_in", "scale"), 0, ("greater than 0", "got 0")),
    (("priors", "fan_in", "scale"), INFINITY, ("finite", "got inf")),
    (("priors", "fan_in", "precision"), 1, ("unknown key 'precision'", "'bias_scale', 'kind'")),
    (("likelihoods", "tight", "sigma"), -0.1, ("greater than 0", "got -0.1")),
    (("likelihoods", "tight", "sigma"), NAN, ("finite", "got nan")),
    (("likelihoods", "tight", "kind"), "learned", ("'gaussian', 'heteroscedastic'",)),
    (("pretraining", "adam", "epochs"), 0, ("greater than or equal to 1", "got 0")),
    (("pretraining", "adam", "batch"), 2.5, ("valid integer", "got 2.5")),
    (("pretraining", "adam", "start"), "zero", ("'prior' or 'standard_normal'", "got 'zero'")),
    ((*HMC, "kernel", "kind"), "nutz", ("'nutz'", "'hmc', 'mclmc', 'nuts'")),
    ((*HMC, "kernel", "max_depth"), 9, ("unknown key 'max_depth'", "'integration_steps'")),
    ((*HMC, "kernel", "jitter"), 1.0, ("less than 1", "got 1.0")),
    ((*HMC, "kernel", "jitter"), NAN, ("got nan",)),
    ((*NUTS, "kernel", "max_depth"), 21, ("less than or equal to 20", "got 21")),
    ((*HMC, "warmup", "steps"), 0, ("greater than or equal to 1", "got 0")),
    ((*HMC, "warmup", "adaptation_share"), 0, ("greater than 0", "got 0")),
    ((*HMC, "warmup", "target_acceptance"), 1, ("less than 1", "got 1")),
    (
        (*HMC, "warmup", "mass_matrix"),
        "full",
        ("'diagonal', 'dense'", "or 'identity'", "got 'full'"),
    ),
    ((*HMC, "warmup", "segments"), 0, ("greater than or equal to 1", "got 0")),
    ((*HMC, "warmup", "initial_step_size"), 0, ("greater than 0", "got 0")),
    ((*HMC, "kernel", "trajectory_length"), 0, ("greater than 0", "got 0")),
    ((*HMC, "kernel", "trajectory_length"), INFINITY, ("finite", "got inf")),
    ((*HMC, "kernel", "kind"), ["hmc"], ("got {'kind': ['hmc']}",)),
    (("methods", "walk"), {"kernel": {"kind": "random_walk", "jitter": 0.1}}, ("'jitter'",)),
    ((*HMC, "until"), {"rhat": 1.01}, ("unknown key 'rhat'", "'rhat_f_p99'")),
    ((*HMC, "until"), {"ebfmi_min": 0.3}, ("unknown key 'ebfmi_min'", "'ess_f_bulk_min'")),
    ((*HMC, "until"), {"ess_f_bulk_min": 0}, ("greater than 0", "got 0")),
    ((*HMC, "until"), True, ("got True",)),
    (("execution", "device"), "tpu", ("'cpu' or 'gpu'", "got 'tpu'")),
    (("execution", "chains_per_job"), 0, ("greater than or equal to 1", "got 0")),
    (("execution", "shards"), 0, ("greater than or equal to 1", "got 0")),
    (("execution", "chains_per_job"), None, ("'all'", "got None")),
    (("execution",), {"gpus": 1}, ("unknown key 'gpus'", "'chains_per_job', 'device', 'shards'")),
    ((*HMC, "chains"), 1, ("got 1", "at least 2", "use 4")),
    ((*HMC, "segments"), 0, ("greater than or equal to 1", "got 0")),
    ((*HMC, "draws_per_segment"), 0, ("greater than or equal to 1", "got 0")),
    (("evaluation", "default", "noise"), "cauchy", ("'gaussian', 'scaled_student_t'", "'cauchy'")),
    (("evaluation", "strict", "thresholds"), {"rhat": 1}, ("unknown key 'rhat'", "'rhat_f_p99'")),
    (("evaluation", "strict", "thresholds", "max_divergences"), -1, ("got -1",)),
    ((*SOURCE, "points"), 0, ("greater than or equal to 1", "got 0")),
    ((*SOURCE, "seed"), -1, ("greater than or equal to 0", "got -1")),
    ((*SOURCE, "sqrt_s_tev"), 100, ("less than or equal to 14", "got 100")),
    ((*SOURCE, "sqrt_s_tev"), NAN, ("got nan",)),
    ((*SOURCE, "squark_mass_gev"), 1999, ("greater than or equal to 2000", "got 1999")),
    ((*SOURCE, "kind"), "tabel", ("'tabel'", "'simulate', 'slha', 'table', 'toy'")),
    (SPLIT, "thesiss", ("unknown split 'thesiss'", "'thesis'")),
    ((*SPLIT, "train"), 0, ("got 0",)),
    ((*SPLIT, "train"), 1.0, ("got 1.0",)),
    ((*SPLIT, "train"), True, ("got True",)),
    ((*SPLIT, "test"), -0.1, ("got -0.1",)),
    (("datasets", "made", "reference_points"), 0, ("greater than or equal to 1", "got 0")),
    (("datasets", "made", "features"), {"map": "invariant"}, ("'invariants'", "'invariant'")),
    (("datasets", "made", "target"), {"scale": "ln"}, ("'log10'", "got 'ln'")),
    (PATH, "../points.csv", ("'..'", "got '../points.csv'")),
    (PATH, "data/../../points.csv", ("'..'", "got 'data/../../points.csv'")),
    (PATH, "", ("name a file", "got ''")),
]


def nested(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Nest a value into mappings, one per part of its place."""
    for key in reversed(place):
        value = {key: value}
    return value


@pytest.mark.parametrize(("place", "value", "said"), REFUSED, ids=lambda part: str(part)[:60])
def test_refused_values_are_told_in_one_line(
    make_study: Callable[..., Study], place: tuple[str, ...], value: Any, said: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        make_study(nested(place, value))
    message = str(caught.value)
    assert message.startswith(f"configuration: {'.'.join(place[:2])}")
    assert "\n" not in message
    for words in said:
        assert words in message


def test_draws_that_are_not_stored_whole_are_refused(make_study: Callable[..., Study]) -> None:
    with pytest.raises(InputError, match=r"methods\.hmc: draws_per_segment \(16\).*\(5\)"):
        make_study({"methods": {"hmc": {"thin": 5}}})


def test_fractions_above_one_are_refused(make_study: Callable[..., Study]) -> None:
    fractions = {"train": 0.8, "validation": 0.2, "test": 0.1}
    with pytest.raises(InputError, match=r"made\.split: fractions sum to 1\.1, must .* at most 1"):
        make_study({"datasets": {"made": {"split": fractions}}})


@pytest.mark.parametrize("sizes", [(0.8, 0.05, 0.15), (0.33, 0.56, 0.11), (30, 0.5, 0.5)])
def test_fractions_up_to_one_are_accepted(sizes: tuple[float, float, float]) -> None:
    """Fractions miss 1 by rounding, the second by 2e-16 from above; whole numbers are rows."""
    train, validation, test = sizes
    assert Split(train=train, validation=validation, test=test).train == train


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


def test_presets_cannot_change() -> None:
    preset = Pretraining()
    with pytest.raises(ValidationError, match="frozen"):
        preset.epochs = 5
