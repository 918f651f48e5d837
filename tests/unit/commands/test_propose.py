"""`nlobayes propose`: from tables and surrogates to next points and a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.commands.tools import propose as module
from nlobayes.commands.tools.propose import propose
from nlobayes.data.table_files import read_table
from nlobayes.errors import InputError
from nlobayes.fitting.studies import Choices
from nlobayes.proposing.options import accuracy_of
from nlobayes.surrogate.surrogate import Surrogate
from tests.refusals import refused
from tests.unit.estimators.settings import PRETRAINING

COLUMNS = ("m1", "n11", "n12", "n13", "n14")
RNG = np.random.default_rng(0)
ROWS = RNG.uniform(100, 1000, (90, 2))
SIGMA = 10 ** (-ROWS.sum(axis=1) / 600) * (1 + 0.3 * np.sin(ROWS[:, 0] / 150))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a new folder, with fits of a second: the MAP of four units."""
    quick: Any = {"pretraining": PRETRAINING, "method": {"kind": "map_ensemble", "members": 2}}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        module,
        "attempts",
        lambda chosen, inputs: [Choices({"hidden": [4]}, **quick, recipe="plain")],
    )


def write(path: str, rows: np.ndarray, header: str, chosen: list[str] | None = None) -> Path:
    words = chosen or [""] * len(rows)
    lines = [
        ",".join([*map(repr, row), *([word] if chosen else [])])
        for row, word in zip(rows.tolist(), words, strict=True)
    ]
    Path(path).write_text("\n".join([header, *lines, ""]))
    return Path(path)


def table(chosen: list[str] | None = None, rows: int = 90) -> Path:
    both = np.column_stack([ROWS, SIGMA])[:rows]
    return write("t.csv", both, "m1:GeV,m2:GeV,sigma:pb" + (",chosen" if chosen else ""), chosen)


def proposed(path: Path | str, capsys: pytest.CaptureFixture[str], **options: Any) -> Any:
    """Propose points; return their table, what is said, and the JSON."""
    capsys.readouterr()
    given = {"points": 10, "out": Path("next.csv"), "jobs": 1, "json": True, **options}
    propose(Path(path), **given)
    printed = capsys.readouterr()
    return read_table(given["out"]), printed.err, json.loads(printed.out)


def test_points_of_ranges_with_honest_validation_rows(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["random"] * 70 + ["posterior"] * 10 + [""] * 10
    path = table(chosen)
    found, said, facts = proposed(
        path,
        capsys,
        target="sigma",
        range=["m1=100:1000", "m2=200:900:log"],
        constraint=["m1 + 50 < m2"],
        p95="500%",
        surrogate=Path("s.nc"),
    )
    assert found.units == {"m1": "GeV", "m2": "GeV", "chosen": ""}
    assert sorted(found.columns["chosen"]) == ["posterior"] * 8 + ["random"] * 2
    assert (found.columns["m1"] + 50 < found.columns["m2"]).all()
    assert facts["verdict"]["validation"] == 70
    assert facts["verdict"]["met"]
    assert facts["equivalent_random"] is None
    assert "accuracy reached (confidence 0.95; 70 random points)" in said
    assert "honest" not in said
    assert Surrogate.load("s.nc").inputs == ("m1", "m2")


def test_without_ranges_and_random_rows_both_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    found, said, facts = proposed(table(), capsys, target="sigma", median="0.0001%", p95="0.0002%")
    assert "no range is given, so that of the learned rows is taken: m1 " in said
    assert "honest only if the points of the table were drawn at random" in said
    assert facts["verdict"]["validation"] == 27  # 30 % of 90 rows
    assert not facts["verdict"]["met"]
    assert "at least 59 random points are needed, 32 more" in said
    assert found.columns["m1"].min() >= ROWS[:, 0].min()


def test_an_earlier_look_gives_the_trend(capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"target": "sigma", "p95": "0.1%"}
    *_, facts = proposed(table(rows=60), capsys, **options)
    before = facts["verdict"]
    for name in ("median", "p95"):  # the errors of fewer points were larger
        before[name]["error"] *= 4
    Path("look.json").write_text(json.dumps(facts))
    *_, facts = proposed(table(), capsys, **options, earlier=[Path("look.json")])
    assert facts["verdict"]["looks"] == 2
    assert facts["verdict"]["further_points"] > 0
    Path("look.json").write_text('{"verdict": {"met": 3}}')
    with refused("missing"):
        proposed(table(), capsys, **options, earlier=[Path("look.json")])


def test_rows_of_a_pool_are_proposed_once(capsys: pytest.CaptureFixture[str]) -> None:
    path = table(["random"] * 40 + [""] * 20, rows=60)
    pool = write("pool.csv", ROWS[::-1], "m1:GeV,m2:GeV")
    options: dict[str, Any] = {"target": "sigma", "pool": pool}
    found, *_ = proposed(path, capsys, **options)
    new = {*ROWS[60:, 0]}
    assert {*found.columns["m1"]} < new
    found, said, _ = proposed(path, capsys, **options, points=200)
    assert {*found.columns["m1"]} == new
    assert "pool.csv has 30 further rows, fewer than 200: all are given" in said
    with refused("proposing.pool_used_up"):
        proposed(table(), capsys, **options)


def test_a_surrogate_proposes_as_well(
    surrogate_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, said, facts = proposed(surrogate_path, capsys, p95="2%")
    assert [*found.columns] == [*COLUMNS, "chosen"]
    row = np.array([found.columns[name] for name in COLUMNS[1:]])
    np.testing.assert_allclose(np.square(row).sum(axis=0), 1)
    assert "rows inside the domain of the surrogate" in said
    assert facts == {"verdict": None, "equivalent_random": None}  # an older file
    assert "no verdict" in said


def test_what_cannot_be_proposed_is_one_line(
    surrogate_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = write("pool.csv", ROWS[:, :1], "m1:GeV")
    wrong: list[tuple[str, Path, dict[str, Any]]] = [
        ("data.no_column", surrogate_path, {"range": ["m2=1:2"]}),
        ("data.no_column", surrogate_path, {"range": ["sigma=1:2"]}),
        ("designs.range", surrogate_path, {"range": ["m1=200:100"]}),
        ("proposing.no_range", surrogate_path, {"range": ["m1=200"]}),
        ("designs.no_constraint", surrogate_path, {"constraint": ["m1 == 3"]}),
        ("designs.empty_region", surrogate_path, {"constraint": ["m1 < -3000"]}),
        ("proposing.pool_or_ranges", surrogate_path, {"pool": pool, "range": ["m1=1:2"]}),
        ("data.no_column", surrogate_path, {"pool": pool}),
        ("designs.no_table", surrogate_path, {"pool": Path("no.csv")}),
        ("surrogate.no_output", surrogate_path, {"target": "mass"}),
        ("proposing.no_share", surrogate_path, {"p95": "two"}),
        ("study.accuracy", surrogate_path, {"median": "3%", "p95": "2%"}),
        ("proposing.no_target", write("u.csv", ROWS, "m1,m2"), {}),
        ("fitting.few_rows", table(rows=5), {"target": "sigma"}),
        ("commands.out_is_read", pool, {"target": "m1", "out": pool}),
    ]
    for code, path, options in wrong:
        with refused(code) as caught:
            proposed(path, capsys, **options)
        assert len(str(caught.value).splitlines()) == 1
    assert not Path("next.csv").exists()


def test_one_limit_may_be_left_out() -> None:
    assert accuracy_of("", "", 0.9) is None
    both = accuracy_of("", "2%", 0.9)
    assert both is not None
    assert (both.median, both.p95, both.confidence) == (0.02, 0.02, 0.9)
    one = accuracy_of("0.005", "", 0.9)
    assert one is not None
    assert one.p95 > 1e6


@pytest.mark.slow
def test_an_infinitely_wide_network_is_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()
    _, said, facts = proposed(table(), capsys, target="sigma", p95="2%", relative_to="none")
    assert any(f"recipe: {one} (cosine units change " in said for one in ("cosines", "wide"))
    assert facts["equivalent_random"]["points"] > 10


def test_messages_name_options_alone() -> None:
    propose(table(), 4, Path("next.csv"), target="sigma", jobs=1, surrogate=Path("s.nc"))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"range": ["m1=900:100"]}, "--range m1: low 900 must be below high 100"),
        ({"range": ["m1=1:9:foo"]}, "--range m1.scale: must be 'linear' or 'log'"),
        ({"constraint": ["m1 <"]}, "--constraint: constraint 'm1 <' is no comparison"),
        ({"constraint": ["m1 < x"]}, "--constraint: constraint 'm1 < x' has 'x'"),
        ({"constraint": ["m1 < 0"]}, "--constraint: 0 of 65536 points"),
        ({"unit_row": ["m1"]}, "--unit-row: has 1 items"),
        ({"median": "-1%"}, "--median: '-1%' is no relative error"),
        ({"median": "2%", "p95": "1%"}, "--median 0.02 is above p95 0.01"),
        ({"median": "2%", "confidence": 2}, "--confidence: must be below 1"),
    ]
    for options, said in wrong:
        with pytest.raises(InputError) as caught:
            propose(Path("s.nc"), 4, Path("next.csv"), **options)
        assert str(caught.value).startswith(said)


def test_no_message_names_a_temporary_file() -> None:
    path = write("big.csv", np.column_stack([ROWS, 1e200 * SIGMA]), "m1:GeV,m2:GeV,sigma:pb")
    with pytest.raises(InputError, match=r"^big\.csv: column 'sigma': the largest"):
        propose(path, 4, Path("next.csv"), target="sigma", jobs=1)
