"""Presets of pretraining: their epochs, and the time that they request."""

from typing import Any

import pytest

from nlobayes.study.pretraining import Pretraining
from nlobayes.study.resources import size_of
from tests.unit.study.small import make_study


def test_epochs_and_batches_are_counted_over_cycles_and_restarts() -> None:
    cycles = {"kind": "cycles", "cycles": 4}
    preset = Pretraining.model_validate(
        {"epochs": 7, "batch": "full", "patience": 2, "restarts": 3, "schedule": cycles}
    )
    assert (preset.most_epochs, preset.batches(250)) == (84, 1)


def test_a_job_requests_the_time_of_all_its_fits() -> None:
    def seconds(**settings: Any) -> float:
        changed = {"adam": {"epochs": 7, "batch": 10} | settings}
        run = next(make_study({"pretraining": changed}).runs("small"))
        return size_of(run, 60).pretrain_seconds

    cycles = {"kind": "cycles", "cycles": 4}
    assert seconds(restarts=3, schedule=cycles, patience=2) == pytest.approx(12 * seconds())
    assert 0 < seconds(batch="full") < seconds()
