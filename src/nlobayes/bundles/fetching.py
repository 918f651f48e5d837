"""Bundles by name: those in the package, and others that are downloaded into a cache.

The environment variable `NLOBAYES_CATALOG` names the catalog, a JSON object. For the name of each
bundle it has `url`, the address of the folder, and `sha256`, the digest of the index. The index has
the digests of all other files.
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

SHIPPED = Path(__file__).with_name("shipped")
"""Folder of the bundles in the package, each in a folder of its name."""
CATALOG_VARIABLE, CACHE_VARIABLE = "NLOBAYES_CATALOG", "NLOBAYES_CACHE"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
URL = re.compile(r"https?://\S+")


class Source(NamedTuple):
    """Address of a bundle, and the SHA-256 of its index."""

    url: str
    sha256: str


def names() -> tuple[str, ...]:
    """Return the names of all bundles: those in the package, then those of the catalog.

    Raises InputError if the catalog cannot be read, or is invalid.
    """
    shipped = sorted(index.parent.name for index in SHIPPED.glob(f"*/{INDEX}"))
    return tuple(dict.fromkeys([*shipped, *catalog()]))


def locate(name: str) -> Path:
    """Return the folder of a bundle: that in the package, or else that of `fetch`."""
    is_shipped = NAME.fullmatch(name) and (SHIPPED / name / INDEX).is_file()
    return SHIPPED / name if is_shipped else fetch(name)


def catalog() -> dict[str, Source]:
    """Return the bundles of the catalog by name; none without a catalog.

    Raises InputError if it cannot be read, or is invalid.
    """
    stated = os.environ.get(CATALOG_VARIABLE)
    if not stated:
        return {}
    path, sources = Path(stated), dict[str, Source]()
    for name, entry in read_json(path).items():
        fields = entry if isinstance(entry, dict) else {}
        url, sha256 = (str(fields.get(field, "")) for field in Source._fields)
        whole = NAME.fullmatch(name) and URL.fullmatch(url) and SHA256.fullmatch(sha256)
        if not whole or fields.keys() != {*Source._fields}:
            raise InputError("bundles.catalog", where=path, name=name)
        sources[name] = Source(url.rstrip("/"), sha256)
    return dict(sorted(sources.items()))


def fetch(name: str) -> Path:
    """Return the folder of a bundle in the cache, after downloading missing and damaged files.

    Raises InputError if the catalog lacks the bundle, a download fails, or a downloaded file has
    another digest.
    """
    known = catalog()
    if name not in known:
        raise InputError("bundles.unknown", name=name, known=names(), variable=CATALOG_VARIABLE)
    url, sha256 = known[name]
    cache = Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache/nlobayes")
    folder = cache / "bundles" / name / sha256[:16]
    _get(url, INDEX, sha256, folder)
    for entry in read_index(folder).entries:
        _get(url, entry.file, entry.sha256, folder)
    return folder


def _get(url: str, name: str, sha256: str, folder: Path) -> None:
    """Download a file unless the cache has it; an incomplete file never has its name."""
    if (folder / name).is_file() and digest(folder / name) == sha256:
        return
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise InputError("bundles.no_pooch", name=error.name, remedy=remedy("fetch")) from None
    address = f"{url}/{name}"
    try:
        downloader = pooch.HTTPDownloader(stream=False)  # else a refusal leaves a connection open
        pooch.retrieve(address, f"sha256:{sha256}", fname=name, path=folder, downloader=downloader)
    except (OSError, ValueError) as error:  # errors of requests are OSErrors
        raise InputError("bundles.not_fetched", url=address, reason=str(error)) from None
