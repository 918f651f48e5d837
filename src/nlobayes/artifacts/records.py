"""Records: the origin of tables, figures and scores, whose formats cannot store it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nlobayes.artifacts.files import as_json, read_json, write_json
from nlobayes.artifacts.places import remedy, stated_place
from nlobayes.artifacts.seals import digests
from nlobayes.errors import InputError
from nlobayes.untyped import Document, Facts

KEYS = ("verb", "code_digest", "spec", "inputs", "outputs", "digest")


def write_record(path: Path | None, record: Facts, outputs: Sequence[Path]) -> None:
    """Write the origin and digests of files to a record; do nothing if `path` is None.

    A record below `results/` also contains its place.
    """
    if path is not None:
        content = {**stated_place(path), **record, "outputs": digests(outputs)}
        write_json(path, {**content, "digest": _digest(content)})


def read_record(path: Path) -> Document:
    """Read a record.

    Raises InputError if the file cannot be read, lacks a key, or has changed since it was written.
    """
    content = read_json(path, *KEYS)
    as_written = as_json(content) == path.read_text("utf-8")
    if content.pop("digest") != _digest(content) or not as_written:
        raise InputError("artifacts.changed_record", where=path, remedy=remedy(path))
    for key in ("inputs", "outputs"):
        if not _are_digests(content[key]):
            raise InputError("artifacts.no_digests", where=path, key=key, remedy=remedy(path))
    return content


def _are_digests(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _digest(content: Facts) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
