"""Requests take turns in order, each for a block of points, so that none waits for all others."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.web import answering
from nlobayes.surrogate.web.answering import Turns, answer
from nlobayes.types import Exported

SECONDS = 20
POINTS = np.tile([300, 0.1, 0.2, 0.8, -0.55], (100, 1))


def test_turns_are_taken_one_at_a_time_in_the_order_of_requests() -> None:
    turns, done = Turns(), []
    held = threading.Event()

    def take(name: int) -> None:
        with turns.one():
            held.wait(SECONDS)
            done.append(name)

    takers = [threading.Thread(target=take, args=(name,)) for name in range(6)]
    for place, taker in enumerate(takers, 1):
        taker.start()
        waited_until(lambda place=place: len(turns._queue) == place)
    assert done == []
    held.set()
    for taker in takers:
        taker.join(SECONDS)
    assert done == [*range(6)]


def waited_until(condition: object) -> None:
    end = time.monotonic() + SECONDS
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.001)


def test_who_fails_gives_the_turn_to_the_next() -> None:
    turns = Turns()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), turns.one():
            raise ZeroDivisionError


def test_a_small_request_waits_for_one_turn_of_a_large_one(
    exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The large request has ten turns; the small one arrives during the first."""
    monkeypatch.setattr(answering, "CELLS", 10 * 40)
    surrogate, turns = Surrogate(exported), Turns()
    sizes: list[int] = []
    small = threading.Thread(target=lambda: answer(surrogate, POINTS[:1], (), "target", turns))
    predict = surrogate.predict

    def predict_slowly(points: np.ndarray, **options: object) -> object:
        if not sizes:
            small.start()
            waited_until(lambda: len(turns._queue) == 2)
        sizes.append(len(points))
        return predict(points, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(surrogate, "predict", predict_slowly)
    found = answer(surrogate, POINTS, (0.5,), "target", turns)
    small.join(SECONDS)
    assert sizes == [10, 1, *[10] * 9]
    np.testing.assert_allclose(found["mean"], predict(POINTS).mean, rtol=1e-6)
    assert found["quantiles"][0] == pytest.approx(found["median"], rel=1e-12)
