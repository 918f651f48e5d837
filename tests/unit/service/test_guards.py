"""Guard that arrive too slowly, or never, are refused."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.service.application import application
from nlobayes.service.guards import Guard
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import SurrogateContent

SECONDS = 0.2
SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/api/predict",
    "raw_path": b"/api/predict",
    "query_string": b"",
    "headers": [(b"host", b"testserver"), (b"content-type", b"application/json")],
    "http_version": "1.1",
    "scheme": "http",
    "root_path": "",
}
BODY = json.dumps({"points": [[300, 0.1, 0.2, 0.8, -0.55]]}).encode()


@pytest.fixture
def status_of(exported: SurrogateContent, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Send the body in pieces, with a delay in seconds before each, and return the status."""
    monkeypatch.setattr("nlobayes.service.guards.SECONDS", SECONDS)
    app = application(Surrogate(exported), {}, ["testserver"])

    async def ask(pieces: list[bytes], pause: float) -> int:
        statuses = []

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(pause)
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await app(dict(SCOPE), receive, send)
        (status,) = statuses
        return status

    return lambda pieces, pause: asyncio.run(ask(pieces, pause))


def pieces(count: int) -> list[bytes]:
    size = len(BODY) // count + 1
    return [BODY[start : start + size] for start in range(0, len(BODY), size)]


def test_a_body_that_never_comes_is_given_up(status_of: Callable[..., int]) -> None:
    assert status_of([BODY], 60) == 408


def test_pieces_in_time_do_not_make_a_body_in_time(status_of: Callable[..., int]) -> None:
    assert status_of(pieces(20), SECONDS / 4) == 408


def test_what_is_no_request_passes() -> None:
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope, receive, send))

    receive: Any = object()
    send: Any = object()
    scope = {"type": "lifespan"}
    asyncio.run(Guard(app)(scope, receive, send))
    assert seen == [(scope, receive, send)]
