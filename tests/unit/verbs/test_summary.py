"""The table of runs: every run, its baseline, and never a score without its convergence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.verbs.summary import summary

RUNS = (
    "embedded/n16/fan_in/tolerance_10/adam/hmc_check/s1",
    "embedded/n16/fan_in/tolerance_10/adam/nuts_check/s1",
    "embedded_full_thesis/n20x2/fan_in/tolerance_20/adam_full/hmc_full/s1234567",
)
SCORES = {"rmse_log10": 0.0309, "r2_log10": 0.9993, "coverage_95": 0.969, "sigma_z_total": 0.851}


def write_run(metrics: Path, run: str, **changes: Any) -> None:
    """Write the scores and the diagnostics of a run."""
    evaluation = {
        "test": SCORES,
        "baseline": {
            "test": {**SCORES, "rmse_log10": 0.0777},
            "members": {"rmse_log10_test": [0.041, 0.055]},
        },
    }
    diagnostics = {
        "rhat_f_median": 1.001,
        "rhat_f_p99": 1.007,
        "ess_f_bulk_min": 330.2,
        "divergences": 0,
        "tightness": 1e5,
        "checks": {"rhat_f_p99": {"passed": True}, "ebfmi_min": {"passed": True}},
    } | changes
    (metrics / run).mkdir(parents=True)
    (metrics / run / "evaluation.json").write_text(json.dumps(evaluation))
    (metrics / run / "diagnostics.json").write_text(json.dumps(diagnostics))


def shown(metrics: Path, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The cells of every row that is printed; a long name goes on in the next line."""
    summary(metrics, metrics / "report.html")
    rows: list[list[str]] = []
    for line in capsys.readouterr().out.splitlines():
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        if line.startswith("│") and cells[1]:
            rows.append(cells)
        elif line.startswith("│"):
            rows[-1] = [before + after for before, after in zip(rows[-1], cells, strict=True)]
    return rows


def test_every_run_is_shown_with_its_scores_and_its_convergence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for run in RUNS:
        write_run(tmp_path, run)
    rows = shown(tmp_path, capsys)
    assert [row[0] for row in rows[::2]] == sorted(RUNS)
    for row in rows[::2]:
        assert row[1:5] == ["0.0309", "0.9993", "0.969", "0.851"]
        assert row[5:] == ["1.001 / 1.007", "330", "0", "1e+05", "yes"]
    for row in rows[1::2]:
        assert row[0] == "ensemble of its 2 MAPs (members 0.041-0.055)"
        assert row[1] == "0.0777"
        assert row[5:] == [""] * 5


def test_classes_have_a_table_and_scores_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path, RUNS[0])
    write_run(tmp_path, "digits/s1")
    classes = {"accuracy": 0.963, "lppd": -0.2157, "ece": 0.1}
    evaluation = {
        "test": classes,
        "baseline": {"test": classes, "members": {"accuracy_test": [0.95, 0.96]}},
    }
    (tmp_path / "digits/s1/evaluation.json").write_text(json.dumps(evaluation))
    numbers, _, posterior, ensemble = shown(tmp_path, capsys)
    assert numbers[1:5] == ["0.0309", "0.9993", "0.969", "0.851"]
    assert posterior[:4] == ["digits/s1", "0.9630", "-0.2157", "0.100"]
    assert posterior[4:] == ["1.001 / 1.007", "330", "0", "1e+05", "yes"]
    assert ensemble[0] == "ensemble of its 2 MAPs (members 0.950-0.960)"


def test_failed_checks_and_tight_posteriors_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = {"rhat_f_p99": {"passed": False}, "ebfmi_min": {"passed": True}}
    write_run(tmp_path, RUNS[0], checks=checks, tightness=6e5)
    write_run(tmp_path, RUNS[1])
    failed, _, passed, _ = shown(tmp_path, capsys)
    assert failed[-2:] == ["6e+05 (tight)", "FAILED: rhat_f_p99"]
    assert passed[-2:] == ["1e+05", "yes"]


def test_what_does_not_exist_is_a_dash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path, RUNS[0], rhat_f_median=None, rhat_f_p99=None)
    assert shown(tmp_path, capsys)[0][5] == "- / -"


@pytest.mark.parametrize(
    ("z", "passed", "said"),
    [
        (3.4, True, "samplers agree on s1: largest |z| 3.4"),
        (None, False, "samplers DISAGREE on s1"),
    ],
)
def test_agreements_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], z: float | None, passed: bool, said: str
) -> None:
    write_run(tmp_path, RUNS[0])
    (tmp_path / "agreement/check").mkdir(parents=True)
    verdict = {"pairs": [{"z_mean_max": 1.0, "z_sd_max": z}], "passed": passed}
    (tmp_path / "agreement/check/s1.json").write_text(json.dumps(verdict))
    summary(tmp_path, tmp_path / "report.html")
    assert said in capsys.readouterr().out


def test_a_report_is_pointed_to_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path, RUNS[0])
    summary(tmp_path, tmp_path / "report.html")
    assert "report: run `make report`" in capsys.readouterr().out
    (tmp_path / "report.html").write_text("")
    summary(tmp_path, tmp_path / "report.html")
    assert "report.html" in capsys.readouterr().out


@pytest.mark.parametrize("folder", ["nothing", "."])
def test_without_runs_there_is_nothing_to_show(tmp_path: Path, folder: str) -> None:
    with pytest.raises(InputError, match=r"no evaluation\.json under .*; run the workflow first"):
        summary(tmp_path / folder, tmp_path / "report.html")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("diagnostics", None, "as JSON: .* make it again"),
        ("diagnostics", '{"checks": {}}', r"lacks \['tightness'\]"),
        ("evaluation", "[]", "holds no JSON object"),
    ],
)
def test_scores_are_never_shown_without_their_diagnostics(
    tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    write_run(tmp_path, RUNS[0])
    path = tmp_path / RUNS[0] / f"{name}.json"
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=said):
        summary(tmp_path, tmp_path / "report.html")


def test_a_failed_check_is_red_and_a_passed_one_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    write_run(tmp_path, RUNS[0], checks={"rhat_f_p99": {"passed": False}})
    write_run(tmp_path, RUNS[1])
    summary(tmp_path, tmp_path / "report.html")
    printed = capsys.readouterr().out
    assert "\x1b[1;31mFAILED: rhat_f_p99" in printed
    assert printed.count("\x1b[1;31m") == 1


def test_a_target_that_is_no_cross_section_shows_its_own_rmse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path, RUNS[0])
    path = tmp_path / RUNS[0] / "evaluation.json"
    test = {"rmse_target": 0.25, "r2_target_mean": 0.5, "coverage_95": 0.9, "sigma_z_total": 1.1}
    members = {"rmse_target_test": [0.3, 0.4]}
    path.write_text(json.dumps({"test": test, "baseline": {"test": test, "members": members}}))
    run, baseline = shown(tmp_path, capsys)
    assert run[1:3] == ["0.2500", "0.5000"]
    assert "members 0.300-0.400" in baseline[0].replace("  ", " ")
