"""The origin of an artifact: the code of its command, the versions of packages, the precision."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from nlobayes.code_digest import code_digest
from nlobayes.untyped import Document

PACKAGE = Path(__file__).parent
PACKAGES = (
    *("nlobayes", "numpy", "scipy", "pymc", "pytensor", "jax", "blackjax", "optax", "arviz"),
    *("xarray", "netCDF4", "pyarrow"),
)


def record(verb: str, spec: Any, inputs: Mapping[str, str], **facts: Any) -> Document:
    """Describe the origin of an artifact, as a function of its inputs, without dates or hosts.

    `inputs` holds the SHA-256 of each file that was read, by its path.
    """
    return {
        "verb": verb,
        "code_digest": code_digest(verb, spec or {}),
        "lock_digest": lock_digest(),
        "spec": spec,
        "inputs": dict(inputs),
        "versions": versions(),
        **facts,
    }


@cache
def lock_digest() -> str | None:
    """Return the SHA-256 of the lock file beside the source; None for an installed package."""
    lock = PACKAGE.parents[1] / "uv.lock"
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on."""
    return {"python": platform.python_version()} | {n: metadata.version(n) for n in PACKAGES}
