"""The preset library: YAML files of named presets, overridden key by key by a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlobayes.errors import InputError
from nlobayes.study.files import read_yaml


def read_presets(folder: Path) -> dict[str, Any]:
    """Read and merge every YAML file of a folder, in the order of their names.

    Raises
    ------
    InputError
        If the folder holds no presets or a file is not YAML.
    """
    merged: dict[str, Any] = {}
    for path in sorted(folder.glob("*.yaml")):
        merged = override(merged, read_yaml(path))
    if not merged:
        raise InputError(f"{folder}: no presets found; run from the root of the project")
    return merged


def override(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Override a nested mapping key by key; anything that is not a mapping is replaced."""
    result = dict(base)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(base.get(key), Mapping)
        result[key] = override(base[key], value) if both else value
    return result
