"""Preset library: YAML files of named presets, which a study overrides key by key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.files import parse_yaml, read_yaml
from nlobayes.untyped import Document, Facts

PRESETS = Path("config/presets")
"""Library of the current project."""
PACKAGE = Path(__file__).parents[1]
SHIPPED = (PACKAGE / "presets", PACKAGE.parents[1] / PRESETS)
"""Places of the library that comes with the package: in a wheel, in a checkout."""


def shipped_presets() -> Document:
    """Read the library that comes with the package; errors as below."""
    return read_presets(next(filter(Path.is_dir, SHIPPED), SHIPPED[-1]))


def presets_here() -> Document:
    """Read the library of the current project, or the shipped one if there is none."""
    return read_presets(PRESETS) if PRESETS.is_dir() else shipped_presets()


def read_presets(folder: Path) -> Document:
    """Read and merge every YAML file of a folder, in the order of their names.

    Raises InputError if the folder holds no presets or a file is not YAML.
    """
    merged: Document = {}
    for path in sorted(folder.glob("*.yaml")):
        merged = override(merged, read_yaml(path))
    if not merged:
        raise InputError("study.no_presets", where=folder)
    return merged


def preset_of(section: str, name_or_yaml: str) -> Document:
    """Return one preset, by its name in the library or from YAML text.

    Raises InputError if there is no preset of this name.
    """
    if name_or_yaml.lstrip().startswith("{"):
        return parse_yaml(name_or_yaml, "YAML text of a preset")
    known = read_presets(PRESETS).get(section, {})
    if name_or_yaml not in known:
        raise InputError(
            "study.unknown_preset", where=section, name=name_or_yaml, known=sorted(known)
        )
    return dict(known[name_or_yaml])


def override(base: Facts, changes: Facts) -> Document:
    """Override a nested mapping key by key; anything that is not a mapping is replaced."""
    result = dict(base)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(base.get(key), Mapping)
        result[key] = override(base[key], value) if both else value
    return result
