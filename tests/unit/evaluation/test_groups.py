"""Groups of rows are scored by their rows alone, each as if the others were not there."""

from typing import Any

import numpy as np

from nlobayes.evaluation.scores.of_split import FEWEST_ROWS, score_groups
from nlobayes.types import RowGroups


def means(values: np.ndarray, groups: RowGroups, chosen: np.ndarray) -> dict[str, Any]:
    return score_groups(groups, chosen, lambda rows, _: {"mean": values[rows].mean()})


def test_a_score_is_that_of_the_rows_of_its_group() -> None:
    rng = np.random.default_rng(4)
    names = np.array(["bad", "few", "good", "none"])
    codes = rng.permutation(np.repeat([0, 1, 2], [80, FEWEST_ROWS - 1, 200]))
    values, chosen = rng.normal(size=len(codes)), codes != 9
    chosen[np.flatnonzero(codes == 0)[:10]] = False
    found = means(values, RowGroups("quality", tuple(names.tolist()), codes), chosen)
    labels = names[codes]
    for name, points in (("bad", 70), ("good", 200)):
        expected = np.mean([values[row] for row in np.flatnonzero(chosen) if labels[row] == name])
        assert found[name] == {"points": points, "mean": expected}
    assert isinstance(found["few"], str)
    assert str(FEWEST_ROWS - 1) in found["few"]
    assert "none" not in found


def test_a_group_is_scored_from_the_fewest_rows_on() -> None:
    codes = np.repeat([0, 1], [FEWEST_ROWS, FEWEST_ROWS - 1])
    found = means(np.ones(len(codes)), RowGroups("q", ("a", "b"), codes), codes >= 0)
    assert found["a"]["points"] == FEWEST_ROWS
    assert isinstance(found["b"], str)
