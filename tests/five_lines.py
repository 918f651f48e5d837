"""The example of docs/cross_sections.md: a spectrum, the program, and what it prints."""

import re
from pathlib import Path

_DOCS = Path(__file__).parents[1] / "docs"
_PAGE = (_DOCS / "cross_sections.md").read_text()
SLHA = (_DOCS / "model.slha").read_text()
PYTHON, PRINTED = (
    re.findall(rf"```{kind}\n(.*?)```", _PAGE, re.DOTALL)[0] for kind in ("python", "text")
)
