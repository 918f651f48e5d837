"""Files generated from the models equal the committed ones."""

import json
import re
from pathlib import Path

from nlobayes.study.schema import as_json, as_markdown
from nlobayes.study.study import Study

CONFIG = Path(__file__).parents[3] / "config"


REMEDY = "run `make schema`"


def test_the_schema_is_the_generated_one() -> None:
    assert (CONFIG / "schema.json").read_text() == as_json(), REMEDY


def test_the_reference_is_the_generated_one() -> None:
    written = (CONFIG / "README.md").read_text()
    assert written[written.index("### Study") :] == as_markdown(), REMEDY


def test_sections_are_in_the_order_of_a_study_and_kernels_below_chains() -> None:
    sections = re.findall(r"^### `(.+)`$", as_markdown(), re.MULTILINE)
    assert sections == list(Study.model_fields)
    methods = as_markdown().split("### `methods`")[1].split("### `evaluation`")[0]
    assert (
        methods.index("**`mcmc`**")
        < methods.index("#### `methods.kernel`")
        < methods.index("**`hmc`**")
    )


def test_every_key_of_every_model_is_on_the_page_with_its_default_and_meaning() -> None:
    page = re.sub(r"\[(\w+)\]\(\.\./(docs/\1\.md)\)", r"\2", " ".join(as_markdown().split()))
    for name, model in Study.model_json_schema()["$defs"].items():
        assert " ".join(model["description"].split()) in page, name
        for key, field in model["properties"].items():
            default = field.get("default")
            shown = key if key in model.get("required", []) else f"{key}: {json.dumps(default)}"
            assert key == "kind" or isinstance(default, dict) or f"- `{shown}`" in page, (name, key)
            assert " ".join(field.get("description", "").split()) in page, (name, key)
