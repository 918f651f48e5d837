"""Presets of pretraining: what fits together, and what is told where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.study.grid import Study
from nlobayes.study.pretraining import Pretraining
from nlobayes.study.resources import size_of

REFUSED: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"optimiser": "amsgrad"}, ("optimiser: got 'amsgrad'", "{kind: amsgrad}")),
    ({"optimiser": {"kind": "adan"}}, ("'adan'", "'adam', 'amsgrad', 'adamw', 'sgd'")),
    ({"optimiser": {"kind": "sgd", "weight_decay": 0.1}}, ("'weight_decay'", "'momentum'")),
    ({"optimiser": {"kind": "adam", "weight_decay": 0.1}}, ("unknown key 'weight_decay'",)),
    ({"optimiser": {"kind": "adamw", "weight_decay": 0}}, ("greater than 0", "got 0")),
    ({"optimiser": {"kind": "sgd", "momentum": 1.0}}, ("less than 1", "got 1.0")),
    ({"optimiser": {"kind": "sgd", "momentum": -0.1}}, ("greater than or equal to 0",)),
    ({"weight_decay": 0.1}, ("unknown key 'weight_decay'", "'optimiser'")),
    ({"schedule": "cosine"}, ("schedule: got 'cosine'", "{kind: cosine}")),
    ({"schedule": {"kind": "linear"}}, ("'linear'", "'constant', 'cosine', 'exponential'")),
    ({"schedule": {"kind": "exponential"}}, ("decay_rate: Field required",)),
    ({"schedule": {"kind": "exponential", "decay_rate": 1.0}}, ("less than 1", "got 1.0")),
    ({"schedule": {"kind": "cosine", "decay_rate": 0.1}}, ("unknown key 'decay_rate'",)),
    ({"schedule": {"kind": "cycles"}}, ("cycles got no patience", "set patience", "as 10")),
    ({"schedule": {"kind": "cycles", "cycles": 1}, "patience": 3}, ("equal to 2", "got 1")),
    ({"schedule": {"kind": "cycles", "factor": 1}, "patience": 3}, ("less than 1", "got 1")),
    ({"batch": "all"}, ("'full'", "got 'all'")),
    ({"batch": 0}, ("greater than or equal to 1", "got 0")),
    ({"restarts": 0}, ("greater than or equal to 1", "got 0")),
    ({"restarts": 1001}, ("less than or equal to 1000", "got 1001")),
]


@pytest.mark.parametrize(("given", "said"), REFUSED, ids=lambda part: str(part)[:60])
def test_pieces_that_do_not_fit_are_refused(
    make_study: Callable[..., Study], given: dict[str, Any], said: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        make_study({"pretraining": {"other": given}})
    message = str(caught.value)
    assert message.startswith("configuration: pretraining.other")
    assert "\n" not in message
    for words in said:
        assert words in message


def test_the_defaults_are_adam_along_a_cosine_once() -> None:
    preset = Pretraining()
    assert (preset.optimiser.kind, preset.schedule.kind) == ("adam", "cosine")
    assert (preset.restarts, preset.most_epochs, preset.batches(250)) == (1, 1000, 3)


def test_epochs_and_batches_are_counted_over_cycles_and_restarts() -> None:
    cycles = {"kind": "cycles", "cycles": 4}
    preset = Pretraining.model_validate(
        {"epochs": 7, "batch": "full", "patience": 2, "restarts": 3, "schedule": cycles}
    )
    assert (preset.most_epochs, preset.batches(250)) == (84, 1)


def test_a_job_asks_for_the_time_of_all_its_fits(make_study: Callable[..., Study]) -> None:
    def seconds(**settings: Any) -> float:
        changed = {"adam": {"epochs": 7, "batch": 10} | settings}
        run = next(make_study({"pretraining": changed}).runs("small"))
        return size_of(run, 60).pretrain_seconds

    cycles = {"kind": "cycles", "cycles": 4}
    assert seconds(restarts=3, schedule=cycles, patience=2) == pytest.approx(12 * seconds())
    assert 0 < seconds(batch="full") < seconds()
