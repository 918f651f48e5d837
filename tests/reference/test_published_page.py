"""docs/published.md has every feature of the published systems once, each with its state."""

from __future__ import annotations

import re
from pathlib import Path

from tests.reference.test_published import tables

PAGE = (Path(__file__).parents[2] / "docs/published.md").read_text()
COUNTS = {"A": 45, "M": 17, "T": 19, "B": 19, "S": 4, "D": 12}
"""Features, figures and experiments of each system."""
STATE = re.compile(r"(reduced scale )?runs|configured|not here: .+")


def rows() -> list[list[str]]:
    return [row for table in tables(PAGE) for row in table[1:]]


def test_every_feature_has_one_row() -> None:
    expected = [f"{system}{n}" for system, count in COUNTS.items() for n in range(1, count + 1)]
    assert [row[0] for row in rows()] == expected


def test_every_feature_has_a_state_with_its_cost_or_its_reason() -> None:
    states = {row[0]: row[-1] for row in rows()}
    assert [name for name, state in states.items() if not STATE.match(state)] == []
    absent = [name for name, state in states.items() if re.search(r"not here(?!: \w)", state)]
    assert absent == [], "give the reason after a colon"
