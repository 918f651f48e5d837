"""Presets of pretraining: which settings fit together, and the errors if they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.study.grid import Study
from nlobayes.study.pretraining import Pretraining
from nlobayes.study.resources import size_of
from tests.refusals import refused

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"optimiser": "amsgrad"}, "study.kind_alone"),
    ({"optimiser": {"kind": "adan"}}, "union_tag_invalid"),
    ({"optimiser": {"kind": "sgd", "weight_decay": 0.1}}, "study.unknown_key"),
    ({"optimiser": {"kind": "adam", "weight_decay": 0.1}}, "study.unknown_key"),
    ({"optimiser": {"kind": "adamw", "weight_decay": 0}}, "greater_than"),
    ({"optimiser": {"kind": "sgd", "momentum": 1.0}}, "less_than"),
    ({"optimiser": {"kind": "sgd", "momentum": -0.1}}, "greater_than_equal"),
    ({"weight_decay": 0.1}, "study.unknown_key"),
    ({"schedule": "cosine"}, "study.kind_alone"),
    ({"schedule": {"kind": "linear"}}, "union_tag_invalid"),
    ({"schedule": {"kind": "exponential"}}, "missing"),
    ({"schedule": {"kind": "exponential", "decay_rate": 1.0}}, "less_than"),
    ({"schedule": {"kind": "cosine", "decay_rate": 0.1}}, "study.unknown_key"),
    ({"schedule": {"kind": "cycles"}}, "study.cycles_without_patience"),
    ({"start_draws": 50}, "study.start_draws"),
    ({"schedule": {"kind": "cycles", "cycles": 1}, "patience": 3}, "greater_than_equal"),
    ({"schedule": {"kind": "cycles", "factor": 1}, "patience": 3}, "less_than"),
    ({"batch": "all"}, "int_parsing"),
    ({"batch": 0}, "greater_than_equal"),
    ({"restarts": 0}, "greater_than_equal"),
    ({"restarts": 1001}, "less_than_equal"),
]


@pytest.mark.parametrize(("given", "fault"), REFUSED, ids=lambda part: str(part)[:60])
def test_pieces_that_do_not_fit_are_refused(
    make_study: Callable[..., Study], given: dict[str, Any], fault: str
) -> None:
    with refused(fault, where="configuration") as caught:
        make_study({"pretraining": {"other": given}})
    assert caught.value.fields["places"][0].startswith("pretraining.other")
    assert "\n" not in str(caught.value)


def test_epochs_and_batches_are_counted_over_cycles_and_restarts() -> None:
    cycles = {"kind": "cycles", "cycles": 4}
    preset = Pretraining.model_validate(
        {"epochs": 7, "batch": "full", "patience": 2, "restarts": 3, "schedule": cycles}
    )
    assert (preset.most_epochs, preset.batches(250)) == (84, 1)


def test_a_job_requests_the_time_of_all_its_fits(make_study: Callable[..., Study]) -> None:
    def seconds(**settings: Any) -> float:
        changed = {"adam": {"epochs": 7, "batch": 10} | settings}
        run = next(make_study({"pretraining": changed}).runs("small"))
        return size_of(run, 60).pretrain_seconds

    cycles = {"kind": "cycles", "cycles": 4}
    assert seconds(restarts=3, schedule=cycles, patience=2) == pytest.approx(12 * seconds())
    assert 0 < seconds(batch="full") < seconds()
