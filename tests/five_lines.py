"""Examples: of docs/cross_sections.md a spectrum, a program and what it prints; of README.md."""

import re
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_DOCS = _ROOT / "docs"
_PAGE = (_DOCS / "cross_sections.md").read_text()
SLHA = (_DOCS / "model.slha").read_text()
PYTHON, PRINTED = (
    re.findall(rf"```{kind}\n(.*?)```", _PAGE, re.DOTALL)[0] for kind in ("python", "text")
)
README = re.findall(r"```python\n(.*?)```", (_ROOT / "README.md").read_text(), re.DOTALL)[0]
