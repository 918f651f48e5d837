"""The example of docs/cross_sections.md: a spectrum, the program, and what it prints."""

import re
from pathlib import Path

_PAGE = (Path(__file__).parents[1] / "docs/cross_sections.md").read_text()
SLHA, PYTHON, PRINTED = (
    re.findall(rf"```{kind}\n(.*?)```", _PAGE, re.DOTALL)[0] for kind in ("slha", "python", "text")
)
