"""A surrogate as an ASGI application: one page and a small API, without access to files."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from nlobayes.errors import MOST_SHOWN, InputError, shorten, words_of
from nlobayes.service import messages, points_along
from nlobayes.service.accepting import compute_others, threshold_of
from nlobayes.service.guards import Guard, GuardedRoute
from nlobayes.service.messages import Line, LineAnswer, PointsRequest, Predictions, spell
from nlobayes.surrogate.answers import DOMAIN, REASON, located
from nlobayes.surrogate.surrogate import Scale, Surrogate
from nlobayes.untyped import Document, Facts

if TYPE_CHECKING:
    from nlobayes.programs.otherwise import Otherwise

BANDS = (0.025, 0.16, 0.84, 0.975)
"""Quantiles along a line: 95 % and 68 % intervals."""

CELLS = 50_000
"""Predictions (draw, point) of one turn: 50 points of 1000 draws take 0.02 to 0.3 s."""

MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
REFUSALS = (400, 403, 408, 413, 422)
"""Statuses of refused requests."""

REASONS_NAMED = 3
"""Largest number of reasons in a refusal."""

ACCEPTED = "accepted"

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def application(
    surrogate: Surrogate,
    page: Mapping[str, str],
    hosts: Collection[str],
    otherwise: "Otherwise | None" = None,
) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    surrogate
        Surrogate that makes the predictions.
    page
        Text of every file of the page, by its name; `index.html` is served as `/`.
    hosts
        Host names that a request may use. Others are refused, because another site may have let its
        own name resolve to this machine.
    otherwise
        Program of the operator that computes points which are not accepted, one request at a time.
    """
    app = guarded(surrogate.target, page, hosts, messages.example_of(surrogate))
    _add_api(app, surrogate, otherwise)
    return app


def guarded(title: str, page: Mapping[str, str], hosts: Collection[str], example: Facts) -> FastAPI:
    """Make an application with its page, limits and refusals; arguments as for `application`.

    `example` is a body that a refusal shows.
    """
    app = FastAPI(
        title=f"nlobayes: {title}",
        description="Predictions of a surrogate, with error bars and whether to trust them.",
        version="1",
        docs_url=None,
        redoc_url=None,
    )
    app.add_exception_handler(RequestValidationError, partial(_explain, example))
    app.add_exception_handler(InputError, lambda _, error: _refusal(str(error)))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*hosts], www_redirect=False)
    app.add_middleware(Guard)
    app.router.route_class = GuardedRoute
    for name, text in page.items():
        kind = next(kind for ending, kind in MEDIA_TYPES.items() if name.endswith(ending))
        path = "/" if name == "index.html" else f"/{name}"
        app.get(path, include_in_schema=False)(_file(text, kind))
    return app


def _file(text: str, kind: str) -> Callable[[], Awaitable[Response]]:
    async def file() -> Response:
        return Response(text, media_type=kind)

    return file


def _add_api(app: FastAPI, surrogate: Surrogate, otherwise: "Otherwise | None") -> None:
    turn, description = asyncio.Lock(), messages.describe(surrogate)
    turn_of_program = asyncio.Lock()

    @app.get("/healthz")
    async def healthz() -> messages.Health:
        """Report that the service is up."""
        return messages.Health()

    @app.get("/api/surrogate")
    async def describe() -> messages.Description:
        """Describe the surrogate, the results of its checks, and its citation."""
        return description

    async def predict(request: PointsRequest) -> Predictions:
        """Predict points. Numbers of points that cannot be predicted are null."""
        rows = [p if isinstance(p, list) else [*dict(p).values()] for p in request.points]
        given = messages.stated_parameters(request)
        points, scale = np.array(rows, np.float64), request.scale
        asked = request.max_error
        content = await answer(surrogate, points, request.quantiles, scale, turn, given, asked)
        if otherwise is not None and content.get("threshold") is not None and scale == "target":
            async with turn_of_program:
                arguments = content, points, otherwise, surrogate.inputs
                await run_in_threadpool(compute_others, *arguments)
        return Predictions(**content)

    async def vary(line: Line) -> LineAnswer:
        """Predict along one input, with 68 % and 95 % intervals; the others are constant."""
        points = _points(surrogate, line)
        content = await answer(surrogate, points, BANDS, "target", turn)
        inputs, points_of_line = [*surrogate.inputs], _numbers(points)
        return LineAnswer(**content, along=line.along, inputs=inputs, points=points_of_line)

    refusals: dict[int | str, Document] = {
        status: {"model": messages.Refusal} for status in REFUSALS
    }
    query = spell(Annotated, messages.line_of(surrogate), Query())
    app.post("/api/predict", responses=refusals)(
        _with_types(predict, request=messages.request_of(surrogate))
    )
    app.get("/api/scan", responses={422: refusals[422]})(_with_types(vary, line=query))


def _with_types(endpoint: Endpoint, **types: Any) -> Endpoint:
    """Set the argument types of an endpoint, which depend on the surrogate."""
    endpoint.__annotations__ |= types
    return endpoint


async def answer(
    surrogate: Surrogate,
    points: np.ndarray,
    quantiles: Sequence[float],
    on: Scale,
    turn: asyncio.Lock,
    given: Mapping[str, float] | None = None,
    max_error: float | None = None,
) -> Document:
    """Predict points in blocks; numbers of those without a prediction are None.

    `given` has the values of fixed parameters, the same at every point, as in `Surrogate.domain`.
    Each block waits for a `turn`. Turns are given in the order of requests, so that a small request
    waits for one block of a large one.
    """
    acceptance: Document = {}
    if max_error is not None:
        threshold, guarantee = threshold_of(surrogate, max_error)
        acceptance = {"threshold": threshold and threshold.value, "guarantee": guarantee}

    def block(part: np.ndarray) -> dict[str, np.ndarray]:
        with np.errstate(all="ignore"):
            predicted = surrogate.predict(part, quantiles=quantiles, on=on)
            errors = surrogate.errors(part) if surrogate.theory else {}
            where = located(surrogate, part, given)
            if max_error is None:
                return predicted._asdict() | errors | where
            accepted = np.zeros(len(part), bool)
            if threshold is not None:
                accepted = threshold.accepts(surrogate.stated_errors(part), where[DOMAIN])
            return predicted._asdict() | errors | where | {ACCEPTED: accepted}

    blocks, step = [], max(1, CELLS // surrogate.draws)
    for start in range(0, max(len(points), 1), step):
        async with turn:
            blocks.append(await run_in_threadpool(block, points[start : start + step]))
    columns = {n: np.concatenate([each[n] for each in blocks], axis=-1) for n in blocks[0]}
    domain, reasons = (columns.pop(name).tolist() for name in (DOMAIN, REASON))
    if max_error is not None:
        acceptance[ACCEPTED] = columns.pop(ACCEPTED).tolist()
    numbers = {name: _numbers(values) for name, values in columns.items()}
    summaries = {name: numbers.pop(name) for name in messages.SUMMARIES}
    return {
        "target": surrogate.target,
        "unit": surrogate.units.get(surrogate.target, ""),
        "scale": surrogate.scale if on == "model" else "identity",
        "probabilities": [*quantiles],
        **summaries,
        "errors": numbers,
        "domain": domain,
        "reasons": reasons,
        **acceptance,
    }


def _numbers(values: np.ndarray) -> list[Any]:
    """Return numbers as lists, with None for those that JSON cannot represent."""
    objects = values.astype(object)
    objects[~np.isfinite(values)] = None
    listed: list[Any] = objects.tolist()
    return listed


def _points(surrogate: Surrogate, line: Line) -> np.ndarray:
    low, high = surrogate.limits[line.along]
    ends = (low if line.low is None else line.low, high if line.high is None else line.high)
    at = [getattr(line, messages.field_of(position)) for position in range(len(surrogate.inputs))]
    gap = surrogate.gaps.get(line.along) if line.leave_gap else None
    values = points_along.through(points_along.spread(ends, line.steps, gap), line.through)
    points = points_along.line(surrogate, at, line.along, values)
    return points_along.with_unit_norm(surrogate, points, line.along) if line.unit_norm else points


def _explain(example: Facts, _: Request, error: Exception) -> Response:
    """Describe in one line why a request is refused, without repeating its content."""
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    reasons = [_reason(each) for each in errors[:REASONS_NAMED]]
    if len(errors) > REASONS_NAMED:
        reasons.append(f"{len(errors) - REASONS_NAMED} more")
    if errors[0]["loc"][0] == "body":
        reasons.append(shorten(f"a body is such as {json.dumps(example)}", MOST_SHOWN))
    return _refusal("; ".join(reasons))


def _refusal(detail: str) -> Response:
    return JSONResponse({"detail": detail}, 422)


def _reason(error: Facts) -> str:
    if error["type"] == "json_invalid":
        return f"the body is no JSON: {error['ctx']['error']}"
    tags = {"body", "query", "array", "object"}
    place = ".".join(str(part) for part in error["loc"] if part not in tags)
    return f"{place or 'the body'}: {words_of(error)}"
