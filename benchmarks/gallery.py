"""The gallery of figures, docs/gallery.md, and its pictures from finished studies.

    python -m benchmarks.gallery > docs/gallery.md
    python -m benchmarks.gallery PROJECT OTHER

The first command writes the page, from captions of the report; the second takes its pictures.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from nlobayes.figures import ALL
from nlobayes.figures.figure import Figure

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/images/gallery"
WIDTH, COLORS = 960, 64
RUNS = re.compile("hmc_k/|/curve/s1")
"""Of several runs of a study, that whose pictures are taken."""
NOT_SHOWN = ("images", "differences", "divergences")
"""Of tables that are not shipped, of replicates and of divergences, which the studies lack."""
FROM = {
    "snakemake --configfile config/gallery.yaml": (
        *("bands", "curves", "density", "fidelity", "confusion", "reliability", "thresholds"),
        *("certainty", "sizes", "visits", "size_trace", "draw_scores", "prior_predictive"),
        *("speed", "loadings"),
    ),
    "snakemake --configfile config/studies/program.yaml": ("rounds",),
}
"""Figures of other commands than `snakemake`, which runs the default study."""
WILDCARD = re.compile(r"(?:(run|grid|dataset|model) )?``\{\{ snakemake\.wildcards\.(\w+) \}\}``")
HEAD = """\
# Gallery

Figures that studies draw, what each shows, and what good looks like. They lie in `results/figures`,
those of times in `timings`, and their tables in `results/plots`. A report has the same captions.
"""


def page() -> str:
    """Write the page: by category a picture of each figure, its caption and its command."""
    sections = [HEAD]
    for category, figures in groupby(shown(), lambda each: each.category):
        sections += [f"## {category}: figures\n", *map(_entry, figures)]
    return "\n".join(sections)


def shown() -> list[Figure]:
    """List the figures of the gallery, by category."""
    categories = [each.category for each in ALL]
    found = (figure for figure in ALL if figure.name not in NOT_SHOWN)
    return sorted(found, key=lambda figure: categories.index(figure.category))


def _entry(figure: Figure) -> str:
    """Write what stands below one figure: the first sentences of its caption, and what is good."""
    first, *others = (ROOT / f"workflow/report/{figure.name}.rst").read_text().splitlines()
    good = next((line for line in others if line.startswith("Good looks")), others[0])
    question, answer = (WILDCARD.sub(r"the \2", text).replace("``", "`") for text in (first, good))
    title = figure.name.replace("_", " ").capitalize().replace("Pit", "PIT")
    alt = question.split("?")[0].replace("`", "")
    return (
        f"### {title}\n\n![{alt}](images/gallery/{figure.name}.webp)\n\n"
        f"{question}\n\n{answer}\n\nDrawn by `{command_of(figure.name)}`.\n"
    )


def command_of(name: str) -> str:
    """Give the command that makes a figure."""
    return next((command for command, names in FROM.items() if name in names), "make run")


def draw(projects: list[Path]) -> Iterator[str]:
    """Take the picture of each figure from the first project that has it, and name what lacks."""
    from PIL import Image
    from PIL.Image import Resampling

    PICTURES.mkdir(parents=True, exist_ok=True)
    for figure in shown():
        found = [
            path
            for project in projects
            for folder in ("results/figures", "timings")
            for path in sorted((project / folder).rglob(f"{figure.name}.png"))
        ]
        if not found:
            yield figure.name
            continue
        first = min(found, key=lambda path: RUNS.search(str(path)) is None)
        whole = Image.open(first).convert("RGB")
        smaller = whole.resize(
            (WIDTH, round(whole.height * WIDTH / whole.width)), Resampling.LANCZOS
        )
        picture = smaller.quantize(COLORS, dither=Image.Dither.NONE).convert("RGB")
        picture.save(PICTURES / f"{figure.name}.webp", lossless=True, method=6)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for missing in draw([*map(Path, sys.argv[1:])]):
            print(f"no picture of {missing}", file=sys.stderr)
    else:
        print(page(), end="")
