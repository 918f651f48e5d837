"""Likelihood kinds of the previous release, which studies and stored files may still name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from nlobayes.errors import InputError

OLD = {"tolerance": ("sigma", "scale"), "learned_noise": ("scale", "sigma")}
"""The allowed and the forbidden key of each old kind of `gaussian`."""


def with_new_kind(value: Any) -> Any:
    """Read `tolerance` and `learned_noise` as `gaussian`, with a warning."""
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or kind not in OLD:
        return value
    warnings.warn(
        f"likelihood kind {kind!r} is now 'gaussian', whose sigma is a number, or null to learn "
        "it; the next release refuses the old name",
        FutureWarning,
        stacklevel=2,
    )
    key, other = OLD[kind]
    if value.get(other) is not None or value.get(key, 0) is None:
        raise InputError("study.old_likelihood", kind=kind, key=key, other=other, given=dict(value))
    learned = {"sigma": None} if kind == "learned_noise" else {}
    return {**value, **learned, "kind": "gaussian"}
