"""Protection of the service: response headers, and limits on slow and large requests."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nlobayes.untyped import Document

MOST_BYTES = 2**21
"""Largest size of the body of a request."""

SECONDS = 10.0
"""Time in which the body must arrive completely."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Headers of every response: browsers load nothing from other sites, and do not frame, guess the
type of, or store the response."""
ENCODED = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
JSON = (b"content-type", b"application/json")

NAMED = 40
"""Largest number of characters of a repeated name in a refusal."""


class Guard:
    """Middleware that adds `HEADERS`, answers HEAD as GET and limits the body.

    The server leaves out the content of an answer to HEAD. A body that is too large is refused
    (413), and one that is too slow (408).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *ENCODED]}
            await send(message)

        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        announced = dict(scope["headers"]).get(b"content-length", b"")
        limited = _limited(receive, int(announced) if announced.isdigit() else 0)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        return await self._app({**scope, "method": method}, limited, send_with_headers)


def _limited(receive: Receive, announced: int) -> Receive:
    """Receive the body of one request, of an announced size, within the limits."""
    end = asyncio.get_running_loop().time() + SECONDS
    size, complete = 0, False

    async def receive_part() -> Message:
        nonlocal size, complete
        if complete:
            return await receive()
        _check_size(announced)
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            detail = f"the body was not complete after {SECONDS:g} s; send it faster"
            raise HTTPException(408, detail) from None
        size, complete = size + len(message.get("body", b"")), not message.get("more_body", False)
        _check_size(size)
        return message

    return receive_part


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        detail = f"the body is larger than {MOST_BYTES} bytes; send fewer points at once"
        raise HTTPException(413, detail)


class GuardedRoute(APIRoute):
    """Route that reads every body as JSON, and refuses two kinds of requests.

    A parameter or a JSON key that is given twice is refused (422), because one of the two values
    would be ignored. A body from a page of another site is refused (403): any page may let a
    browser send text, which must not cost computing time here.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that checks the request before the endpoint."""
        handle = super().get_route_handler()

        async def handle_checked(request: Request) -> Response:
            if request.method != "GET" and _is_foreign(request.headers):
                raise HTTPException(403, "a page of another site sent this; send it by a program")
            _check_once(name for name, _ in request.query_params.multi_items())
            scope = {**request.scope, "headers": [JSON, *request.scope["headers"]]}
            return await handle(_Once(scope, request.receive))

        return handle_checked


def _is_foreign(headers: Mapping[str, str]) -> bool:
    """Return whether a browser sent the request for a page of another site; programs state none."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin.partition("://")[2] != headers["host"]


class _Once(Request):
    """A request whose JSON is refused if an object has a key twice."""

    async def json(self) -> Any:
        try:
            return json.loads(await self.body(), object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:  # also of encodings, and of long numbers
            raise json.JSONDecodeError(str(error), "", 0) from None


def _once(pairs: list[tuple[str, Any]]) -> Document:
    _check_once(name for name, _ in pairs)
    return dict(pairs)


def _check_once(names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            given = f"{name[:NAMED]!r} is given {count} times"
            raise HTTPException(422, f"{given}, and only one would count; give it once")
