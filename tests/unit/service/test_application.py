"""Answers and refusals of the service; test_schema tests their shapes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from nlobayes.programs.otherwise import Otherwise
from nlobayes.service import accepting as accepting_module
from nlobayes.service.application import application
from nlobayes.service.guards import HEADERS, MOST_BYTES
from nlobayes.study.program import Program
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent

POINTS = [[300, 0.1, 0.2, 0.8, -0.55], [-800, 0.5, 0.5, 0.5, 0.5]]
NO_POINT = [0, 0, 0, 0, 1]
PAGE = {"index.html": "<p>page</p>", "page.js": "1", "style.css": "p {}", "icon.svg": "<svg/>"}


@pytest.fixture(scope="module")
def surrogate(exported: SurrogateContent) -> Surrogate:
    return Surrogate(exported)


@pytest.fixture(scope="module")
def client(surrogate: Surrogate) -> Iterator[TestClient]:
    with TestClient(application(surrogate, PAGE, ["testserver", "[::1]"])) as opened:
        yield opened


def predict(client: TestClient, **ask: Any) -> Any:
    response = client.post("/api/predict", json=ask)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("scale", ["target", "model"])
def test_predictions_are_those_of_the_surrogate(
    client: TestClient, surrogate: Surrogate, scale: Any
) -> None:
    found = predict(client, points=POINTS, quantiles=[0.84, 0.025, 0.84], scale=scale)
    expected = surrogate.predict(POINTS, quantiles=(0.84, 0.025, 0.84), on=scale)
    for name in ("mean", "median", "posterior_sd", "total_sd", "quantiles"):
        assert np.array_equal(found[name], getattr(expected, name)), name
    assert found["domain"] == surrogate.domain(POINTS).tolist()
    assert (found["target"], found["unit"]) == ("sigma_pb", "pb")
    assert found["scale"] == ("log10" if scale == "model" else "identity")
    assert found["probabilities"] == [0.84, 0.025, 0.84]


def test_what_cannot_be_predicted_is_null_and_outside(client: TestClient) -> None:
    alone = predict(client, points=[POINTS[0]])
    found = predict(client, points=[NO_POINT, POINTS[0], [300, 1e200, 0, 0, 0]])
    assert found["domain"] == ["outside", alone["domain"][0], "outside"]
    for name in ("mean", "median", "posterior_sd", "total_sd"):
        assert found[name][0] is None
        assert found[name][1] == pytest.approx(alone[name][0], rel=1e-6)
        assert found[name][2] is None
    assert [quantile[0] for quantile in found["quantiles"]] == [None, None]
    assert predict(client, points=[NO_POINT])["mean"] == [None]


def test_fixed_parameters_are_compared_with_the_conditions(exported: SurrogateContent) -> None:
    """The result is that of `Surrogate.domain` and `reasons`; a line has no fixed parameters."""
    held = "msq = 3000 GeV (2970 to 3030); tan_beta = 10 1 (9 to 11)"
    facts = {**exported.facts, "table_metadata": {"fixed": held}}
    made = Surrogate(exported._replace(facts=facts))
    points = [[*made.typical.values()]] * 2
    with TestClient(application(made, PAGE, ["testserver"])) as client:
        for given in ({"msq": 3001.5, "tan_beta": 10.0}, {"msq": 1000.0}, {"msq": None}, {}):
            known = {name: value for name, value in given.items() if value is not None}
            found = predict(client, points=points, given=given)
            assert found["domain"] == made.domain(points, known).tolist()
            assert found["reasons"] == made.reasons(points, known).tolist()
        assert found == predict(client, points=points)
        assert predict(client, points=points, given={"msq": 1})["domain"] == ["outside"] * 2
        body = {"points": points, "given": {"mu": 1}}
        response = client.post("/api/predict", json=body)
        assert (response.status_code, response.json()["detail"][:8]) == (422, "given.mu")
        described = client.get("/api/surrogate").json()["conditions"]
    assert described == [one._asdict() for one in made.conditions]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"points": [[1, 1, 1, 1, "1"]]}', "points.0.4: must be a number"),
        ('{"points": [[1, 1, 1, 1, true]]}', "points.0.4: must be a number"),
        ('{"points": [[1, 2, 3, 4]]}', "points.0: has 4 items, needs 5 or more"),
        ('{"points": [{"m1": 1}]}', "points.0.n11: must be given; "),
        ('{"points": [[1, 2, 3, 4, 5, 6]]}', "points.0: must have 5 items or fewer"),
        ('{"points": [[1, 1, 1, 1, 1]], "quantile": [0.5]}', "quantile: unknown; leave it out"),
        ('{"points": [[1, 1, 1, 1, 1]], "quantiles": [1]}', "quantiles.0: must be at most"),
        ('{"points": [[1, 1, 1, 1, 1]], "scale": "log"}', "scale: must be 'target' or"),
        ("[]", "the body: must have keys with values"),
        ('{"points": ', "the body is no JSON: Expecting value"),
        ("", "the body: must be given"),
        ('{"points": [[0, 0, 0, 0, 1]], "points": [[1, 1, 1, 1, 1]]}', "'points' is given 2 times"),
        ('{"points": [{"m1": 1, "m1": 2, "n11": 1}]}', "'m1' is given 2 times, and only one"),
        (
            '{"points": 1, "points": 2}'.replace("points", "x" * 99),
            f"'{'x' * 40}' is given 2 times",
        ),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_in_one_line(
    client: TestClient, body: str, message: str
) -> None:
    headers = {"content-type": "application/json"}
    response = client.post("/api/predict", content=body, headers=headers)
    assert response.status_code == 422
    assert [*response.json()] == ["detail"]
    assert response.json()["detail"].startswith(message)
    assert "\n" not in response.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b'{"points": [[' + b"9" * 10_000 + b", 1, 1, 1, 1]]}", b"\xff\xff", b"m1=300"],
)
def test_what_is_no_json_is_refused_with_a_body_that_is_answered(
    client: TestClient, body: bytes
) -> None:
    response = client.post("/api/predict", content=body)
    detail = response.json()["detail"]
    assert (response.status_code, detail[:19]) == (422, "the body is no JSON")
    example = json.loads(detail.partition("a body is such as ")[2])
    assert predict(client, **example)["domain"] == ["inside"]


SITE, ORIGIN = "sec-fetch-site", "origin"


@pytest.mark.parametrize(
    ("stated", "status"),
    [
        ({}, 200),
        ({ORIGIN: "http://testserver"}, 200),
        ({SITE: "same-origin", ORIGIN: "https://proxy.example"}, 200),
        ({SITE: "same-origin"}, 200),
        ({ORIGIN: "http://testserver:81"}, 403),
        ({ORIGIN: "https://evil.example"}, 403),
        ({ORIGIN: "null"}, 403),
        ({SITE: "cross-site", ORIGIN: "http://testserver"}, 403),
        ({SITE: "same-site"}, 403),
    ],
)
def test_a_body_from_a_page_of_another_site_is_refused(
    client: TestClient, stated: dict[str, str], status: int
) -> None:
    """A browser sends text without a preflight request, but states the page that it is from."""
    headers = stated | {"content-type": "text/plain"}
    response = client.post("/api/predict", json={"points": POINTS}, headers=headers)
    assert response.status_code == status
    assert client.get("/healthz", headers=stated).status_code == 200


@pytest.mark.parametrize("announced", [True, False])
def test_the_size_of_a_body_is_limited(client: TestClient, announced: bool) -> None:
    chunks = (b" " * 2**16 for _ in range(MOST_BYTES // 2**16 + 1))
    body = b" " * (MOST_BYTES + 1) if announced else chunks
    headers = {"content-type": "application/json"}
    response = client.post("/api/predict", content=body, headers=headers)
    assert response.status_code == 413
    assert "larger than 2097152 bytes; send fewer points" in response.json()["detail"]


def test_a_line_is_what_the_same_points_give(client: TestClient, surrogate: Surrogate) -> None:
    query: dict[str, Any] = {"along": "m1", "steps": 5, "low": 200, "high": 400, "at.n11": 0.5}
    found = client.get("/api/scan", params=query).json()
    typical = [*surrogate.typical.values()]
    points = [[x, 0.5, *typical[2:]] for x in (200, 250, 300, 350, 400)]
    assert (found["along"], found["inputs"]) == ("m1", [*surrogate.inputs])
    assert found["points"] == points
    same = predict(client, points=points, quantiles=[0.025, 0.16, 0.84, 0.975])
    assert all(reason.startswith("length of n11") for reason in same["reasons"])
    assert {name: found[name] for name in same} == same


def test_a_line_leads_through_a_value_and_leaves_the_gap(
    client: TestClient, surrogate: Surrogate
) -> None:
    """The masses of the train rows are above 100 GeV, of both signs."""
    gap = surrogate.gaps["m1"]
    assert (gap[1], 100 < gap[1] < 200) == (-gap[0], True)
    query: dict[str, Any] = {"along": "m1", "steps": 51, "low": -500, "high": 500}
    whole, left, moved = (
        np.array(client.get("/api/scan", params=query | more).json()["points"])[:, 0]
        for more in ({}, {"leave_gap": True}, {"through": 323.4, "leave_gap": True})
    )
    described = client.get("/api/surrogate").json()["inputs"]
    assert ((whole > gap[0]) & (whole < gap[1])).any()
    assert not ((left > gap[0]) & (left < gap[1])).any()
    assert {*gap} <= {*left}
    assert np.flatnonzero(moved != left).size == 1
    assert 323.4 in moved
    assert [one["gap"] for one in described] == [[*gap], None, None, None, None]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "along: must be given"),
        ("along=x", "along: must be 'm1', 'n11', 'n12', 'n13' or 'n14'"),
        ("along=m1&steps=1", "steps: must be at least 2"),
        ("along=m1&steps=100000", "steps: must be at most 1001"),
        ("along=m1&at.n11=nan", "at.n11: must be a finite number"),
        ("along=m1&low=-inf", "low: must be a finite number"),
        ("along=m1&n11=0.5", "n11: unknown; leave it out"),
        ("along=m1&along=n11", "'along' is given 2 times, and only one would count; give it once"),
    ],
)
def test_a_line_that_is_none_is_refused(client: TestClient, query: str, message: str) -> None:
    response = client.get(f"/api/scan?{query}")
    assert response.status_code == 422
    assert response.json() == {"detail": message}


def test_the_surrogate_is_described_with_its_verdict(
    client: TestClient, surrogate: Surrogate
) -> None:
    found = client.get("/api/surrogate").json()
    assert [(i["name"], i["unit"], i["typical"]) for i in found["inputs"]] == [
        (name, surrogate.units[name], surrogate.typical[name]) for name in surrogate.inputs
    ]
    assert [(i["low"], i["high"]) for i in found["inputs"]] == [*surrogate.limits.values()]
    assert found["mixings"] == [["n11", "n12", "n13", "n14"]]
    assert found["converged"] is True
    assert found["failed"] == {"convergence": [], "calibration": ["coverage_95"]}
    assert found["bibtex"] == surrogate.facts["bibtex"]
    assert found["draws"] == surrogate.draws
    assert found["run"] == ""
    assert found["origin"]["process"] == "unknown"


def test_the_surrogate_is_described_with_what_it_is_of(exported: SurrogateContent) -> None:
    stated = {"process": "p p -> chi0_1 chi0_1", "sqrt_s_tev": "13.0", "seed": "4"}
    facts = {"place": "results/surrogates/small/s1.nc", "table_metadata": stated}
    app = application(Surrogate(exported._replace(facts=exported.facts | facts)), {}, ["a"])
    with TestClient(app, base_url="http://a") as client:
        found = client.get("/api/surrogate").json()
    assert found["run"] == "small/s1"
    assert found["of"].startswith("p p -> chi0_1 chi0_1 at 13 TeV; unknown: ")
    assert found["origin"].items() >= {**stated, "parton_distributions": "unknown"}.items()


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/openapi.json", "/api/surrogate", "/nothing", "/api/predict"]
)
def test_every_response_has_the_security_headers(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("testserver", 200),
        ("testserver:8000", 200),
        ("TestServer", 200),
        ("[::1]:8000", 200),
        ("evil.example", 400),
        ("testserver.evil.example", 400),
        ("evil.example:8000", 400),
        ("127.0.0.1", 400),
        ("", 400),
    ],
)
def test_only_names_of_this_machine_are_answered(
    client: TestClient, host: str, status: int
) -> None:
    response = client.get("/healthz", headers={"host": host})
    assert response.status_code == status
    assert "x-content-type-options" in response.headers


@pytest.fixture(scope="module")
def accepting(exported: SurrogateContent) -> Surrogate:
    """Held-out rows whose stated errors rise to 200 %, without large actual errors."""
    stated = np.linspace(0.001, 2.0, 300, dtype=np.float32)
    return Surrogate(exported._replace(held_out={"stated": stated, "error": 0 * stated}))


def scan_of(dataset: Dataset) -> list[list[float]]:
    rows: list[list[float]] = dataset.inputs[:12].tolist()
    return [*rows, [5e4, 0.0, 0.0, 1.0, 0.0], [*map(float, NO_POINT)]]


def test_points_are_accepted_as_by_the_surrogate(accepting: Surrogate, dataset: Dataset) -> None:
    points = scan_of(dataset)
    with TestClient(application(accepting, PAGE, ["testserver"])) as client:
        plain = predict(client, points=points)
        found = predict(client, points=points, max_error=0.7)
        for wrong in (0, 1, -0.1, "1%", 7):
            body = {"points": points, "max_error": wrong}
            assert client.post("/api/predict", json=body).status_code == 422
    assert found["accepted"] == accepting.accepted(points, 0.7).tolist()
    assert 0 < sum(found["accepted"]) < 12
    assert found["threshold"] == accepting.threshold(0.7).value
    assert "at most 5 % of them are wrong by more than 70 %" in found["guarantee"]
    assert found["source"] is None
    asked = {"accepted", "threshold", "guarantee"}
    assert {n: v for n, v in found.items() if n not in asked} == {
        n: v for n, v in plain.items() if n not in asked
    }
    assert [plain[name] for name in asked] == [None] * 3


def test_without_a_threshold_no_point_is_accepted_and_the_reason_is_given(
    client: TestClient,
) -> None:
    found = predict(client, points=POINTS, max_error=0.01)
    assert (found["accepted"], found["threshold"]) == ([False, False], None)
    assert "stores no errors of held-out rows" in found["guarantee"]


def test_the_program_of_the_operator_computes_others(
    accepting: Surrogate, dataset: Dataset, tmp_path: Path
) -> None:
    """Its result is the mass, in fb; of a negative mass it is no cross section."""
    output = {"kind": "number", "column": "sigma", "unit": "fb", "above": 0}
    mine = Program(command=("echo", "{m1}"), version="1", output=output)  # type: ignore[arg-type]
    points = scan_of(dataset)
    otherwise = Otherwise(mine, tmp_path / "points", "pb")
    with TestClient(application(accepting, PAGE, ["testserver"], otherwise)) as client:
        alone = predict(client, points=points)
        found = predict(client, points=points, max_error=0.7)
        assert found == predict(client, points=points, max_error=0.7)
        assert predict(client, points=points, max_error=0.7, scale="model")["source"] is None
    assert alone["source"] is None
    sources = ["surrogate" if accepted else "program" for accepted in found["accepted"]]
    assert found["source"] == sources
    for row, source in enumerate(sources):
        known, mass = found["median"][row], points[row][0]
        if source == "surrogate":
            assert known == alone["median"][row]
        elif mass > 0:
            assert known == found["mean"][row] == pytest.approx(mass / 1000)
        else:
            assert known is None
            assert "not above 0" in found["reasons"][row]
        is_null = [found[name][row] is None for name in ("posterior_sd", "total_sd")]
        assert is_null == [source == "program"] * 2
        assert [q[row] is None for q in found["quantiles"]] == [source == "program"] * 2


def test_one_request_has_the_program_compute_a_limited_number(
    accepting: Surrogate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting_module, "MOST_COMPUTED", 2)
    output = {"kind": "number", "column": "sigma", "unit": "pb"}
    mine = Program(command=("echo", "{m1}"), version="1", output=output)  # type: ignore[arg-type]
    otherwise = Otherwise(mine, tmp_path / "points", "pb")
    points = [[5e4 + number, 0, 0, 1, 0] for number in range(4)]
    with TestClient(application(accepting, PAGE, ["testserver"], otherwise)) as client:
        found = predict(client, points=points, max_error=0.7)
    assert found["source"] == ["program"] * 2 + ["surrogate"] * 2
    assert found["accepted"] == [False] * 4
