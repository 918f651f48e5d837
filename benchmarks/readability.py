"""Sentence length of every page and the words that the style guide replaces, for information.

    python -m benchmarks.readability

Tables, code and headings do not count: only prose and items of lists do. Syllables are not counted
(Flesch's scores): the library for them, textstat, downloads a dictionary when it runs.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "config/README.md",
    "workflow/report/*.rst",
)
GENERATED = re.compile(r"^### Study.*", re.MULTILINE | re.DOTALL)
"""The reference of settings, written from the code."""
NO_PROSE = re.compile(r"^(```.*?^```|[|#!].*?$| {4}\S.*?$|\.\. .*?$)", re.MULTILINE | re.DOTALL)
ENDS = re.compile(r"(?<=[.!?:])[)\"*]*\s+(?=[A-Z`*\[(])|\n\s*\n|\n\s*(?:[-*]|\d+\.) ")
WORD = re.compile(r"[A-Za-z][\w'-]*")
SHORTEST = 4
"""Words of the shortest part of a text that counts as a sentence."""
LONG = 30
WORD_LIST = re.compile(r"^## Word list$.*?^\|---\|---\|$(.*?)^## ", re.MULTILINE | re.DOTALL)
FORMS = {
    "ask": "(?-i:ask(?:s|ed|ing)?)",
    "say": "sa(?:y|ys|id|ying)",
    "tell": "t(?:ell|ells|old|elling)",
}
MOST_SHOWN = 4


def prose(text: str) -> str:
    """Leave the prose of a page, without code and addresses of links."""
    without = NO_PROSE.sub("\n\n", GENERATED.sub("", text))
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", without))


def sentences(plain: str) -> list[int]:
    """Count the words of every sentence of prose."""
    lengths = [len(WORD.findall(each)) for each in ENDS.split(plain)]
    return [length for length in lengths if length >= SHORTEST]


def word_list(guide: str) -> dict[str, re.Pattern[str]]:
    """Read the words and phrases that the style guide replaces, each with its usual forms."""
    table = WORD_LIST.search(guide)
    rows = [] if table is None else [row.split("|") for row in table[1].split("\n") if "|" in row]
    phrases = [re.sub(r"\([^)]*\)", "", row[1]).split(",") for row in rows]
    words = (word.strip() for each in phrases for word in each)
    return {
        word: re.compile(rf"\b{FORMS.get(word, re.escape(word) + '(?:s|es|d|ed|ing)?')}\b", re.I)
        for word in words
    }


def count_words(plain: str, words: dict[str, re.Pattern[str]]) -> Counter[str]:
    """Count the replaced words in prose; which of them are right there, a reader decides."""
    return Counter({word: len(form.findall(plain)) for word, form in words.items()})


def pages() -> Iterator[tuple[str, str]]:
    """Give name and prose of each page; captions count as one page."""
    for pattern in PAGES:
        found = sorted(ROOT.glob(pattern))
        texts = [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in found]
        if pattern.endswith(".rst"):
            texts = [(pattern, "\n\n".join(text for _, text in texts))]
        yield from ((name, prose(text)) for name, text in texts)


def main() -> None:
    """Print words per sentence, long sentences and words of the list, page by page."""
    words = word_list((ROOT / "docs/style.md").read_text())
    texts = dict(pages())
    print(f"words per sentence, share above {LONG} words, words of docs/style.md (for information)")
    for name, plain in {**texts, "all": "\n\n".join(texts.values())}.items():
        if lengths := sentences(plain):
            long = sum(length > LONG for length in lengths) / len(lengths)
            found = count_words(plain, words)
            most = ", ".join(f"{word} {n}" for word, n in found.most_common(MOST_SHOWN) if n)
            mean = sum(lengths) / len(lengths)
            print(f"{name:36} {mean:5.1f} {long:5.0%} {found.total():4}  {most}")


if __name__ == "__main__":
    main()
