"""Keys of the two files of results: their page, and the lists that select some of them."""

from pathlib import Path
from typing import get_args

import pytest

from nlobayes.artifacts.audit.file_damage import KEYS
from nlobayes.artifacts.audit.file_summary import CONVERGENCE as SUMMARISED
from nlobayes.checks import CALIBRATION, CONVERGENCE, CalibrationName, ChainCheck, WeightCheck
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.evaluation.__main__ import as_markdown
from nlobayes.evaluation.comparison.runs import SAMPLING
from nlobayes.evaluation.run_evaluation import Evaluation, ScoredDraws

DIAGNOSED = {*Diagnostics.__annotations__}


def test_the_page_of_files_ends_with_the_keys() -> None:
    """Where it does not: `make schema`."""
    page = (Path(__file__).parents[3] / "docs/files.md").read_text()
    assert page[page.index("## Keys of diagnostics.json") :] == as_markdown()


@pytest.mark.parametrize(
    ("selected", "known"),
    [
        (SAMPLING, DIAGNOSED | {*ScoredDraws.__annotations__}),
        (SUMMARISED, DIAGNOSED),
        (KEYS["diagnostics.json"], DIAGNOSED),
        (KEYS["evaluation.json"], {*Evaluation.__annotations__}),
    ],
)
def test_selected_keys_exist(selected: tuple[str, ...], known: set[str]) -> None:
    assert {*selected} <= known


def test_texts_of_checks_are_of_all_names() -> None:
    assert [*CALIBRATION] == [*get_args(CalibrationName)]
    assert {*CONVERGENCE} == {*get_args(ChainCheck), *get_args(WeightCheck)}
