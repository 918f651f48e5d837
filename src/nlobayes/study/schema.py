"""Documentation of the configuration from its models: JSON schema for editors, README for people.

`python -m nlobayes.study.schema json` prints config/schema.json. `... markdown` prints the
reference of all keys at the end of config/README.md. A test compares both with the models.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from nlobayes.study.grid import Study

FORMS = ("json", "markdown")


def as_json() -> str:
    """Return the JSON schema of a study."""
    return json.dumps(Study.model_json_schema(), indent=2) + "\n"


def as_markdown() -> str:
    """Return a table of the keys of every model, with type, default and meaning."""
    schema = Study.model_json_schema()
    models = {"Study": schema, **schema["$defs"]}
    return "\n".join(_section(name, model) for name, model in models.items())


def _section(name: str, model: dict[str, Any]) -> str:
    summary = " ".join(model.get("description", "").split())
    rows = [
        f"| `{key}` | {_type(field)} | {_default(key, field, model)} | {_meaning(field)} |"
        for key, field in model.get("properties", {}).items()
    ]
    head = f"### {name}\n\n{summary}\n\n| key | type | default | meaning |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _type(field: dict[str, Any]) -> str:
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


def _bounded(field: dict[str, Any]) -> str:
    signs = {
        "minimum": ">=",
        "exclusiveMinimum": ">",
        "maximum": "<=",
        "exclusiveMaximum": "<",
    }
    bounds = [f"{sign} {field[key]}" for key, sign in signs.items() if key in field]
    return " ".join([str(field.get("type", "any")), ", ".join(bounds)]).strip()


def _default(key: str, field: dict[str, Any], model: dict[str, Any]) -> str:
    if key in model.get("required", []):
        return "required"
    default = field.get("default")
    return "see model" if isinstance(default, dict) and default else f"`{json.dumps(default)}`"


def _meaning(field: dict[str, Any]) -> str:
    return " ".join(field.get("description", "").split()).replace("|", "\\|")


if __name__ == "__main__":
    form = sys.argv[1] if len(sys.argv) > 1 else ""
    if form not in FORMS:
        sys.exit(f"got {form!r}; give one of {FORMS}")
    sys.stdout.write(as_json() if form == "json" else as_markdown())
