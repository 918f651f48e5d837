"""Reading of user-written files within limits, without text that readers parse differently."""

from __future__ import annotations

import json
import math
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from nlobayes.errors import InputError
from nlobayes.untyped import Document

MOST_BYTES = 2**20
"""Largest file."""
MOST_VALUES = 100_000
"""Most values of a YAML file, counted again for every alias."""
MOST_LEVELS = 50
"""Deepest nesting of a YAML file."""
MOST_CHARACTERS = 1000
"""Longest name, number or text in a YAML file."""
DECIMAL = re.compile(r"[+-]?(0|[1-9][0-9]*|(?=\.[0-9]))(\.[0-9]*)?([eE][+-]?[0-9]+)?", re.ASCII)
"""Number that all readers parse in the same way."""
TEMPLATE = "__use_yte__"
"""Key that makes Snakemake execute a file as a template with Python code."""

READ_ERRORS = (OSError, UnicodeDecodeError)
YAML_ERRORS = (*READ_ERRORS, yaml.YAMLError, RecursionError, ValueError)


def read_text(path: Path) -> str:
    """Read a text file.

    Raises OSError or UnicodeDecodeError if it is not a regular file of at most `MOST_BYTES`, or not
    in UTF-8.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("not a regular file")
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(f"larger than {MOST_BYTES} bytes")
    return content.decode("utf-8")


def read_yaml(path: Path) -> Document:
    """Read a mapping from YAML without tags, repeated keys or more than the limits.

    Raises InputError if the file has any other content; the message names the line.
    """
    try:
        text = read_text(path)
    except YAML_ERRORS as error:
        raise _unreadable(str(path), error) from None
    content = parse_yaml(text, str(path))
    if not isinstance(content, dict):
        raise InputError("study.no_mapping", where=path)
    return content


def parse_yaml(text: str, where: str) -> Any:
    """Parse YAML within the same limits; errors as above."""
    try:
        return _load(text, Path(where).name)
    except YAML_ERRORS as error:
        raise _unreadable(where, error) from None


def _unreadable(where: str, error: Exception) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError("study.absent", where=where, folder=Path.cwd())
    faults = [error.code] if isinstance(error, InputError) else []
    reason = " ".join(str(error).split())
    return InputError("study.not_yaml", where=where, reason=reason, faults=faults)


def read_study(path: Path) -> Document:
    """Read the YAML of a study, which must not be a template that Snakemake would run.

    Raises InputError if the file is not plain YAML within the limits.
    """
    content = read_yaml(path)
    if TEMPLATE in content:
        raise InputError("study.template", where=path, key=TEMPLATE)
    return content


def check_json_keys(text: str, where: str) -> None:
    """Refuse JSON with a repeated key or a number that JSON does not define.

    Raises InputError if an object has a repeated key, or a value is NaN or Infinity.
    """

    def take(pairs: list[tuple[str, Any]]) -> None:
        for name, times in Counter(name for name, _ in pairs).most_common(1):
            if times > 1:
                raise InputError("study.json_key_twice", where=where, key=name)

    def refuse(name: str) -> None:
        raise InputError("study.no_json_number", where=where, given=name)

    json.loads(text, object_pairs_hook=take, parse_constant=refuse)


class _Loader(yaml.SafeLoader):
    """Loader of plain YAML: no tags, no repeated keys, bounded aliases."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name
        self.extents: dict[int, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node, and check its size; an alias counts all values of its node."""
        event: yaml.Event = self.peek_event()
        if getattr(event, "tag", None) is not None:
            raise InputError("study.yaml_tag", place=_place(event))
        if len(getattr(event, "value", "")) > MOST_CHARACTERS:
            raise InputError("study.yaml_long", most=MOST_CHARACTERS, place=_place(event))
        node = super().compose_node(parent, index)
        if isinstance(event, yaml.AliasEvent) and id(node) not in self.extents:
            raise InputError("study.yaml_alias", place=_place(event))
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
        if isinstance(node, yaml.ScalarNode):
            _check_plain(node)
        values, levels = self.extents.setdefault(id(node), self._measure(node))
        if max(values, len(self.extents)) > MOST_VALUES or levels > MOST_LEVELS:
            raise InputError(
                "study.yaml_large", values=MOST_VALUES, levels=MOST_LEVELS, place=_place(event)
            )
        return node

    def _measure(self, node: yaml.Node | None) -> tuple[int, int]:
        children = node.value if isinstance(node, yaml.CollectionNode) else []
        if isinstance(node, yaml.MappingNode):
            children = [child for pair in node.value for child in pair]
        extents = [self.extents[id(child)] for child in children]
        values, levels = zip(*extents, strict=True) if extents else ((), (0,))
        return 1 + sum(values), 1 + max(levels)


def _load(text: str, name: str) -> Any:
    try:
        return _Loader(text, name).get_single_data()
    except RecursionError:
        raise InputError("study.yaml_deep", levels=MOST_LEVELS) from None


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[tuple[str, Any]] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
            raise InputError("study.yaml_key_twice", key=key.value, place=_place(key))
        seen.add((key.tag, str(key.value)))


def _check_plain(node: yaml.ScalarNode) -> None:
    """Refuse scalars that YAML readers parse differently: yes, 0454, 5:00, 3_00, 0x10."""
    kind, text = node.tag.rpartition(":")[2], node.value
    if kind == "bool" and text.lower() not in {"true", "false"}:
        raise InputError("study.yaml_truth", given=text, place=_place(node))
    is_number = kind in {"int", "float"} or (kind == "str" and _is_number_to_python(text))
    if is_number and not (DECIMAL.fullmatch(text) and math.isfinite(float(text))):
        raise InputError("study.yaml_number", given=text, place=_place(node))


def _is_number_to_python(text: str) -> bool:
    """Return whether Python parses a text as a number, in any script."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _place(part: Any) -> str:
    return str(part.start_mark).strip()
