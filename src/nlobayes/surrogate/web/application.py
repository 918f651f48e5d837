"""A surrogate as an ASGI application: one page and a small API, without access to files."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Annotated, Any, TypeVar

import numpy as np
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from nlobayes.errors import MOST_SHOWN, InputError, shorten, words_of
from nlobayes.surrogate import scan
from nlobayes.surrogate.identity import in_words, run_of
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.web.answering import Turns, answer, number
from nlobayes.surrogate.web.guards import Bodies, GuardedRoute, Headers, Heads
from nlobayes.surrogate.web.messages import (
    Condition,
    Description,
    Health,
    Input,
    Line,
    LineAnswer,
    PointsRequest,
    Predictions,
    Refusal,
    example_of,
    field_of,
    line_of,
    request_of,
    spell,
    stated_parameters,
)

BANDS = (0.025, 0.16, 0.84, 0.975)
"""Quantiles along a line: 95 % and 68 % intervals."""

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

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def application(surrogate: Surrogate, page: Mapping[str, str], hosts: Collection[str]) -> FastAPI:
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
    """
    app = FastAPI(
        title=f"nlobayes: {surrogate.target}",
        description="Predictions of a surrogate, with error bars and whether to trust them.",
        version="1",
        docs_url=None,
        redoc_url=None,
    )
    app.add_exception_handler(RequestValidationError, partial(_explain, example_of(surrogate)))
    app.add_exception_handler(InputError, lambda _, error: _refusal(str(error)))
    app.add_middleware(Bodies)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*hosts], www_redirect=False)
    app.add_middleware(Heads)
    app.add_middleware(Headers)
    app.router.route_class = GuardedRoute
    _add_page(app, page)
    _add_api(app, surrogate)
    return app


def _add_page(app: FastAPI, page: Mapping[str, str]) -> None:
    for name, text in page.items():
        kind = next(kind for ending, kind in MEDIA_TYPES.items() if name.endswith(ending))
        path = "/" if name == "index.html" else f"/{name}"
        app.get(path, include_in_schema=False)(_file(text, kind))


def _file(text: str, kind: str) -> Callable[[], Awaitable[Response]]:
    async def file() -> Response:
        return Response(text, media_type=kind)

    return file


def _add_api(app: FastAPI, surrogate: Surrogate) -> None:
    turns = Turns()
    description = _describe(surrogate)

    @app.get("/healthz")
    async def healthz() -> Health:
        """Report that the service is up."""
        return Health()

    @app.get("/api/surrogate")
    async def describe() -> Description:
        """Describe the surrogate, the results of its checks, and its citation."""
        return description

    def predict(request: PointsRequest) -> Predictions:
        """Predict points. Numbers of points that cannot be predicted are null."""
        rows = [p if isinstance(p, list) else [*dict(p).values()] for p in request.points]
        points = np.array(rows, np.float64)
        given = stated_parameters(request)
        content = answer(surrogate, points, request.quantiles, request.scale, turns, given)
        return Predictions(**content)

    def vary(line: Line) -> LineAnswer:
        """Predict along one input, with 68 % and 95 % intervals; the others are constant."""
        points = _points(surrogate, line)
        content = answer(surrogate, points, BANDS, "target", turns)
        rows = [[*map(number, row)] for row in points.tolist()]
        return LineAnswer(**content, along=line.along, inputs=[*surrogate.inputs], points=rows)

    refusals: dict[int | str, dict[str, Any]] = {status: {"model": Refusal} for status in REFUSALS}
    query = spell(Annotated, line_of(surrogate), Query())
    app.post("/api/predict", responses=refusals)(
        _with_types(predict, request=request_of(surrogate))
    )
    app.get("/api/scan", responses={422: refusals[422]})(_with_types(vary, line=query))


def _with_types(endpoint: Endpoint, **types: Any) -> Endpoint:
    """Set the argument types of an endpoint, which depend on the surrogate."""
    endpoint.__annotations__ |= types
    return endpoint


def _describe(surrogate: Surrogate) -> Description:
    facts = surrogate.facts
    inputs = [
        Input(
            name=name,
            unit=surrogate.units.get(name, ""),
            low=surrogate.limits[name][0],
            high=surrogate.limits[name][1],
            gap=surrogate.gaps.get(name),
            typical=surrogate.typical[name],
        )
        for name in surrogate.inputs
    ]
    return Description(
        target=surrogate.target,
        unit=surrogate.units.get(surrogate.target, ""),
        scale=surrogate.scale,
        draws=surrogate.draws,
        run=run_of(facts),
        of=in_words(surrogate.origin),
        origin=surrogate.origin,
        inputs=inputs,
        conditions=[Condition(**condition._asdict()) for condition in surrogate.conditions],
        mixings=surrogate.mixings,
        converged=facts["verdict"]["converged"],
        failed=surrogate.failed_checks,
        theory=[*surrogate.theory],
        verdict=facts["verdict"],
        scores=facts.get("scores", {}),
        bibtex=facts["bibtex"],
    )


def _points(surrogate: Surrogate, line: Line) -> np.ndarray:
    low, high = surrogate.limits[line.along]
    ends = (low if line.low is None else line.low, high if line.high is None else line.high)
    at = [getattr(line, field_of(position)) for position in range(len(surrogate.inputs))]
    gap = surrogate.gaps.get(line.along) if line.leave_gap else None
    values = scan.through(scan.spread(ends, line.steps, gap), line.through)
    points = scan.line(surrogate, at, line.along, values)
    return scan.with_unit_norm(surrogate, points, line.along) if line.unit_norm else points


def _explain(example: Mapping[str, Any], _: Request, error: Exception) -> Response:
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


def _reason(error: Mapping[str, Any]) -> str:
    if error["type"] == "json_invalid":
        return f"the body is no JSON: {error['ctx']['error']}"
    tags = {"body", "query", "array", "object"}
    place = ".".join(str(part) for part in error["loc"] if part not in tags)
    return f"{place or 'the body'}: {words_of(error)}"
