"""The points of a further round have the columns of those before, whatever the network's order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlobayes.commands.pipeline.choose import choose
from nlobayes.study.jobs import ChooseJob
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Table
from tests.refusals import refused
from tests.unit.surrogate.conftest import COLUMNS, make_exported, points

OTHER_ORDER = tuple(reversed(COLUMNS))


def round_of(unit: str, **changes: Any) -> Table:
    """Choose ten points of ranges that are named in another order than the inputs."""
    surrogate = Surrogate(make_exported())
    given = dict(zip(COLUMNS, points(60).T, strict=True))
    ranges = {name: {"low": given[name].min(), "high": given[name].max()} for name in OTHER_ORDER}
    units = {"m1": unit}
    ranges["m1"]["unit"] = unit
    settings = {"round": 1, "points": 10, "random": 0.2, "seed": 1} | changes
    design = {"kind": "sobol", "points": 60, "ranges": ranges}
    job = ChooseJob.model_validate({"design": design, **settings})
    before = Table({n: given[n] for n in OTHER_ORDER} | {"split": np.full(60, "train")}, units, {})
    found: Table = vars(choose)["compute"](job, [before], surrogate)
    return found


def test_columns_keep_their_order() -> None:
    found = round_of("GeV")
    assert [*found.columns] == [*OTHER_ORDER, "split"]
    assert sorted(found.columns["split"]) == ["test", *["train"] * 8, "validation"]
    assert found.columns["m1"].max() > 10 > found.columns["n11"].max(), "no column is another's"


def test_another_unit_is_refused() -> None:
    with refused("commands.unit_of_design", name="m1", other="TeV"):
        round_of("TeV")


@pytest.mark.parametrize("number", [1, 2])
def test_each_round_has_its_own_points(number: int) -> None:
    first, again = (round_of("GeV", round=number) for _ in range(2))
    assert np.array_equal(first.columns["m1"], again.columns["m1"])
    assert not np.array_equal(first.columns["m1"], round_of("GeV", round=3).columns["m1"])
