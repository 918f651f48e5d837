"""The lists of keys at the end of docs/files.md, from the types that state them.

`make schema` writes them into the page; a test compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from nlobayes.diagnostics import run_diagnostics as of_chains
from nlobayes.evaluation import run_evaluation as scores
from nlobayes.settings.meanings import meanings

SECTIONS: dict[str, tuple[type, ...]] = {
    "diagnostics.json": (
        *(of_chains.Verdict, of_chains.Agreement, of_chains.FunctionNumbers),
        *(of_chains.ChainNumbers, of_chains.SamplerNumbers, of_chains.StillChains),
        *(of_chains.Run, of_chains.WeightSpread),
    ),
    "evaluation.json": (
        *(scores.Evaluation, scores.SplitScores, scores.Spread, scores.Halves),
        *(scores.StatedNoise, scores.Rival, scores.Difference, scores.ScoredDraws),
        *(scores.LearnedTarget, scores.Stacking),
    ),
}


def as_markdown() -> str:
    """Return the sections of both files, a list for each type."""
    lines: list[str] = []
    for file, models in SECTIONS.items():
        lines += [f"## Keys of {file}", ""]
        for model in models:
            lines += _list(model)
    return "\n".join(lines[:-1]) + "\n"


def _list(model: type) -> Iterator[str]:
    yield from (f"**{(model.__doc__ or '').strip()}**", "")
    for key, meaning in meanings(model).items():
        yield f"- `{key}`: {' '.join(meaning.split())}"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
