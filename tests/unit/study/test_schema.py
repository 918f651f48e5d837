"""Files generated from the models equal the committed ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nlobayes.study import kernels
from nlobayes.study.grid import Study
from nlobayes.study.schema import as_json, as_markdown

CONFIG = Path(__file__).parents[3] / "config"
KERNELS = " or ".join(kernel.__name__ for kernel in kernels.KERNELS.values())
REMEDY = "run `make schema`"


def test_the_schema_is_the_generated_one() -> None:
    assert (CONFIG / "schema.json").read_text() == as_json(), REMEDY


def test_the_reference_is_the_generated_one() -> None:
    written = (CONFIG / "README.md").read_text()
    assert written[written.index("### Study") :] == as_markdown(), REMEDY


def test_the_reference_has_every_key_of_every_model() -> None:
    schema = json.loads(as_json())
    models = {"Study": schema, **schema["$defs"]}
    reference = as_markdown()
    for name, model in models.items():
        (section,) = re.findall(
            rf"^###+ {name}\b.*?(?=^###|\Z)", reference, re.DOTALL | re.MULTILINE
        )
        for key in model["properties"]:
            assert f"| `{key}` |" in section, (name, key)


def test_models_stand_in_their_sections_in_the_order_of_a_study() -> None:
    heads = re.findall(r"^###+ .+$", as_markdown(), re.MULTILINE)
    sections = [head for head in heads if head.startswith("### Section")]
    named = [f"### Section `{name}`" for name in Study.model_fields]
    assert sections == [name for name in named if name in sections]
    methods = heads[heads.index("### Section `methods`") :]
    assert methods.index("#### MCMC, `kind: mcmc`") < methods.index("#### HMCKernel, `kind: hmc`")
    assert methods.index("#### HMCKernel, `kind: hmc`") < methods.index("### Section `evaluation`")


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("segments", "| integer >= 1, <= 10000 | `1` |"),
        ("draws_per_segment", "| integer >= 1 | required |"),
        ("sqrt_s_tev", "| number >= 7, <= 14 | `13.0` |"),
        ("sigma", "| number > 0 or null | required |"),
        ("precision", '| `float32` or `float64` | `"float32"` |'),
        ("kernel", f"| {KERNELS} | required |"),
        ("until", "| Until or null | `null` |"),
        ("chains_per_job", "| integer >= 1 or `all` | `1` |"),
        ("hidden", "| list of integer >= 1, <= 10000 | required |"),
        ("networks", "| names to Network | `{}` |"),
    ],
)
def test_limits_and_defaults_are_written_out(key: str, row: str) -> None:
    rows = [line for line in as_markdown().splitlines() if line.startswith(f"| `{key}` |")]
    assert any(row in line for line in rows), rows


def test_the_schema_describes_the_study() -> None:
    assert json.loads(as_json())["required"] == [
        name for name, field in Study.model_fields.items() if field.is_required()
    ]
