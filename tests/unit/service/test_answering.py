"""Requests take turns in order, each for a block of points, so that none waits for all others."""

import asyncio
import threading

import numpy as np
import pytest

from nlobayes.service import application
from nlobayes.service.application import answer
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import SurrogateContent

SECONDS = 20
POINTS = np.tile([300, 0.1, 0.2, 0.8, -0.55], (100, 1))


def test_small_requests_wait_for_one_turn_of_a_large_one_and_keep_their_order(
    exported: SurrogateContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The large request has ten turns; the small ones, of 1 to 3 points, arrive during the first.

    The event loop stays free during a turn, because the small ones could not arrive otherwise.
    """
    monkeypatch.setattr(application, "CELLS", 10 * 40)
    surrogate, arrived = Surrogate(exported), threading.Event()
    sizes: list[int] = []
    predict = surrogate.predict

    def predict_slowly(points: np.ndarray, **options: object) -> object:
        assert sizes or arrived.wait(SECONDS)
        sizes.append(len(points))
        return predict(points, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(surrogate, "predict", predict_slowly)

    async def ask() -> dict[str, object]:
        turn = asyncio.Lock()
        large = asyncio.create_task(answer(surrogate, POINTS, (0.5,), "target", turn))
        await asyncio.sleep(0.01)
        small = [
            asyncio.create_task(answer(surrogate, POINTS[:count], (), "target", turn))
            for count in (1, 2, 3)
        ]
        await asyncio.sleep(0.01)
        arrived.set()
        await asyncio.gather(*small)
        return await large

    found = asyncio.run(ask())
    assert sizes == [10, 1, 2, 3, *[10] * 9]
    assert found["mean"] == pytest.approx(predict(POINTS).mean, rel=1e-6)
    assert found["quantiles"][0] == found["median"]  # type: ignore[index]


def test_who_fails_gives_the_turn_to_the_next(
    exported: SurrogateContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    surrogate = Surrogate(exported)
    monkeypatch.setattr(surrogate, "predict", lambda *_, **__: 1 / 0)

    async def ask() -> None:
        turn = asyncio.Lock()
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await answer(surrogate, POINTS, (), "target", turn)

    asyncio.run(ask())
