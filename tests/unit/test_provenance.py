"""A record says what made an artifact, and neither when nor where."""

import hashlib
import json
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nlobayes import provenance
from nlobayes.code_digest import code_digest

LOCK = Path(__file__).parents[2] / "uv.lock"


def test_a_record_says_what_was_made_by_what() -> None:
    spec = {"draws": 8}
    inputs = {"results/posterior/a.nc": "ab12"}
    record = provenance.record("thin", spec, inputs, exact=True)
    assert {**record, "versions": None} == {
        "verb": "thin",
        "code_digest": code_digest("thin", spec),
        "lock_digest": hashlib.sha256(LOCK.read_bytes()).hexdigest(),
        "spec": spec,
        "inputs": inputs,
        "versions": None,
        "exact": True,
    }
    assert [*record["versions"]] == ["python", *provenance.PACKAGES]


def test_a_record_knows_no_date_no_host_and_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    record = provenance.record("draw", {}, {}, device="cpu")
    text = json.dumps(record)
    now = datetime.now(UTC)
    for secret in (f"{now:%Y-%m-%d}", f"{now:%Y%m%d}", str(Path.cwd()), str(provenance.PACKAGE)):
        assert secret not in text
    assert socket.gethostname() not in text.replace("draw", "")
    monkeypatch.setenv("HOSTNAME", "elsewhere")
    monkeypatch.setenv("USER", "somebody")
    assert provenance.record("draw", {}, {}, device="cpu") == record
