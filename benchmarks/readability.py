"""Mean sentence length of every page, for information.

    python -m benchmarks.readability

Tables, code and headings do not count: only prose and items of lists do.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "config/README.md", "workflow/report/*.rst")
GENERATED = re.compile(r"^### Study.*", re.MULTILINE | re.DOTALL)
"""The reference of settings, written from the code."""
NO_PROSE = re.compile(r"^(```.*?^```|[|#!].*?$| {4}\S.*?$|\.\. .*?$)", re.MULTILINE | re.DOTALL)
ENDS = re.compile(r"(?<=[.!?:])[)\"*]*\s+(?=[A-Z`*\[(])|\n\s*\n|\n\s*(?:[-*]|\d+\.) ")
WORD = re.compile(r"[A-Za-z][\w'-]*")
SHORTEST = 4
"""Words of the shortest piece that counts as a sentence."""


def sentences(text: str) -> list[int]:
    """Count the words of every sentence of a page."""
    prose = NO_PROSE.sub("\n\n", GENERATED.sub("", text))
    plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", prose))
    lengths = [len(WORD.findall(each)) for each in ENDS.split(plain)]
    return [length for length in lengths if length >= SHORTEST]


def measured() -> Iterator[tuple[str, list[int]]]:
    """Give the lengths of the sentences of each page; captions count as one page."""
    for pattern in PAGES:
        found = sorted(ROOT.glob(pattern))
        texts = [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in found]
        if pattern.endswith(".rst"):
            texts = [(pattern, "\n\n".join(text for _, text in texts))]
        yield from ((name, sentences(text)) for name, text in texts)


def main() -> None:
    """Print words per sentence and the share of long sentences, page by page."""
    pages = [(name, lengths) for name, lengths in measured() if lengths]
    pages.append(("all", [length for _, lengths in pages for length in lengths]))
    print("words per sentence, and share of sentences above 30 words (for information)")
    for name, lengths in pages:
        long = sum(length > 30 for length in lengths) / len(lengths)
        print(f"{name:26} {sum(lengths) / len(lengths):5.1f} {long:5.0%}")


if __name__ == "__main__":
    main()
