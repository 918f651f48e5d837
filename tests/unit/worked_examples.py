"""The worked examples of CONTRIBUTING.md: the files that each heading shows, by their paths."""

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SECTION = re.compile(r"^### (.+)\n((?:(?!#{2,3} ).*\n)*)", re.MULTILINE)
BLOCK = re.compile(
    r"^```(\w+)\n(?:#|\.\.|\+\+\+) ([\w./]+\.\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
HUNK = re.compile(r"^@@\n", re.MULTILINE)


def headings() -> list[str]:
    """List the headings of the examples."""
    return [heading for heading, _ in SECTION.findall(PAGE)]


def files_of(heading: str) -> dict[str, str]:
    """Give the files of an example as they will be, by their paths from the root."""
    (section,) = (text for found, text in SECTION.findall(PAGE) if found == heading)
    return {
        path: changed(path, text) if language == "diff" else text
        for language, path, text in BLOCK.findall(section)
    }


def changed(path: str, diff: str) -> str:
    """Give the text of a file after a change, which must fit one place of it."""
    text = (ROOT / path).read_text()
    for hunk in HUNK.split(diff):
        lines = hunk.splitlines(keepends=True)
        old, new = ("".join(line[1:] for line in lines if line[0] in f" {sign}") for sign in "-+")
        assert text.count(old) == 1, f"CONTRIBUTING.md: {path} has not once:\n{old}"
        text = text.replace(old, new)
    return text


def write(files: Mapping[str, str], root: Path) -> None:
    """Write the files of an example below a copy of the repository."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
