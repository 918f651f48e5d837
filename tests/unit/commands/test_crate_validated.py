"""The validator of RO-Crate, of PyPI, accepts the crate, without a network."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from nlobayes.commands.audit.provenance import Format, provenance
from tests.documented import ROOT
from tests.installed import uv

pytestmark = pytest.mark.slow

CONTEXT = "https://w3id.org/ro/crate/1.3/context"
OF_1_1 = "ro-crate-1.1_5.3"
"""Check that requires version 1.1 of RO-Crate; the crate has 1.3, which these profiles predate."""
TERM_OF_1_1 = "workflow-ro-crate-1.0_2.1"
"""Check that requires types of the main entity by the address of 1.1, which differs in 1.3."""
SKIPPED = {
    "ro-crate-1.3": "",
    "workflow-ro-crate-1.0": f"{OF_1_1},{TERM_OF_1_1}",
    "process-run-crate-0.5": OF_1_1,
}
FILL = """
import sys
from io import BytesIO
from pathlib import Path
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

class Known(HTTPAdapter):
    def send(self, request, **_):
        kind = {"Content-Type": "application/ld+json"}
        body = BytesIO(Path(sys.argv[2]).read_bytes())
        answer = dict(preload_content=False, request_url=request.url)
        return self.build_response(request, HTTPResponse(body, kind, 200, **answer))

session = CachedSession(sys.argv[3], backend="sqlite", expire_after=-1)
session.mount("https://", Known())
session.get(sys.argv[1])
"""
"""Put the context of JSON-LD into the cache of the validator."""


@pytest.fixture
def crate(here: Path) -> Path:
    """A project with its results and its workflow, described as a crate."""
    shutil.copytree(ROOT / "workflow", here / "workflow")
    provenance(here, Path("results"), format=Format.RO_CRATE, published="2026-01-31")
    return here


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The context of RO-Crate 1.3, of the package `rocrate`, as if it had been fetched."""
    context = files("rocrate") / "data/ro-crate.jsonld"
    assert json.loads(context.read_text("utf-8"))["@id"] == CONTEXT
    words = ["python", "-c", FILL, CONTEXT, str(context), str(tmp_path / "cache")]
    done = subprocess.run([*validator(), *words], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"roc-validator cannot be installed: {done.stderr[-500:]}")
    return tmp_path / "cache"


def validator() -> list[str]:
    return [uv(), "tool", "run", "--quiet", "--from", "roc-validator==0.13.0"]


def validated(crate: Path, cache: Path, report: Path, profile: str) -> dict[str, Any]:
    words = ["validate", "--profile-identifier", profile, "--offline", "--cache-path", str(cache)]
    words += ["--output-format", "json", "--output-file", str(report), "--no-paging"]
    words += ["--skip-checks", SKIPPED[profile]] if SKIPPED[profile] else []
    done = subprocess.run(
        [*validator(), "rocrate-validator", "--no-interactive", *words, str(crate)],
        capture_output=True,
        text=True,
    )
    assert report.is_file(), done.stdout + done.stderr
    content: dict[str, Any] = json.loads(report.read_text())
    return content


def test_the_validator_finds_no_fault(crate: Path, cache: Path, tmp_path: Path) -> None:
    """By all requirements of each profile, except the checks for version 1.1."""
    for profile in SKIPPED:
        found = validated(crate, cache, tmp_path / f"{profile}.json", profile)
        assert found["issues"] == [], profile
        assert found["passed"], profile
        assert found["statistics"]["total_passed_checks"] > 30
