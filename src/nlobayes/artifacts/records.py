"""Records: what made the tables, figures and scores that cannot say it themselves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nlobayes.artifacts.files import read_json, write_json
from nlobayes.artifacts.seals import digests
from nlobayes.errors import InputError

KEYS = ("verb", "code_digest", "spec", "inputs", "outputs", "digest")


def write_record(path: Path | None, record: Mapping[str, Any], outputs: Sequence[Path]) -> None:
    """Write what made some files, and their digests; nothing where no record is asked for."""
    if path is not None:
        content = {**record, "outputs": digests(outputs)}
        write_json(path, {**content, "digest": _digest(content)})


def read_record(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises
    ------
    InputError
        If it cannot be read, lacks a key, or is not what was written.
    """
    content = read_json(path, *KEYS)
    if content.pop("digest") != _digest(content):
        raise InputError(
            f"{path}: it is not what was written; restore it with `dvc checkout`, or delete it "
            "and run the workflow again"
        )
    return content


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
