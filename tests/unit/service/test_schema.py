"""The service keeps to its own OpenAPI schema, whatever is sent: Schemathesis, with all checks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from nlobayes.service.application import application
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import SurrogateContent

if TYPE_CHECKING:
    from schemathesis.specs.openapi.schemas import OpenApiSchema

ENDPOINTS = {"GET /healthz", "GET /api/surrogate", "POST /api/predict", "GET /api/scan"}
EXAMPLES = 40
FEWEST_CASES = 250
CHECKS = {
    *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
    *("response_schema_conformance", "positive_data_acceptance", "negative_data_rejection"),
    *("unsupported_method", "allow_header_conformance", "missing_required_header"),
}


@pytest.fixture(scope="module")
def described(exported: SurrogateContent) -> OpenApiSchema:
    import schemathesis  # seconds, which only this worker of pytest-xdist pays
    from schemathesis.config import CacheConfig, SchemathesisConfig

    facts = {**exported.facts, "table_metadata": {"fixed": "msq = 3000 GeV (2970 to 3030)"}}
    app = application(Surrogate(exported._replace(facts=facts)), {}, ["testserver"])
    config = SchemathesisConfig(seed=1, cache=CacheConfig(enabled=False))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config)
    schema.config.generation.update(max_examples=EXAMPLES)
    return schema


def test_every_endpoint_is_in_the_schema(described: OpenApiSchema) -> None:
    paths = described.raw_schema["paths"]
    found = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert found == ENDPOINTS


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_the_service_keeps_to_its_schema(described: OpenApiSchema) -> None:
    from schemathesis import engine
    from schemathesis.engine import events

    done: Counter[str] = Counter()
    failures = []
    for event in engine.from_schema(described).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            failures.append(str(event))
        if not isinstance(event, events.ScenarioFinished):
            continue
        done["cases"] += len(event.recorder.cases)
        for check in (check for checks in event.recorder.checks.values() for check in checks):
            done[check.name] += 1
            if check.failure_info:
                info = check.failure_info
                failures.append(f"{event.recorder.label}: {info.failure}\n{info.code_sample}")
    assert not failures, "\n\n".join(failures[:3])
    assert done["cases"] >= FEWEST_CASES
    assert {*done} >= CHECKS
