"""The next points of a design: shares, used-up pools, and points that were computed before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlobayes.designs._sampled import Range
from nlobayes.designs.pool import PoolDesign
from nlobayes.designs.sobol import SobolDesign
from nlobayes.proposing.points import as_good_as, next_points
from nlobayes.surrogate.surrogate import Surrogate
from tests.unit.surrogate.conftest import COLUMNS, make_exported, points
from tests.unit.surrogate.test_pathwise import content

NONE = {name: np.empty(0) for name in COLUMNS}


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PoolDesign:
    monkeypatch.chdir(tmp_path)
    header = "m1:GeV,n11,n12,n13,n14"
    np.savetxt("pool.csv", points(40), delimiter=",", header=header, comments="")
    units = {"m1": "GeV"}
    return PoolDesign(kind="pool", path="pool.csv", points=0, columns=COLUMNS, units=units)


def rows(found: dict[str, np.ndarray]) -> set[tuple[float, ...]]:
    return {*zip(*(found[name].tolist() for name in COLUMNS), strict=True)}


@pytest.mark.parametrize("surrogate", [Surrogate(content(inputs=5)), Surrogate(make_exported())])
def test_rows_of_a_pool_are_proposed_once_until_it_is_used_up(
    surrogate: Surrogate, pool: PoolDesign
) -> None:
    first = next_points(surrogate, pool, NONE, 10, share=0.25)
    assert first.chosen.tolist() == ["random"] * 3 + ["posterior"] * 7
    second = next_points(surrogate, pool, first.points, 40)
    assert second.chosen.tolist() == ["random"] * 8 + ["posterior"] * 22
    assert len(rows(first.points)) == 10
    assert rows(first.points) | rows(second.points) == rows(pool.read())
    used_up = next_points(surrogate, pool, pool.read(), 5)
    assert len(used_up.chosen) == 0
    assert next_points(surrogate, pool, NONE, 10, share=0.25)[0]["m1"].tolist() == (
        first.points["m1"].tolist()
    )


def test_points_of_ranges_are_proposed_where_they_teach_most(pool: PoolDesign) -> None:
    """The batch leaves less variance over the ranges than as many random points."""
    surrogate = Surrogate(content(inputs=5))
    design = SobolDesign(
        kind="sobol",
        points=1,
        ranges={"m1": Range(low=100, high=2000)},
        unit_rows=(COLUMNS[1:],),
    )
    found = next_points(surrogate, design, NONE, 30, share=0.0)
    reference = np.column_stack([*design.random(400, 99).values()])
    left = []
    for chosen in (found.points, design.random(30, 7)):
        both = np.concatenate([np.column_stack([*chosen.values()]), reference])
        given, noise = surrogate.covariances(both)[0], surrogate.noise_variances(both)[0]
        across = given[:30, 30:]
        of_rows = given[:30, :30] + np.diag(noise[:30])
        left.append(given[30:, 30:].trace() - (across * np.linalg.solve(of_rows, across)).sum())
    assert left[0] < left[1]
    estimate = as_good_as(surrogate, design)
    assert estimate is not None
    assert 20 < estimate.points < 200  # it learned 60 random rows of features alike
    assert as_good_as(Surrogate(make_exported()), design) is None
