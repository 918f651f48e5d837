"""Files generated from the models equal the committed ones."""

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


def test_models_stand_in_their_sections_in_the_order_of_a_study() -> None:
    heads = re.findall(r"^###+ .+$", as_markdown(), re.MULTILINE)
    sections = [head for head in heads if head.startswith("### Section")]
    named = [f"### Section `{name}`" for name in Study.model_fields]
    assert sections == [name for name in named if name in sections]
    methods = heads[heads.index("### Section `methods`") :]
    assert methods.index("#### MCMC, `kind: mcmc`") < methods.index("#### HMCKernel, `kind: hmc`")
    assert methods.index("#### HMCKernel, `kind: hmc`") < methods.index("### Section `evaluation`")
