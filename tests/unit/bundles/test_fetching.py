"""Bundles are downloaded by name from a local server, and must match the catalog."""

import json
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree
from threading import Thread
from typing import Any

import pytest

from nlobayes import Bundle
from nlobayes.artifacts.seals import digest
from nlobayes.bundles.fetching import CACHE_VARIABLE, CATALOG_VARIABLE
from tests.refusals import refused

FILE = "13000GeV_1000022_1000023.nc"


class Quiet(SimpleHTTPRequestHandler):
    """Handler that stores the paths of requests, and prints nothing."""

    requested: list[str] = []

    def log_message(self, *_: Any) -> None:
        self.requested.append(self.path)


@pytest.fixture
def served(folder: Path, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that a server provides, and its address."""
    copy = Path(copytree(folder, tmp_path / "served"))
    Quiet.requested = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=copy)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield copy, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def cataloged(served: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The catalog that names the served folder `small`."""
    copy, url = served
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps({"small": {"url": url, "sha256": digest(copy / "bundle.json")}}))
    monkeypatch.setenv(CATALOG_VARIABLE, str(path))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return path


def test_a_bundle_is_fetched_once(
    cataloged: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Bundle.list() == ("lhc", "small")
    assert repr(Bundle.load("small")) == repr(Bundle.load(folder))
    assert len(Quiet.requested) == 4
    monkeypatch.setitem(sys.modules, "pooch", None)  # a cached bundle does not need it
    assert repr(Bundle.load("small")) == repr(Bundle.load(folder))
    assert len(Quiet.requested) == 4


def test_a_damaged_file_of_the_cache_is_fetched_again(cataloged: Path, tmp_path: Path) -> None:
    Bundle.load("small")
    (cached,) = (tmp_path / "cache").rglob(FILE)
    cached.write_bytes(b"damaged")
    Bundle.load("small")
    assert Quiet.requested[4:] == [f"/{FILE}"]


@pytest.mark.parametrize("name", ["bundle.json", FILE])
def test_a_file_with_another_digest_is_refused(
    cataloged: Path, served: tuple[Path, str], tmp_path: Path, name: str
) -> None:
    copy, url = served
    with (copy / name).open("ab") as file:
        file.write(b" ")
    with refused("bundles.not_fetched", url=f"{url}/{name}"):
        Bundle.load("small")
    assert not [*(tmp_path / "cache").rglob(name)]


def test_a_server_that_does_not_answer_is_an_error(cataloged: Path) -> None:
    content = json.loads(cataloged.read_text())
    content["small"]["url"] = "http://127.0.0.1:9"
    cataloged.write_text(json.dumps(content))
    with refused("bundles.not_fetched", url="http://127.0.0.1:9/bundle.json"):
        Bundle.load("small")


def test_without_pooch_the_extra_is_named(cataloged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with refused("bundles.no_pooch", name="pooch") as caught:
        Bundle.load("small")
    assert "pip install 'nlobayes[fetch]'" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("../up", {"url": "http://a", "sha256": "0" * 64}),
        ("a", {"url": "file:///etc", "sha256": "0" * 64}),
        ("a", {"url": "http://a", "sha256": "0"}),
        ("a", {"url": "http://a"}),
        ("a", {"url": "http://a", "sha256": "0" * 64, "more": 1}),
        ("a", "http://a"),
    ],
)
def test_a_catalog_of_anybody_is_checked(cataloged: Path, name: str, given: object) -> None:
    cataloged.write_text(json.dumps({name: given}))
    with refused("bundles.catalog", where=cataloged, name=name):
        Bundle.list()


def test_a_bundle_in_the_package_needs_no_network(
    cataloged: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes before one of the same name in a catalog."""
    shipped = tmp_path / "shipped"
    copytree(folder, shipped / "small")
    copytree(folder, shipped / "another")
    (shipped / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nlobayes.bundles.fetching.SHIPPED", shipped)
    assert Bundle.list() == ("another", "small")
    assert repr(Bundle.load("small")) == repr(Bundle.load("another")) == repr(Bundle.load(folder))
    assert Bundle.is_known("another")
    assert Quiet.requested == []
    with refused("bundles.unknown", name="empty", known=("another", "small")):
        Bundle.load("empty")
    with refused("bundles.unknown", name="../small"):
        Bundle.load("../small")
