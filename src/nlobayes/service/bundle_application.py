"""A bundle as an ASGI application: curves of all processes of an energy, and spectra."""

import asyncio
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Query
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from nlobayes.bundles.index import Entry, words_of
from nlobayes.bundles.surrogates import Bundle
from nlobayes.errors import InputError
from nlobayes.service.application import guarded
from nlobayes.surrogate.cross_section import CrossSection
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import REGRESSION, SIDES, TOTAL
from nlobayes.untyped import Document

POINTS = 80
"""Points of a curve."""
MOST_CHARACTERS = 1_000_000
"""Largest length of an SLHA text."""
SAME_ENERGY = 1e-6
NUMBER = re.compile(r"[0-9]{7}")
SUM = "sum"
KINDS = {
    "slepton": {1000011, 1000013, 1000015, 2000011, 2000013, 2000015},
    "sneutrino": {1000012, 1000014, 1000016},
    "strong": {1000021, *(side + n for side in (1000000, 2000000) for n in range(1, 7))},
}
"""Kinds of curves by their particles; one with a sneutrino counts as its kind."""
STATES = ("wino", "higgsino")
"""Kinds of curves by the state that a condition names."""


class SpectrumRequest(BaseModel):
    """An SLHA text, the energy in GeV, and the order; null takes the highest."""

    model_config = ConfigDict(extra="forbid", strict=True)

    slha: str = Field(max_length=MOST_CHARACTERS)
    energy: float = Field(gt=0, allow_inf_nan=False)
    order: str | None = Field(None, max_length=100)


def bundle_application(
    bundle: Bundle, name: str, page: Mapping[str, str], hosts: Collection[str]
) -> FastAPI:
    """Make the application: a description, curves, and predictions of spectra.

    `page` and `hosts` as for `application`.
    """
    example = {"slha": "BLOCK MASS ...", "energy": bundle.energies[-1]}
    app, turn = guarded(name, page, hosts, example), asyncio.Lock()

    @app.get("/api/bundle")
    async def describe() -> Document:
        """Describe the entries: process, energy, order, source, inputs and failed checks."""
        orders = {entry.order: entry.qcd_order for entry in bundle.entries}
        return {
            "name": name,
            "energies": [*bundle.energies],
            "orders": sorted(orders, key=lambda order: -orders[order]),
            "failed": [e.name for e in bundle.entries if any(e.failed_checks.values())],
            "entries": [_described(entry) for entry in bundle.entries],
        }

    @app.get("/api/curves")
    async def curves(
        energy: Annotated[float, Query(gt=0)], order: Annotated[str | None, Query()] = None
    ) -> Document:
        """Predict all processes of an energy along the mass of the produced particles."""
        async with turn:
            return {"curves": await run_in_threadpool(lambda: [*_curves(bundle, energy, order)])}

    @app.post("/api/spectrum")
    async def spectrum(request: SpectrumRequest) -> Document:
        """Predict all processes of an SLHA text, and their sum."""
        text = request.slha if "\n" in request.slha else f"{request.slha}\n"
        at = request.energy, request.order or None
        async with turn:
            found = await run_in_threadpool(bundle.predict, text, "all", *at)
            total = await run_in_threadpool(bundle.total, text, "all", *at)
        orders = {entry.name: entry.order for entry in bundle.entries}
        rows = [_row(words_of(pair), one, orders.get(one.entry, "")) for pair, one in found.items()]
        return {"rows": [*rows, _row(SUM, total, "")]}

    return app


def _described(entry: Entry) -> Document:
    return {
        "name": entry.name,
        "process": entry.process,
        "sqrt_s_gev": entry.sqrt_s_gev,
        "order": entry.order,
        "inputs": [*entry.inputs],
        "inclusive": entry.inclusive,
        "failed": entry.failed_checks,
    }


def _curves(bundle: Bundle, energy: float, order: str | None) -> Iterator[Document]:
    """Yield a curve for each process and state: of the order, or else of the highest one.

    Of several entries, that of the fewest inputs is taken.
    """
    here = [e for e in bundle.entries if math.isclose(e.sqrt_s_gev, energy, rel_tol=SAME_ENERGY)]
    if not here:
        raise InputError("bundles.no_energy", received=energy, known=bundle.energies)
    shown: dict[tuple[tuple[int, ...], str], Entry] = {}
    for entry in (e for e in here if order is None or e.order == order):
        place = entry.outgoing, _kind(entry)
        if place not in shown or _rank(entry) > _rank(shown[place]):
            shown[place] = entry
    for entry in shown.values():
        yield _curve(entry, bundle.surrogates[entry.name])


def _range(surrogate: Surrogate, names: Collection[str]) -> tuple[float, float]:
    """Return the range of the training data that all of these inputs have."""
    low, high = zip(*(surrogate.limits[name] for name in names), strict=True)
    return max(low), min(high)


def _rank(entry: Entry) -> tuple[bool, int, int, str]:
    return not entry.doubt, entry.qcd_order, -len(entry.inputs), entry.name


def _curve(entry: Entry, surrogate: Surrogate) -> Document:
    """Predict along the mass of the produced particles, at typical values of other inputs.

    These masses are equal. Squarks have msq, and a table without numbers its first input.
    """
    produced = {abs(number) for number in entry.outgoing}
    own = {n for n in surrogate.inputs if produced >= {*map(int, NUMBER.findall(n))} != set()}
    along = own or ({"msq"} & {*surrogate.inputs}) or {surrogate.inputs[0]}
    typical, x = surrogate.typical, np.geomspace(*_range(surrogate, along), POINTS)
    held = {name: typical[name] for name in surrogate.inputs if name not in along}
    points = np.column_stack(
        [np.full(POINTS, held[name]) if name in held else x for name in surrogate.inputs]
    )
    with np.errstate(all="ignore"):
        middle = surrogate.predict(points).median
        errors = surrogate.errors(points)
        inside = surrogate.domain(points) != OUTSIDE
    kind = TOTAL if f"{TOTAL}_up" in errors else REGRESSION
    shares = {side: errors[f"{kind}_{side}"] for side in SIDES}
    numbers = {"middle": middle, **shares}
    return {
        "name": entry.name,
        "source": surrogate.origin["source"],
        "outgoing": words_of(entry.outgoing),
        "inclusive": bool(entry.inclusive),
        "kind": _kind(entry),
        "at": held,
        "x": x.tolist(),
        **{
            name: [_number(v) if k else None for v, k in zip(values, inside, strict=True)]
            for name, values in numbers.items()
        },
    }


def _kind(entry: Entry) -> str:
    for state in STATES:
        if f"{state}_" in entry.fixed:
            return state
    particles = {abs(number) for number in entry.outgoing}
    found = [kind for kind, members in KINDS.items() if particles & members]
    return found[-1] if found else "other"


def _row(process: str, found: CrossSection, order: str) -> Document:
    return {
        "process": process,
        "entry": found.entry,
        "order": order,
        **{name: _number(getattr(found, name)) for name in ("median", "low", "high")},
        "errors": {name: _number(error) for name, error in found.errors.items()},
        "domain": found.domain,
        "reason": found.reason,
    }


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
