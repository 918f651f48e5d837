"""Documentation of the configuration from its models: JSON schema for editors, README for people.

`python -m nlobayes.study.schema json` prints config/schema.json. `... markdown` prints the
reference of all keys at the end of config/README.md. A test compares both with the models.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from nlobayes.study.study import Study
from nlobayes.untyped import Document

FORMS = ("json", "markdown")


def as_json() -> str:
    """Return the JSON schema of a study."""
    return json.dumps(Study.model_json_schema(), indent=2) + "\n"


def as_markdown() -> str:
    """Return tables of all keys, with type, default and meaning, by the sections of a study.

    A model stands in the first section that refers to it, after the model that does.
    """
    study = Study.model_json_schema()
    models, shown = study["$defs"], set[str]()
    pages = [_table("### Study", study)]
    for section, field in study["properties"].items():
        waiting, found = _models_in(field), list[str]()
        while waiting:
            name = waiting.pop(0)
            if name not in shown:
                shown.add(name)
                fields = models[name].get("properties", {})
                kind = fields.get("kind", {}).get("const")
                found.append(
                    _table(f"#### {name}" + f", `kind: {kind}`" * bool(kind), models[name])
                )
                waiting = [*_models_in(fields), *waiting]
        pages += [f"### Section `{section}`\n", *found] if found else []
    return "\n".join(pages)


def _models_in(schema: Any) -> list[str]:
    """List the models that a part of the schema refers to, in its order."""
    if isinstance(schema, list):
        return [name for each in schema for name in _models_in(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].split("/")[-1]] if "$ref" in schema else []
    return own + [name for value in schema.values() for name in _models_in(value)]


def _table(head: str, model: Document) -> str:
    summary = " ".join(model.get("description", "").split())
    rows = [
        f"| `{key}` | {_type(field)} | {_default(key, field, model)} | {_meaning(field)} |"
        for key, field in model.get("properties", {}).items()
    ]
    columns = "| key | type | default | meaning |\n|---|---|---|---|\n"
    return f"{head}\n\n{summary}\n\n{columns}" + "\n".join(rows) + "\n"


def _type(field: Document) -> str:
    if "$ref" in field:
        return field["$ref"].split("/")[-1]
    if "const" in field or "enum" in field:
        return " or ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    for union in ("anyOf", "oneOf"):
        if union in field:
            return " or ".join(_type(option) for option in field[union])
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}" if "items" in field else "list"
    if "additionalProperties" in field:
        return f"names to {_type(field['additionalProperties'])}"
    return _bounded(field)


def _bounded(field: Document) -> str:
    signs = {
        "minimum": ">=",
        "exclusiveMinimum": ">",
        "maximum": "<=",
        "exclusiveMaximum": "<",
    }
    bounds = [f"{sign} {field[key]}" for key, sign in signs.items() if key in field]
    return " ".join([str(field.get("type", "any")), ", ".join(bounds)]).strip()


def _default(key: str, field: Document, model: Document) -> str:
    if key in model.get("required", []):
        return "required"
    default = field.get("default")
    return "see model" if isinstance(default, dict) and default else f"`{json.dumps(default)}`"


def _meaning(field: Document) -> str:
    return " ".join(field.get("description", "").split()).replace("|", "\\|")


if __name__ == "__main__":
    form = sys.argv[1] if len(sys.argv) > 1 else ""
    if form not in FORMS:
        sys.exit(f"got {form!r}; give one of {FORMS}")
    sys.stdout.write(as_json() if form == "json" else as_markdown())
