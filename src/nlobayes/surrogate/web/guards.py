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
JSON = (b"content-type", b"application/json")

NAMED = 40
"""Largest number of characters of a repeated name in a refusal."""


class Headers:
    """Middleware that adds `HEADERS` to every response.

    Browsers then load nothing from other sites, and do not frame, guess the type of, or store the
    response.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(n.lower().encode(), v.encode()) for n, v in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Heads:
    """Middleware that answers HEAD as GET; the server leaves out the content."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


class Bodies:
    """Middleware that refuses a body that is too large (413) or too slow (408)."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES, seconds: float = SECONDS) -> None:
        self._app = app
        self._limits = most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            announced = dict(scope["headers"]).get(b"content-length", b"")
            size = int(announced) if announced.isdigit() else 0
            receive = _Body(receive, size, *self._limits)
        await self._app(scope, receive, send)


class _Body:
    """The body of one request, received within limits."""

    def __init__(self, receive: Receive, announced: int, most: int, seconds: float) -> None:
        self._receive = receive
        self._announced = announced
        self._most = most
        self._seconds = seconds
        self._end = asyncio.get_running_loop().time() + seconds
        self._size = 0
        self._complete = False

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()
        self._check(self._announced)
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            detail = f"the body was not complete after {self._seconds:g} s; send it faster"
            raise HTTPException(408, detail) from None
        self._size += len(message.get("body", b""))
        self._check(self._size)
        self._complete = not message.get("more_body", False)
        return message

    def _check(self, size: int) -> None:
        if size > self._most:
            detail = f"the body is larger than {self._most} bytes; send fewer points at once"
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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _check_once(name for name, _ in pairs)
    return dict(pairs)


def _check_once(names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            detail = (
                f"{name[:NAMED]!r} is given {count} times, and only one would count; give it once"
            )
            raise HTTPException(422, detail)
