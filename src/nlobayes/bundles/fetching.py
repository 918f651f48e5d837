"""Bundles by name: where they are, the cache that keeps them, and how they get there.

A catalog is a JSON object: by the name of a bundle its `url`, the address of its folder, and the
`sha256` of its index. The index has the digests of all else. Catalogs are that of the package and
the file that the environment variable `NLOBAYES_CATALOG` names; this counts first.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.seals import digest
from nlobayes.bundles.index import INDEX, SHA256, read_index
from nlobayes.errors import InputError
from nlobayes.extras import remedy

# OWNER: upload the folder of a bundle, and list its address and the SHA-256 of its index there.
CATALOG = Path(__file__).with_name("catalog.json")
CATALOG_VARIABLE, CACHE_VARIABLE = "NLOBAYES_CATALOG", "NLOBAYES_CACHE"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
URL = re.compile(r"https?://\S+")


class Source(NamedTuple):
    """Where a bundle is, and the SHA-256 of its index."""

    url: str
    sha256: str


def catalog() -> dict[str, Source]:
    """Give the bundles of all catalogs by name.

    Raises
    ------
    InputError
        If a catalog cannot be read, or is invalid.
    """
    own = os.environ.get(CATALOG_VARIABLE)
    found: dict[str, Source] = {}
    for path in (CATALOG, *([Path(own)] if own else [])):
        for name, given in read_json(path).items():
            found[name] = _source(name, given, path)
    return dict(sorted(found.items()))


def fetch(name: str) -> Path:
    """Give the folder of a bundle in the cache; what is not there, or damaged, is downloaded.

    Raises
    ------
    InputError
        If no catalog has it, it cannot be downloaded, or what comes is not what the catalog means.
    """
    known = catalog()
    if name not in known:
        raise InputError("bundles.unknown", name=name, known=[*known], variable=CATALOG_VARIABLE)
    source = known[name]
    folder = _cache() / name / source.sha256[:16]
    _get(source.url, INDEX, source.sha256, folder)
    for entry in read_index(folder).entries:
        _get(source.url, entry.file, entry.sha256, folder)
    return folder


def _cache() -> Path:
    return Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache/nlobayes") / "bundles"


def _source(name: str, given: object, path: Path) -> Source:
    fields = given if isinstance(given, dict) else {}
    url, sha256 = (str(fields.get(field, "")) for field in Source._fields)
    whole = NAME.fullmatch(name) and URL.fullmatch(url) and SHA256.fullmatch(sha256)
    if not whole or fields.keys() != {*Source._fields}:
        raise InputError("bundles.catalog", where=path, name=name)
    return Source(url.rstrip("/"), sha256)


def _get(url: str, name: str, sha256: str, folder: Path) -> None:
    """Download a file, unless it is there; under its name it is whole."""
    if (folder / name).is_file() and digest(folder / name) == sha256:
        return
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise InputError("bundles.no_pooch", name=error.name, remedy=remedy("fetch")) from None
    address = f"{url}/{name}"
    try:
        whole = pooch.HTTPDownloader(stream=False)  # else a refusal leaves its connection open
        pooch.retrieve(address, f"sha256:{sha256}", fname=name, path=folder, downloader=whole)
    except (OSError, ValueError) as error:  # those of requests are of OSError
        raise InputError("bundles.not_fetched", url=address, reason=str(error)) from None
