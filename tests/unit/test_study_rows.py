"""Rows of studies: what a finished run gives, what is kept, and how runs are compared."""

import json
from pathlib import Path

import pytest

from benchmarks import study_rows
from benchmarks.study_rows import compare, cpu_seconds, row_of, runs_of, write
from benchmarks.tables import read_rows
from tests.documented import ROOT

RUN, GRID = next(iter(runs_of("wine").items()))
SCORES = {"rmse_target": 0.5, "lppd": -1.0, "monte_carlo_error": {"lppd": 0.02}}


def finish(run: str, **scores: object) -> None:
    """Write what the workflow writes of a finished run."""
    folder = study_rows.METRICS / run
    folder.mkdir(parents=True, exist_ok=True)
    record = study_rows.RECORDS / f"{run}.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    checks = {"rhat_f": {"value": 1.2, "threshold": 1.01, "passed": False}}
    diagnostics = {"converged": False, "checks": checks, "rhat_f": 1.2, "chains": 4}
    (folder / "diagnostics.json").write_text(json.dumps(diagnostics))
    (folder / "evaluation.json").write_text(json.dumps({"test": SCORES | scores}))
    record.write_text(json.dumps({"code_digest": "c0de"}))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose results are elsewhere, with one finished run."""
    monkeypatch.chdir(ROOT)
    for name in ("METRICS", "RECORDS", "TIMINGS", "ROWS"):
        monkeypatch.setattr(study_rows, name, tmp_path / name.lower())
    finish(RUN)
    return tmp_path


def test_a_row_says_what_a_run_gave(project: Path) -> None:
    row = row_of(RUN, GRID)
    expected = {"run": RUN, "grid": GRID, "converged": "no", "failed": "rhat_f", "rhat_f": "1.2"}
    expected |= {"lppd": "-1", "lppd ±": "0.02", "rmse_target": "0.5", "rmse_target ±": ""}
    expected |= {"chains": "4", "accuracy": "", "code": "c0de", "cpu_s": "0"}
    assert {name: row[name] for name in expected} == expected
    assert "/".join(row[name] for name in (*study_rows.CROSSED, "seed")) == RUN
    assert len(row["digest"]) == 16


def test_rows_of_runs_that_are_gone_are_kept(project: Path) -> None:
    """A later call replaces the rows of runs that are finished, and no others."""
    write("wine")
    (kept,) = read_rows(project / "rows/wine.csv")
    (study_rows.METRICS / RUN / "evaluation.json").unlink()
    other = next(run for run in runs_of("wine") if run != RUN)
    finish(other, lppd=-3.0)
    write("wine")
    rows = {row["run"]: row for row in read_rows(project / "rows/wine.csv")}
    assert rows[RUN] == kept
    assert rows[other]["lppd"] == "-3"


@pytest.mark.parametrize(
    ("lppd", "verdict"),
    [
        (-1.0, "equal"),
        (-1.11, "agrees within Monte-Carlo errors"),
        (-1.12, "differs: lppd -1.12, stored -1"),
    ],
)
def test_a_run_agrees_within_four_errors(project: Path, lppd: float, verdict: str) -> None:
    """Each has an error of 0.02, the difference of 0.0283: the limit is 0.113."""
    stored = row_of(RUN, GRID)
    finish(RUN, lppd=lppd)
    assert compare(stored, row_of(RUN, GRID)) == verdict


def test_a_score_without_an_error_agrees_by_its_digits_alone(project: Path) -> None:
    stored = row_of(RUN, GRID)
    finish(RUN, rmse_target=0.5001)
    assert compare(stored, row_of(RUN, GRID)) == "differs: rmse_target 0.5001, stored 0.5"
    assert compare({**stored, "converged": "yes"}, row_of(RUN, GRID)).startswith(
        "differs: converged no, stored yes"
    )


def test_cpu_seconds_are_those_of_the_jobs_of_a_run(project: Path) -> None:
    """Its dataset, its MAPs and its chains count; another seed and another sampler do not."""
    *presets, seed = RUN.split("/")
    model = "/".join(presets[:-1])
    files = {
        f"prepare/{presets[0]}.tsv": 1,
        f"pretrain/{model}/{seed}/0.tsv": 2,
        f"draw/{RUN}/0/1.tsv": 4,
        f"evaluate/{RUN}.tsv": 8,
        f"pretrain/{model}/s99/0.tsv": 16,
        f"evaluate/{model}/other/{seed}.tsv": 32,
    }
    for name, seconds in files.items():
        path = study_rows.TIMINGS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tcpu_time\n1\t{seconds}\n")
    assert cpu_seconds(RUN) == 15


def test_every_stored_row_is_of_its_study() -> None:
    """With the columns that are written today, so that `check` can compare it."""
    for path in (ROOT / study_rows.ROWS).glob("*.csv"):
        runs = runs_of(path.stem)
        assert [row["run"] for row in read_rows(path) if row["run"] not in runs] == []
        assert {*study_rows.SCORES} <= {*read_rows(path)[0]}
