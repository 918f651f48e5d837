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
SKIPPED = {
    "ro-crate-1.3": "",
    "workflow-ro-crate-1.0": OF_1_1,
    "process-run-crate-0.5": OF_1_1,
    "workflow-run-crate-0.5": OF_1_1,
    "provenance-run-crate-0.5": OF_1_1,
}
RENAMED = ("https://bioschemas.org/terms/", "https://bioschemas.org/")
"""Address of the type of workflows, in 1.3 and in 1.1. Without the old one, the checks of the
profiles that predate 1.3 would find no workflow."""
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
def caches(tmp_path: Path) -> dict[bool, Path]:
    """The context of RO-Crate 1.3, of the package `rocrate`, as if it had been fetched.

    By whether the profile is of 1.3; for the others the type of workflows has its old address.
    """
    context = (files("rocrate") / "data/ro-crate.jsonld").read_text("utf-8")
    assert json.loads(context)["@id"] == CONTEXT
    found = {}
    for of_1_3, content in {True: context, False: context.replace(*RENAMED)}.items():
        source = tmp_path / f"{of_1_3}.jsonld"
        source.write_text(content, "utf-8")
        found[of_1_3] = tmp_path / f"cache_{of_1_3}"
        words = ["python", "-c", FILL, CONTEXT, str(source), str(found[of_1_3])]
        done = subprocess.run([*validator(), *words], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"roc-validator cannot be installed: {done.stderr[-500:]}")
    return found


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


def test_the_validator_finds_no_fault(
    crate: Path, caches: dict[bool, Path], tmp_path: Path
) -> None:
    """By all requirements of each profile, except the check for version 1.1."""
    for profile in SKIPPED:
        cache = caches[profile == "ro-crate-1.3"]
        found = validated(crate, cache, tmp_path / f"{profile}.json", profile)
        assert found["issues"] == [], profile
        assert found["passed"], profile
        assert found["statistics"]["total_passed_checks"] > 30


def test_the_validator_finds_a_call_without_its_job(
    crate: Path, caches: dict[bool, Path], tmp_path: Path
) -> None:
    """The checks of runs find the steps: an old profile knows types by other addresses."""
    path = crate / "ro-crate-metadata.json"
    content = json.loads(path.read_text())
    (step, *_) = (each for each in content["@graph"] if each["@type"] == "HowToStep")
    del step["workExample"]
    path.write_text(json.dumps(content))
    found = validated(crate, caches[False], tmp_path / "report.json", "provenance-run-crate-0.5")
    assert "workExample" in json.dumps(found["issues"])
