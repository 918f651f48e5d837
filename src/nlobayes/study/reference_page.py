"""The reference of all keys of a study, as Markdown: the end of config/README.md.

Sections are in the order of a study. A model is below the first key that has it as a value. Keys
that several kinds of a family share are stated once.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from textwrap import fill
from typing import Any

from nlobayes.untyped import Document

SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
USUAL = {"integer": ["≥1"], "number": [">0"]}
"""Limits that are not shown."""
WIDTH = 120


def reference(study: Document) -> str:
    """Return every key of the JSON schema of a study, with its default, limits and meaning."""
    page = _Page(study["$defs"])
    blocks = ["### Study", _meaning(study)]
    for key, field in study["properties"].items():
        names = models_in(field)
        line = page.line(key, field, study.get("required", []))
        blocks.append(f"### `{key}`")
        blocks += [_meaning(field)] if len(names) > 1 else [] if names else [line]
        blocks += page.family(key, names) if names else []
    return "\n\n".join(blocks) + "\n"


class _Page:
    """Models of a schema, and which of them are on the page already."""

    def __init__(self, models: Document) -> None:
        self.models, self.shown = models, set[str]()
        self.places: dict[str, str] = {}
        """Where a line is on the page already."""

    def family(self, path: str, names: list[str]) -> Iterator[str]:
        """Yield the models of one key, first the keys that they share, then those below them."""
        names = [name for name in names if name not in self.shown]
        self.shown.update(names)
        lines = {name: self._lines(name) for name in names}
        kinds = Counter(line for each in lines.values() for line in each)
        shared = [line for line, count in kinds.items() if count > 1]
        every = [line for line in shared if kinds[line] == len(names)]
        some = [line for line in shared if line not in every]
        yield from _list("Every kind:", every)
        yield from _list("Several kinds, which name them below:", some)
        for name in names:
            there = {line: self.places[line] for line in lines[name] if line in self.places}
            also = {lines[name][line]: "" for line in some if line in lines[name]}
            also |= {lines[name][line]: place for line, place in there.items() if line not in some}
            own = [line for line in lines[name] if line not in shared and line not in there]
            yield self._head(name, also)
            if own:
                yield "\n".join(own)
        for each in lines.values():
            self.places |= {line: self.places.get(line, path) for line in each}
        for key, below in self._below(names).items():
            place = f"{path}.{key}"
            yield f"#### `{place}`"
            yield from self.family(place, below)

    def line(self, key: str, field: Document, required: list[str]) -> str:
        """Return a key, its default or that it is required, its limits, and its meaning."""
        default = "" if key in required else f": {self._default(field)}"
        limits = ["required"] if key in required else []
        limits += [self._type(field, "default" in field and field["default"] is not None)]
        said = "; ".join(filter(None, limits))
        return _wrapped(f"- `{key}{default}`" + (f" ({said})" if said else ""), _meaning(field))

    def _lines(self, name: str) -> dict[str, str]:
        required = self.models[name].get("required", [])
        fields = {key: field for key, field in self._fields(name).items() if key != "kind"}
        return {self.line(key, field, required): key for key, field in fields.items()}

    def _head(self, name: str, also: dict[str, str]) -> str:
        """Return the kind and the meaning of a model, and keys that are stated elsewhere."""
        kind = self._fields(name).get("kind", {}).get("const")
        said = [
            ", ".join(f"`{key}`" for key, there in also.items() if there == place)
            + (f" as in `{place}`" if place else "")
            for place in dict.fromkeys(also.values())
        ]
        also_said = f" Also {'; '.join(said)}." if said else ""
        text = _meaning(self.models[name]) + also_said
        return _wrapped(f"**`{kind}`**" if kind else "", text)

    def _below(self, names: list[str]) -> dict[str, list[str]]:
        """Return models that keys of these models refer to, by the keys that have the same ones."""
        keys: dict[tuple[str, ...], list[str]] = {}
        for name in names:
            for key, field in self.models[name]["properties"].items():
                below = tuple(each for each in models_in(field) if each not in self.shown)
                if below and key not in keys.setdefault(below, []):
                    keys[below].append(key)
        return {"`, `".join(each): list(below) for below, each in keys.items()}

    def _default(self, field: Document) -> str:
        default, names = field.get("default"), models_in(field)
        if not (isinstance(default, dict) and default and names):
            return json.dumps(default)
        kinds = {self._fields(name).get("kind", {}).get("const"): name for name in names}
        usual = self._fields(kinds[default.get("kind")])
        changed = {
            key: value
            for key, value in default.items()
            if key == "kind" or value != usual[key].get("default", value)
        }
        return json.dumps(changed) if changed else "defaults"

    def _fields(self, name: str) -> Document:
        return self.models[name]["properties"]

    def _type(self, field: Document, plain: bool) -> str:
        """Return what a value may be; of a plain number or text with a default only its limits."""
        if models_in(field):
            return ""
        if "enum" in field:
            return ", ".join(f"`{value}`" for value in field["enum"])
        if "const" in field:
            return f"`{field['const']}`"
        for union in ("anyOf", "oneOf"):
            options = [each for each in field.get(union, []) if each.get("type") != "null"]
            if options:
                null = ["`null`"] * ("default" not in field and len(options) < len(field[union]))
                kinds = [self._type(each, plain) for each in options]
                return " or ".join(filter(None, [*kinds, *null]))
        if "prefixItems" in field:
            return "" if plain else f"list of {len(field['prefixItems'])}"
        if field.get("type") == "array":
            inner = self._type(field["items"], plain)
            return inner if plain else f"list of {inner}".removesuffix(" of ")
        if "additionalProperties" in field:
            return "" if plain else "values by name"
        limits = [f"{sign}{field[key]}" for key, sign in SIGNS.items() if key in field]
        kind = "" if plain or field["type"] == "string" else field["type"]
        usual = USUAL.get(field["type"])
        if limits == usual:
            return kind
        return (f"any {kind}" if usual and not limits else f"{kind} {', '.join(limits)}").strip()


def models_in(schema: Any) -> list[str]:
    """List the models that a part of a schema refers to, each once, in its order."""
    if isinstance(schema, list):
        return list(dict.fromkeys(name for each in schema for name in models_in(each)))
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].split("/")[-1]] if "$ref" in schema else []
    return list(dict.fromkeys([*own, *models_in(list(schema.values()))]))


def _list(head: str, lines: list[str]) -> list[str]:
    return [head, "\n".join(lines)] if lines else []


def _wrapped(head: str, text: str) -> str:
    line = ": ".join(filter(None, [head, text]))
    indent = "  " * line.startswith("- ")
    return fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _meaning(field: Document) -> str:
    text = " ".join(field.get("description", "").split())
    return re.sub(r"\(docs/(\w+)\.md\)", r"([\1](../docs/\1.md))", text)
