"""Documentation of the configuration from its models: JSON schema for editors, README for people.

`python -m nlobayes.study.schema json` prints config/schema.json. `... markdown` prints the
reference of all keys at the end of config/README.md. A test compares both with the models.
"""

from __future__ import annotations

import json
import sys

from nlobayes.study.reference_page import reference
from nlobayes.study.study import Study

FORMS = ("json", "markdown")


def as_json() -> str:
    """Return the JSON schema of a study."""
    return json.dumps(Study.model_json_schema(), indent=2) + "\n"


def as_markdown() -> str:
    """Return every key with its default, limits and meaning, by the sections of a study."""
    return reference(Study.model_json_schema())


if __name__ == "__main__":
    form = sys.argv[1] if len(sys.argv) > 1 else ""
    if form not in FORMS:
        sys.exit(f"got {form!r}; give one of {FORMS}")
    sys.stdout.write(as_json() if form == "json" else as_markdown())
