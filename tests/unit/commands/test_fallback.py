"""`predict --max-error --otherwise`: accepted points, the program for others, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from nlobayes.artifacts.contents import write_surrogate
from nlobayes.commands.tools.predict import predict
from nlobayes.data.table_files import read_table
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.refusals import refused

HEADER = "m1:GeV,n11,n12,n13,n14"
INPUTS = ("m1", "n11", "n12", "n13", "n14")
SUMMARIES = ("mean", "median", "posterior_sd", "total_sd", "q16", "q84")
MAX_ERROR = "70%"
OUTPUT = {"kind": "number", "column": "sigma", "unit": "fb", "above": 0}
MINE = {"command": ["sh", "-c", "echo x >> $COUNTER; echo {m1}"], "version": "1"}
"""A program whose result is the mass, in fb; of a negative mass it is no cross section."""


def with_errors(content: SurrogateContent, rows: int = 300, **changed: Any) -> SurrogateContent:
    """Held-out rows whose stated errors rise to 200 %, without large actual errors."""
    errors = {"stated": np.linspace(0.001, 2.0, rows), "error": np.zeros(rows)}
    errors |= changed
    return content._replace(held_out={n: v.astype(np.float32) for n, v in errors.items()})


@pytest.fixture(scope="module")
def file(
    exported: SurrogateContent, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("with_errors") / "surrogate.nc"
    write_surrogate(path, with_errors(exported), dataset, {"verb": "export"})
    return path


@pytest.fixture(scope="module")
def scan(dataset: Dataset) -> np.ndarray:
    """Train and test rows; one far outside, one without a prediction."""
    rows = [dataset.inputs[dataset.split == split][:10] for split in (2, 0)]
    return np.concatenate([*rows, [[5e4, 0, 0, 1, 0], [np.nan, 0, 0, 1, 0]]])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTER", str(tmp_path / "counter"))
    (tmp_path / "counter").touch()
    write_program()
    return tmp_path


def write_program(**changed: Any) -> None:
    Path("mine.yaml").write_text(yaml.safe_dump({**MINE, "output": OUTPUT, **changed}))


def calls() -> int:
    return len(Path("counter").read_text().splitlines())


def text_of(scan: np.ndarray, header: str = HEADER) -> str:
    return "\n".join([header, *(",".join(map(repr, row)) for row in scan.tolist()), ""])


Run = Callable[..., dict[str, np.ndarray]]


@pytest.fixture
def run(file: Path, scan: np.ndarray) -> Run:
    """Predict the scan, or a text, and read the output."""

    def run_(text: str | None = None, **options: Any) -> dict[str, np.ndarray]:
        Path("points.csv").write_text(text or text_of(scan))
        predict(file, "points.csv", "out.csv", **{"max_error": MAX_ERROR, **options})
        return read_table(Path("out.csv")).columns

    return run_


def test_without_a_program_points_are_flagged_alone(
    run: Run, file: Path, scan: np.ndarray, capfd: pytest.CaptureFixture[str]
) -> None:
    plain, found = run(max_error=""), run()
    surrogate = Surrogate.load(file)
    accepted = surrogate.accepted(scan, 0.7)
    assert 3 < accepted.sum() < (surrogate.domain(scan) == "inside").sum()
    assert [*found] == [*plain, "accepted"]
    assert found["accepted"].tolist() == accepted.astype(int).tolist()
    for name in plain.keys() - {"reason"}:
        np.testing.assert_array_equal(found[name], plain[name])
    assert (found["reason"] != "")[~accepted].all()
    inside = ~accepted & (found["domain"] == "inside")
    stated = surrogate.stated_errors(scan)[inside]
    assert found["reason"][inside].tolist() == [
        f"states an error of {100 * s:.3g} %" for s in stated
    ]
    said = capfd.readouterr().err
    assert f"{accepted.sum()} of {len(scan)} points are accepted" in said
    assert "with 95 % confidence at most 5 % of them are wrong by more than 70 %" in said
    assert "program" not in said


def test_the_program_computes_what_is_not_accepted(
    run: Run, scan: np.ndarray, capfd: pytest.CaptureFixture[str]
) -> None:
    flagged = run()
    found = run(otherwise=Path("mine.yaml"))
    accepted = flagged["accepted"] == 1
    sent = ~accepted & np.isfinite(scan).all(axis=1)
    fails = sent & (scan[:, 0] < 0)
    assert fails.any()
    assert (sent & ~fails).any()
    assert found["source"].tolist() == np.where(sent, "program", "surrogate").tolist()
    for name in SUMMARIES:
        values = found[f"sigma_pb_{name}"]
        np.testing.assert_array_equal(values[~sent], flagged[f"sigma_pb_{name}"][~sent])
        if name in ("mean", "median"):
            np.testing.assert_allclose(values[sent & ~fails], scan[sent & ~fails, 0] / 1000)
            assert np.isnan(values[fails]).all()
        else:
            assert np.isnan(values[sent]).all()
    assert all("not above 0" in reason for reason in found["reason"][fails])
    assert found["domain"].tolist() == flagged["domain"].tolist()
    assert calls() == sent.sum()
    said = capfd.readouterr().err.split("nlobayes: ")
    assert (
        f"that the program computes: {sent.sum()}, of which 0 were stored before"
        in said[-2] + said[-3]
    )
    again = run(otherwise=Path("mine.yaml"))
    for name in found:
        np.testing.assert_array_equal(again[name], found[name])
    assert calls() == sent.sum()
    assert f"of which {sent.sum()} were stored before and {fails.sum()} failed" in (
        capfd.readouterr().err
    )


def test_values_of_the_program_have_the_unit_and_the_scale_of_the_predictions(
    run: Run, scan: np.ndarray
) -> None:
    in_pb, in_fb = (run(otherwise=Path("mine.yaml"), unit=unit) for unit in ("", "fb"))
    as_log = run(otherwise=Path("mine.yaml"), scale="log10")
    for what in ("mean", "median"):
        sent = (in_pb["source"] == "program") & (scan[:, 0] > 0)
        np.testing.assert_allclose(in_fb[f"sigma_fb_{what}"][sent], scan[sent, 0])
        expected = np.log10(in_pb[f"sigma_pb_{what}"][sent])
        np.testing.assert_allclose(as_log[f"log10_sigma_pb_{what}"][sent], expected)


def test_computed_points_join_a_table_once(run: Run, scan: np.ndarray) -> None:
    """Whose header and rows are those of a table that the surrogate could learn."""
    table = Path("rows.csv")
    for _ in range(2):
        found = run(otherwise=Path("mine.yaml"), new_rows=table)
    computed = (found["source"] == "program") & np.isfinite(found["sigma_pb_mean"])
    read = read_table(table)
    assert read.units == {"m1": "GeV", **dict.fromkeys(INPUTS[1:], ""), "sigma_pb": "pb"}
    np.testing.assert_array_equal(
        np.column_stack([read.columns[name] for name in INPUTS]), scan[computed]
    )
    np.testing.assert_allclose(read.columns["sigma_pb"], scan[computed, 0] / 1000)
    more = np.array([[7e4, 0, 0, 1, 0], scan[-2]])
    run(text_of(more), otherwise=Path("mine.yaml"), new_rows=table)
    assert len(read_table(table).columns["m1"]) == computed.sum() + 1
    table.write_text("m1,sigma\n")
    with refused("commands.other_new_rows", where=table, found="m1,sigma"):
        run(otherwise=Path("mine.yaml"), new_rows=table)


def test_a_program_may_read_other_columns_of_the_points(run: Run, scan: np.ndarray) -> None:
    write_program(command=["sh", "-c", "echo {mu}"])
    mu = np.arange(1.0, len(scan) + 1)
    mu[0] = np.nan
    given = text_of(np.column_stack([scan, mu]), f"{HEADER},mu:GeV")
    found = run(given, otherwise=Path("mine.yaml"))
    sent = found["source"] == "program"
    np.testing.assert_allclose(found["sigma_pb_median"][sent], mu[sent] / 1000)
    assert "column 'mu' holds 'nan'" in found["reason"][0] or found["accepted"][0]
    with refused("programs.no_column", where="mine.yaml: command", field="mu"):
        run(otherwise=Path("mine.yaml"))


def test_rows_that_the_program_computes_are_neither_left_out_nor_refused(
    run: Run, scan: np.ndarray
) -> None:
    found = run(otherwise=Path("mine.yaml"), skip_bad=True)
    assert 0 < len(found["row"]) < len(scan)
    assert np.isfinite(found["sigma_pb_median"]).all()
    assert {*found["source"]} == {"program", "surrogate"}
    with refused("commands.bad_point", where="points.csv"):
        run(otherwise=Path("mine.yaml"), strict=True)
    good = scan[scan[:, 0] > 0]
    assert len(run(text_of(good), otherwise=Path("mine.yaml"), strict=True)["row"]) == len(good)


def test_one_row_and_points_that_are_all_outside(run: Run, capfd: Any) -> None:
    outside = np.array([[5e4, 0, 0, 1, 0]])
    found = run(text_of(outside), otherwise=Path("mine.yaml"))
    assert (found["accepted"].tolist(), found["sigma_pb_median"].tolist()) == ([0], [50.0])
    said = capfd.readouterr().err
    assert "0 of 1 points are accepted" in said
    assert "warning: 1 of" not in said


@pytest.mark.parametrize("text", ["0", "-1%", "1.5", "150%", "one", "", "nan", "%"])
def test_a_share_is_above_0_and_below_1(run: Run, text: str) -> None:
    for option in ("max_error", "share", "confidence"):
        if text or option != "max_error":
            with refused("commands.no_share", where=f"--{option.replace('_', '-')}", text=text):
                run(**{option: text})


def test_percent_and_fraction_are_the_same(run: Run) -> None:
    assert run(max_error="0.7")["accepted"].tolist() == run()["accepted"].tolist()


@pytest.mark.parametrize(
    ("option", "needed"),
    [
        ({"otherwise": Path("mine.yaml")}, "--max-error"),
        ({"share": "1%"}, "--max-error"),
        ({"confidence": "99%"}, "--max-error"),
        ({"store": Path("elsewhere"), "max_error": "70%"}, "--otherwise"),
        ({"workers": 2, "max_error": "70%"}, "--otherwise"),
        ({"new_rows": Path("rows.csv"), "max_error": "70%"}, "--otherwise"),
    ],
)
def test_options_that_need_another_are_refused_without(
    run: Run, option: dict[str, Any], needed: str
) -> None:
    with refused("commands.option_needs", needed=needed):
        run(**{"max_error": "", **option})


def test_a_lower_case_header_names_the_column(run: Run, scan: np.ndarray) -> None:
    with refused("data.no_column_but_close", name="m1", meant="M1"):
        run(text_of(scan, HEADER.replace("m1", "M1")), otherwise=Path("mine.yaml"))
    assert calls() == 0


def test_a_program_of_another_unit_is_refused(run: Run) -> None:
    write_program(output={**OUTPUT, "unit": "GeV"})
    with refused("data.unit_of_another_kind", where="mine.yaml: output: unit"):
        run(otherwise=Path("mine.yaml"))


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        (None, "surrogate.no_held_out"),
        ({"rows": 5}, "surrogate.too_few_held_out"),
        ({"error": np.ones(300)}, "surrogate.no_threshold"),
    ],
)
def test_a_surrogate_without_a_threshold_is_refused_before_the_program_runs(
    exported: SurrogateContent, dataset: Dataset, scan: np.ndarray, errors: Any, code: str
) -> None:
    content = exported if errors is None else with_errors(exported, **errors)
    write_surrogate(Path("s.nc"), content, dataset, {"verb": "export"})
    Path("points.csv").write_text(text_of(scan))
    given = {"max_error": "70%", "otherwise": Path("mine.yaml")}
    with refused(code):
        predict(Path("s.nc"), "points.csv", "out.csv", **given)  # type: ignore[arg-type]
    assert not Path("out.csv").exists()
    assert calls() == 0


def test_bundles_take_no_largest_error() -> None:
    with refused("commands.option_of_one", where="--max-error"):
        predict(Path("lhc"), "model.slha", max_error="1%")
