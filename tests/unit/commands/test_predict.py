"""Predictions of points in the formats of users, compared with those of the surrogate."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from nlobayes.artifacts.files import write_parquet
from nlobayes.commands.tools.predict import predict
from nlobayes.data.parquet_tables import to_arrow
from nlobayes.data.table_files import read_table
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Table
from tests.refusals import refused

INPUTS = ("m1", "n11", "n12", "n13", "n14")
HEADER = "m1:GeV,n11,n12,n13,n14"
COUNT = 23
SUMMARIES = ("mean", "median", "posterior_sd", "total_sd", "q16", "q84")
WHERE = ("domain", "reason")


@pytest.fixture(scope="module")
def surrogate(surrogate_path: Path) -> Surrogate:
    return Surrogate.load(surrogate_path)


@pytest.fixture(scope="module")
def scan() -> np.ndarray:
    """Points with masses of both signs; the last lies far outside."""
    rng = np.random.default_rng(8)
    mass = rng.uniform(100, 1000, COUNT) * rng.choice([-1, 1], COUNT)
    mixing = rng.normal(size=(COUNT, 4))
    mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
    found = np.column_stack([mass, mixing])
    found[-1] = [1e5, 0, 0, 1, 0]
    return found


Run = Callable[..., dict[str, np.ndarray]]


@pytest.fixture
def run(surrogate_path: Path, tmp_path: Path) -> Run:
    """Predict a CSV text, or a file, and read the output."""

    def run_(given: str | Path, **options: Any) -> dict[str, np.ndarray]:
        path = given if isinstance(given, Path) else tmp_path / "points.csv"
        if isinstance(given, str):
            path.write_text(given)
        predict(surrogate_path, str(path), str(tmp_path / "out.csv"), **options)
        return read_table(tmp_path / "out.csv").columns

    return run_


def text_of(scan: np.ndarray, header: str = HEADER) -> str:
    return "\n".join([header, *(",".join(map(repr, row)) for row in scan.tolist()), ""])


def test_what_is_written_is_what_the_surrogate_predicts(
    run: Run, surrogate: Surrogate, scan: np.ndarray, tmp_path: Path
) -> None:
    found = run(text_of(scan))
    expected = surrogate.predict(scan, quantiles=(0.16, 0.84))
    assert [*found] == ["row", *INPUTS, *(f"sigma_pb_{name}" for name in SUMMARIES), *WHERE]
    assert np.column_stack([found[name] for name in INPUTS]).tobytes() == scan.tobytes()
    assert found["row"].tolist() == [*range(1, COUNT + 1)]
    for name in SUMMARIES[:4]:
        assert np.array_equal(found[f"sigma_pb_{name}"], getattr(expected, name)), name
    assert np.array_equal([found["sigma_pb_q16"], found["sigma_pb_q84"]], expected.quantiles)
    assert found["domain"].tolist() == surrogate.domain(scan).tolist()
    units = read_table(tmp_path / "out.csv").units
    assert units == {
        **dict.fromkeys(found, ""),
        "m1": "GeV",
        **{f"sigma_pb_{name}": "pb" for name in SUMMARIES},
    }


@pytest.mark.parametrize("rows", [1, 5, 8192])
def test_the_size_of_blocks_and_the_order_of_rows_change_nothing(
    run: Run, scan: np.ndarray, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    whole = run(text_of(scan))
    monkeypatch.setattr("nlobayes.predicting.point_files.ROWS", rows)
    order = np.random.default_rng(2).permutation(COUNT)
    found = run(text_of(scan[order]))
    assert found["row"].tolist() == whole["row"].tolist()
    for name in [*INPUTS, *(f"sigma_pb_{name}" for name in SUMMARIES)]:
        np.testing.assert_allclose(found[name], whole[name][order], rtol=1e-6)
    assert found["domain"].tolist() == whole["domain"][order].tolist()


def test_units_of_inputs_are_those_of_their_header(run: Run, scan: np.ndarray) -> None:
    known = run(text_of(scan))
    in_tev = scan * [1e-3, 1, 1, 1, 1]
    for header, given in (
        (HEADER.replace(":GeV", ""), scan),
        ("m1:TeV,n11:1," + HEADER[11:], in_tev),
    ):
        found = run(text_of(given, header))
        for name in [*INPUTS, "sigma_pb_mean", "sigma_pb_q84"]:
            np.testing.assert_allclose(found[name], known[name], rtol=1e-6)
    with refused("data.unit_not_convertible", name="m1", unit="pb", requested="GeV"):
        run(text_of(scan, HEADER.replace("GeV", "pb")))


def test_the_target_is_given_in_another_unit_by_another_name(
    run: Run, scan: np.ndarray, tmp_path: Path
) -> None:
    known, found = run(text_of(scan)), run(text_of(scan), unit="fb", draws=2)
    for name in SUMMARIES:
        expected = known[f"sigma_pb_{name}"] * 1000
        np.testing.assert_allclose(found[f"sigma_fb_{name}"], expected, rtol=1e-12)
    units = read_table(tmp_path / "out.csv").units
    assert units["sigma_fb_mean"] == units["sigma_fb_draw_1"] == "fb"


def test_the_logarithm_is_given_where_it_was_learned(
    run: Run, scan: np.ndarray, surrogate: Surrogate, tmp_path: Path
) -> None:
    found = run(text_of(scan), scale="log10", quantiles="0.5")
    expected = surrogate.predict(scan, quantiles=(0.5,), on="model")
    assert np.array_equal(found["log10_sigma_pb_mean"], expected.mean)
    assert np.array_equal(found["log10_sigma_pb_q50"], expected.quantiles[0])
    assert read_table(tmp_path / "out.csv").units["log10_sigma_pb_mean"] == ""


def test_other_columns_are_kept_as_they_are(run: Run, tmp_path: Path) -> None:
    text = 'id,m1,n11,n12,n13,n14,note:x\n007,300,0.1,0.2,0.8,0.5,"a, b"\n'
    found = run(text, keep=["note", "id"])
    assert [*found][6:8] == ["note", "id"]
    assert found["note"].tolist() == ["a, b"]
    assert ',"a, b",007,' in (tmp_path / "out.csv").read_text()
    with refused("data.no_column", name="tag") as caught:
        run(text, keep=["tag"])
    assert caught.value.fields["known"][:2] == ["id", "m1"]
    with refused("artifacts.column_twice", column="n11"):
        run(text, keep=["n11"])


def test_jax_computes_the_same(run: Run, scan: np.ndarray) -> None:
    known, found = run(text_of(scan)), run(text_of(scan), engine="jax", draws=2)
    for name in SUMMARIES:
        np.testing.assert_allclose(found[f"sigma_pb_{name}"], known[f"sigma_pb_{name}"], rtol=1e-5)


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet"])
def test_formats_hold_the_same_points(
    run: Run, scan: np.ndarray, tmp_path: Path, ending: str
) -> None:
    known, path = run(text_of(scan)), tmp_path / f"again{ending}"
    if ending == ".parquet":
        columns = dict(zip(INPUTS, scan.T, strict=True))
        write_parquet(path, to_arrow(Table(columns, {"m1": "GeV"}, {})))
    else:
        path.write_bytes(gzip.compress(text_of(scan).encode()))
    found = run(path)
    assert all(np.array_equal(found[name], column) for name, column in known.items())


def test_a_folder_of_spectra_is_predicted_file_by_file(
    run: Run, surrogate: Surrogate, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    mixing = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    for number in range(3):
        masses = [300.0 + 10 * number, -400, 500, 600]
        (folder / f"p{number}.slha").write_text(spectrum(masses, mixing))
    found = run(folder)
    assert found["file"].tolist() == ["p0.slha", "p1.slha", "p2.slha"]
    scan = [[300.0 + 10 * number, *np.round(mixing[0], 8)] for number in range(3)]
    np.testing.assert_allclose(found["sigma_pb_mean"], surrogate.predict(scan).mean, rtol=1e-6)
    assert found.keys() == run(folder / "p1.slha").keys()
    (folder / "bad.slha").write_text("BLOCK MASS\n")
    with refused("commands.bad_point", where=folder, place="file bad.slha") as caught:
        run(folder, strict=True)
    assert "there is no block NMIX" in caught.value.fields["reason"]
    assert run(folder, skip_bad=True)["file"].tolist() == ["p0.slha", "p1.slha", "p2.slha"]


def spectrum(masses: list[float], mixing: np.ndarray) -> str:
    particles = zip((1000022, 1000023, 1000025, 1000035), masses, strict=True)
    lines = ["BLOCK MASS", *(f" {particle} {mass}" for particle, mass in particles), "BLOCK NMIX"]
    entries = [f" {i + 1} {j + 1} {mixing[i, j]:.8f}" for i in range(4) for j in range(4)]
    return "\n".join([*lines, *entries, ""])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("x,0,0,0,1", "column 'm1' holds 'x', no finite number"),
        ("300,0,0,0,nan", "column 'n14' holds 'nan', no finite number"),
        ("300,0,0,0", "4 cells where the header has 5"),
        ("0,0,0,0,1", "no such point can be predicted; allowed: finite inputs, |m| above 0"),
        ("300,1e200,0,0,0", "no such point can be predicted"),
    ],
)
def test_a_row_without_a_prediction_is_nan_refused_or_left_out(
    run: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    row: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nlobayes.predicting.point_files.ROWS", 2)
    text = "\n".join([HEADER, "300,0,0,0,1", "301,0,0,0,1", row, "303,0,0,0,1", ""])
    with refused("commands.bad_point", where=tmp_path / "points.csv", place="row 3") as caught:
        run(text, strict=True)
    assert reason in caught.value.fields["reason"]
    assert [path.name for path in tmp_path.iterdir()] == ["points.csv"]
    found = run(text, skip_bad=True)
    assert found["row"].tolist() == [1, 2, 4]
    assert found["m1"].tolist() == [300, 301, 303]
    warned = capsys.readouterr().err.splitlines()
    start = "nlobayes: warning: 1 of 4 points have no prediction"
    assert f"{start} (left out), the first: row 3: {reason}" in warned[2]
    whole = run(text)
    assert whole["row"].tolist() == [1, 2, 3, 4]
    assert np.isnan([whole[f"sigma_pb_{name}"][2] for name in SUMMARIES]).all()
    for name, column in found.items():
        assert np.array_equal(whole[name][[0, 1, 3]], column), name
    warned = capsys.readouterr().err.splitlines()
    assert f"{start} (columns domain, reason), the first: row 3: {reason}" in warned[2]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_no_rows_have_no_predictions(
    run: Run, surrogate_path: Path, tmp_path: Path, ending: str
) -> None:
    points, out = tmp_path / f"none{ending}", tmp_path / f"out{ending}"
    if ending == ".csv":
        points.write_text(f"{HEADER}\n")
    else:
        write_parquet(points, to_arrow(Table({name: np.empty(0) for name in INPUTS}, {}, {})))
    predict(surrogate_path, str(points), str(out))
    run(f"{HEADER}\n300,0,0,0,1\n")
    header = (tmp_path / "out.csv").read_text().splitlines()[0]
    if ending == ".csv":
        predict(surrogate_path, str(points), str(out))
        assert out.read_text().splitlines() == [header]
    else:
        assert pq.read_table(out).num_rows == 0


def test_warnings_count_what_is_not_inside_and_name_what_failed(
    run: Run, scan: np.ndarray, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = np.array(["inside"] * (COUNT - 5) + ["near edge"] * 3 + ["outside"] * 2)
    monkeypatch.setattr(Surrogate, "domain", lambda *_: flags)
    assert run(text_of(scan))["domain"].tolist() == flags.tolist()
    assert capsys.readouterr().err.splitlines() == [
        "nlobayes: sigma_pb of a table that states no process",
        "nlobayes: warning: calibration of this surrogate failed: coverage_95",
        f"nlobayes: warning: 2 of {COUNT} points lie outside the training data (columns "
        "domain, reason): neither their predictions nor the error bars can be trusted",
        f"nlobayes: warning: 3 of {COUNT} points lie near the edge of the training data "
        "(column domain): few rows test the errors there",
    ]


@pytest.mark.parametrize(
    ("options", "code", "fields"),
    [
        ({"quantiles": "16,84"}, "surrogate.no_probability", {"percent": 1600}),
        ({"quantiles": "0.5,0.5"}, "surrogate.quantile_twice", {"probability": 0.5}),
        ({"quantiles": "1e-12"}, "surrogate.beyond_table", {}),
        (
            {"unit": "GeV"},
            "data.unit_of_another_kind",
            {"where": "--unit", "unit": "pb", "requested": "GeV"},
        ),
        ({"unit": "barn"}, "data.unknown_unit", {"where": "--unit", "unit": "barn"}),
    ],
)
def test_numbers_and_units_that_cannot_be_are_refused(
    run: Run,
    scan: np.ndarray,
    tmp_path: Path,
    options: dict[str, Any],
    code: str,
    fields: dict[str, Any],
) -> None:
    with refused(code, **fields):
        run(text_of(scan), **options)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("options", "code", "fields"),
    [
        ({"quantiles": "0.5,x"}, "no_numbers", {"where": "--quantiles", "text": "0.5,x"}),
        ({"unit": "fb", "scale": "log10"}, "unit_of_log10", {}),
        ({"draws": 41}, "too_many_draws", {"requested": 41, "draws": 40}),
        ({"json": True}, "json_ending", {"where": "--out"}),
    ],
)
def test_options_that_cannot_be_are_refused(
    run: Run,
    scan: np.ndarray,
    tmp_path: Path,
    options: dict[str, Any],
    code: str,
    fields: dict[str, Any],
) -> None:
    with refused(f"commands.{code}", **fields):
        run(text_of(scan), **options)
    assert not (tmp_path / "out.csv").exists()


def test_what_is_read_is_not_written_over(
    surrogate_path: Path, scan: np.ndarray, tmp_path: Path
) -> None:
    path = tmp_path / "points.csv"
    path.write_text(text_of(scan))
    with refused("commands.out_is_read"):
        predict(surrogate_path, str(path), str(tmp_path / "." / "points.csv"))
    assert path.read_text() == text_of(scan)
    for name in ("out.txt", "out", "out.nc"):
        with refused("commands.predictions_ending", endings=[".csv", ".jsonl", ".parquet"]):
            predict(surrogate_path, str(path), str(tmp_path / name))


def nlobayes(*words: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Run the real command line."""
    command = [sys.executable, "-c", "from nlobayes.cli import main; main()"]
    return subprocess.Popen(
        [*command, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "error"},
        **options,
    )


def test_a_pipe_goes_in_and_out(surrogate_path: Path, scan: np.ndarray) -> None:
    out, err = nlobayes("predict", surrogate_path, "-", "--json").communicate(text_of(scan))
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["m1"] for row in rows] == scan[:, 0].tolist()
    assert rows[-1]["domain"] == "outside"
    assert err.count("\n") == 3
    out, _ = nlobayes("predict", surrogate_path, "-").communicate(text_of(scan))
    assert out.startswith("row,m1:GeV,n11,")
    assert len(out.splitlines()) == COUNT + 1


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_goes_away_ends_it_quietly(
    surrogate_path: Path, scan: np.ndarray, tmp_path: Path, form: list[str]
) -> None:
    path = tmp_path / "points.csv"
    path.write_text(text_of(np.tile(scan, (1500, 1))))
    with nlobayes("predict", surrogate_path, path, *form) as running:
        assert running.stdout
        assert running.stderr
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 1


MEASURED = """
import sys
from pathlib import Path
from nlobayes.commands.tools.predict import predict
predict(Path(sys.argv[1]), sys.argv[2], sys.argv[3], quantiles="")
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def peak_mb(surrogate: Path, points: Path, out: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, surrogate, points, out],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout) / 1024


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.by_day(1)
def test_memory_does_not_grow_with_the_table(
    surrogate_path: Path, scan: np.ndarray, tmp_path: Path, ending: str
) -> None:
    peaks = []
    for count in (20_000, 200_000):
        path = tmp_path / f"points{ending}"
        many = np.resize(scan[:-1], (count, 5))
        if ending == ".csv":
            path.write_text(text_of(many))
        else:
            write_parquet(path, to_arrow(Table(dict(zip(INPUTS, many.T, strict=True)), {}, {})))
        peaks.append(peak_mb(surrogate_path, path, tmp_path / "out.csv"))
        with (tmp_path / "out.csv").open() as file:
            assert sum(1 for _ in file) == count + 1
    assert peaks[1] < peaks[0] + 15, peaks


def test_rows_are_left_out_or_refused(run: Run) -> None:
    with refused("commands.skipped_or_refused"):
        run(f"{HEADER}\n300,0,0,0,1\n", skip_bad=True, strict=True)


def test_swapped_arguments_are_reported(
    surrogate_path: Path, scan: np.ndarray, tmp_path: Path
) -> None:
    """For a user's table the message names the order of arguments and does not advise deletion."""
    path = tmp_path / "mine.csv"
    path.write_text(text_of(scan))
    for points in (path, surrogate_path):
        with refused("commands.surrogate_comes_first", where=path) as caught:
            predict(path, str(points))
        assert "delete" not in caught.value.fields["reason"]
