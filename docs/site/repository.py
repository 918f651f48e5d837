"""The site is the repository: every page keeps its path, so relative links hold in both places.

README.md is the first page. A notebook, which is a script, becomes a page beside it, with outputs
where `make docs` has executed it; files that pages link to are copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import jupytext
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter
from traitlets.config import Config

FOLDERS = ("benchmarks", "config", "notebooks")
PAGES = ("*.md", "docs/**/*.md", *(f"{folder}/README.md" for folder in FOLDERS))
ASSETS = "docs/site/**/*.[cjw]*"  # styles, scripts, fonts
NOTEBOOKS = "notebooks/*.py"
EXECUTED = ".cache/notebooks"
EXPORTER = MarkdownExporter(config=Config({"CoalesceStreamsPreprocessor": {"enabled": True}}))
OF_OUTPUTS = re.compile(  # styles of pandas; where Jupyter keeps the code of a cell that warns
    r'<style scoped>.*?</style>|(?<=<table) border="1" class="dataframe"'
    r"|\S+/ipykernel_\d+/\d+\.py:\d+: ",
    re.DOTALL,
)
LINK = re.compile(r"""(?:\]\(|<img src="|srcset=")([^)#:"\s]+)""")
IN_TEXT = re.compile(  # code, formulas and tags, which stay; then numbers that may not break
    r"""<(?P<code>pre|code)\b.*?</(?P=code)>|<(?P<tag>span|div) class="arithmatex">.*?</(?P=tag)>
    |<[^>]*>|(?P<number>\d[\d.]*e-\d+)|(?P<percent>(?<=[\d)])\ %)""",
    re.DOTALL | re.VERBOSE,
)
OF_NOTEBOOK = re.compile(r"(\]\((?:[^)\s]*notebooks/)?\w+)\.py(?=[)#])")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put the pages of the repository in the place of the files of `docs_dir`; keep the theme's."""
    root = Path(config.config_file_path).parent
    others = [file for file in files if not _is_below(file, Path(config.docs_dir))]
    assets = (_file(path, root, config) for path in root.glob(ASSETS))
    return Files([*others, *_pages(root, config), *_notebooks(root, config), *assets])


def on_page_markdown(markdown: str, **_: object) -> str:
    """Lead links to a notebook to its page."""
    return OF_NOTEBOOK.sub(r"\1.md", markdown)


def on_page_content(html: str, **_: object) -> str:
    """Keep the parts of a number on one line: its exponent, and a percent sign."""
    return IN_TEXT.sub(_unbroken, html)


def _unbroken(found: re.Match[str]) -> str:
    if found["number"]:
        return f'<span style="white-space: nowrap">{found[0]}</span>'
    return "\u00a0%" if found["percent"] else found[0]


def _is_below(file: File, folder: Path) -> bool:
    return file.abs_src_path is not None and Path(file.abs_src_path).is_relative_to(folder)


def _pages(root: Path, config: MkDocsConfig) -> Iterator[File]:
    """Give the pages, and the files that they link to or show."""
    pages = {path for pattern in PAGES for path in root.glob(pattern)}
    linked = {
        (page.parent / link).resolve()
        for page in pages
        for link in LINK.findall(page.read_text(encoding="utf-8"))
    }
    for path in sorted(pages | {path for path in linked if path.is_file()}):
        yield _file(path, root, config)


def _file(path: Path, root: Path, config: MkDocsConfig) -> File:
    name = path.relative_to(root).as_posix()
    return File(name, str(root), config.site_dir, config.use_directory_urls)


def _notebooks(root: Path, config: MkDocsConfig) -> Iterator[File]:
    """Give the page of each notebook, and its figures: outputs are of the code as it stands."""
    for path in sorted(root.glob(NOTEBOOKS)):
        notebook = jupytext.read(path)
        executed = root / EXECUTED / f"{path.stem}.ipynb"
        if executed.exists():
            found = jupytext.read(executed)
            same = [cell.source for cell in found.cells] == [c.source for c in notebook.cells]
            notebook = found if same else notebook
        page, others = EXPORTER.from_notebook_node(notebook, {"unique_key": path.stem})
        folder = path.relative_to(root).parent
        yield File.generated(config, f"{folder}/{path.stem}.md", content=OF_OUTPUTS.sub("", page))
        for name, content in others["outputs"].items():
            yield File.generated(config, f"{folder}/{name}", content=content)
