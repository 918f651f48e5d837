"""The commands that documentation, headers and remedies show, and where each stands.

Commands are the lines of a block (`sh`, or without a language where a line begins with a program of
`PROGRAMS`; in a block with `$ ` only the lines that begin so), indented lines of comments and
docstrings, what follows `->` in a comment, and spans in backticks. Only the last may be a mention,
as of `nlobayes condense`, which need not be complete.
"""

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROGRAMS = ("snakemake", "nlobayes", "make", "python", "pytest", "uv", "pip", "dvc")
"""Programs whose commands are looked into."""
PAGES = (
    *("*.md", "docs/**/*.md", "config/**/*.md", "benchmarks/*.md", "notebooks/*.md"),
    *("config/**/*.yaml", "profiles/**/*.yaml", "*.yaml", "Makefile"),
    *("Snakefile", "workflow/Snakefile", "container/*"),
    *(
        "workflow/**/*.smk",
        "workflow/**/*.rst",
        "src/**/*.toml",
        "src/**/*.py",
        "benchmarks/**/*.py",
    ),
)
HISTORY = ("CHANGELOG.md",)
"""Pages whose commands are those of their time."""

STARTS = rf"(?:\w+=\S+ +)*(?:uv run +(?:--locked +)?)?(?:{'|'.join(PROGRAMS)})\b"
SPAN = re.compile(rf"(?<!`)`({STARTS} [^`]+)`(?!`)")
OF_COMMENT = re.compile(rf"(?:#|\.\.).*-> ({STARTS} .+)")
INDENTED = re.compile(rf"#? {{3,}}({STARTS} .+)")
LINE = re.compile(rf"{STARTS}(?: |$)")
FENCE = re.compile(r"```(\w*)$")
SEPARATORS = re.compile(r"[;&|]+")


class Command(NamedTuple):
    """A command without what pipes, redirections and `uv run` stand around it."""

    place: str
    """Page and line."""
    words: tuple[str, ...]
    whole: bool
    """Whether it can be called as it stands, and is no mention."""

    def __str__(self) -> str:
        """Say where it stands and what it is."""
        return f"{self.place}: `{shlex.join(self.words)}`"


@cache
def commands() -> tuple[Command, ...]:
    """List the commands of all pages."""
    return tuple(command for page in pages() for command in commands_of(page, text_of(page)))


def commands_of(page: str, text: str) -> list[Command]:
    """List the commands of a text by the rules of its kind of page."""
    lines = _joined(_comments(page, text).splitlines())
    shown = [*_of_blocks(lines), *_of_lines(lines, page)]
    whole = [each for line, said in shown for each in split(f"{page}:{line}", said, whole=True)]
    spans = [
        each
        for match in SPAN.finditer(text)
        for each in split(
            f"{page}:{text[: match.start()].count(chr(10)) + 1}", match[1], whole=False
        )
    ]
    return [*whole, *spans]


def pages() -> list[str]:
    """List the pages, by their paths."""
    found = {path for pattern in PAGES for path in ROOT.glob(pattern)}
    names = sorted(path.relative_to(ROOT).as_posix() for path in found)
    return [name for name in names if name not in HISTORY]


def text_of(page: str) -> str:
    """Read a page."""
    return (ROOT / page).read_text()


def block_of(page: str, name: str) -> str | None:
    """Give the YAML block of a page whose first line names a file, if there is one."""
    found = re.search(
        rf"^```yaml\n(# {re.escape(name)}\b.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL
    )
    return found and found[1]


def split(place: str, said: str, *, whole: bool) -> Iterator[Command]:
    """Split a line into its commands, without comments, assignments and redirections."""
    lexer = shlex.shlex(said, posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    for separates, words in groupby(lexer, lambda word: bool(SEPARATORS.fullmatch(word))):
        if not separates and (own := _own(list(words))):
            yield Command(place, tuple(own), whole)


def _own(words: list[str]) -> list[str]:
    """Leave out what stands before a program, and where its output goes."""
    kept = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not re.fullmatch("[<>]+", word) and not re.fullmatch("[<>]+", before)
    ]
    while kept and re.match(r"\w+=", kept[0]):
        kept = kept[1:]
    if kept[:2] == ["uv", "run"]:
        kept = [word for word in kept[2:] if word != "--locked"]
    return kept


def _comments(page: str, text: str) -> str:
    """Keep of Python the docstrings alone, on the lines where they stand."""
    if not page.endswith(".py"):
        return text
    kept = [""] * (text.count("\n") + 1)
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as said)):
                for at, line in enumerate(said.splitlines(), node.lineno - 1):
                    kept[at] = line
    return "\n".join(kept)


def _joined(lines: list[str]) -> list[tuple[int, str]]:
    """Number the lines; one that ends with a backslash takes the next, without its comment sign."""
    joined: list[tuple[int, str]] = []
    goes_on = False
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\\")
        if goes_on:
            first, before = joined.pop()
            joined.append((first, f"{before.rstrip()} {text.lstrip('# ')}"))
        else:
            joined.append((number, text))
        goes_on = line.endswith("\\")
    return joined


def _of_blocks(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    language, block = None, list[tuple[int, str]]()
    for number, line in lines:
        fence = FENCE.match(line)
        if fence is None:
            block += [(number, line)] * (language is not None)
        elif language is None:
            language, block = fence[1], []
        else:
            yield from _of_block(language, block)
            language = None


def _of_block(language: str, block: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    asked = [(number, line[2:]) for number, line in block if line.startswith("$ ")]
    has_commands = language == "sh" or any(LINE.match(line) for _, line in [*block, *asked])
    if language in ("", "sh") and has_commands:
        yield from asked or ((number, line) for number, line in block if line.strip())


def _of_lines(lines: list[tuple[int, str]], page: str) -> Iterator[tuple[int, str]]:
    patterns = (OF_COMMENT,) if page == "Makefile" else (OF_COMMENT, INDENTED)
    for number, line in lines:
        for match in (pattern.match(line) for pattern in patterns):
            if match:
                yield number, match[1]
