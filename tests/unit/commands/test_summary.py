"""The summary: every run with its scores, convergence, verdict and next steps."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from docutils.core import publish_parts  # type: ignore[import-untyped]

from nlobayes.checks import CALIBRATION, CONVERGENCE
from nlobayes.commands.tools.summary import summary
from tests.refusals import refused

RUNS = (
    "embedded_k/n16/fan_in/tolerance_10/adam/hmc_check/s1",
    "embedded_k/n16/fan_in/tolerance_10/adam/nuts_check/s1",
    "embedded_k/n32/fan_in/tolerance_3_5/adam/hmc_k/s1",
)
LABELS = ("check hmc_check", "check nuts_check", "quickstart")
"""Labels of these runs in the default study."""
OTHERS = ("mine/n8/fan_in/tolerance_10/adam/hmc/s1", "mine/n8/fan_in/tolerance_10/adam/hmc/s2")
TEST = {"rmse_log10": 0.0309, "r2_log10": 0.9993, "coverage_68": 0.695, "coverage_95": 0.963}
CLASSES = {"accuracy": 0.963, "lppd": -0.2157, "ece": 0.1}
PASSED = {"value": 1.001, "threshold": 1.05, "passed": True}
UNCONVERGED = {"value": 1.19, "threshold": 1.05, "passed": False}
UNCALIBRATED = {"value": 0.0021, "low": None, "high": 0.0, "passed": False}


def write_run(
    metrics: Path,
    run: str,
    test: dict[str, Any] = TEST | {"lppd": 2.4},
    calibration: dict[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Write the scores and the diagnostics of a run, and a surrogate."""
    score = next(iter(test))
    members = {f"{score}_test": [0.041, 0.055]}
    evaluation = {
        "test": test,
        "baseline": {"test": {**test, score: 0.0777}, "members": members},
        "calibration_checks": calibration or {},
        "scored_draws": {"ess_scored_min": 241.4},
    }
    diagnostics = {
        "rhat_f": 1.007,
        "ess_f": 330.2,
        "divergences": 0,
        "tightness": 1e5,
        "checks": {"rhat_f": PASSED},
    } | changes
    surrogate = metrics.parent / "surrogates" / f"{run}.nc"
    for folder in (metrics / run, surrogate.parent):
        folder.mkdir(parents=True, exist_ok=True)
    surrogate.touch()
    (metrics / run / "evaluation.json").write_text(json.dumps(evaluation))
    (metrics / run / "diagnostics.json").write_text(json.dumps(diagnostics))


@pytest.fixture
def metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the metrics of some results; the default study is that of the project."""
    monkeypatch.chdir(Path(__file__).parents[3])
    return tmp_path / "results/metrics"


@pytest.fixture
def printed_summary(
    metrics: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Print a summary in some width, and return its lines."""

    def printed(*grids: str, width: int = 160, **options: Any) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        summary([*grids], metrics, metrics / "report.html", **options)
        return capsys.readouterr().out.splitlines()

    return printed


def row(lines: list[str], label: str) -> list[str]:
    """Return the cells of the first line that begins with a label."""
    (first, *_) = [line for line in lines if line.startswith(f"{label} ")]
    return first.removeprefix(label).split()


def test_every_run_is_shown_by_its_grid_with_scores_and_convergence(
    metrics: Path, printed_summary: Any
) -> None:
    for run in RUNS:
        write_run(metrics, run)
    lines = printed_summary()
    for label in LABELS:
        scores = ["0.0309", "0.9993", "69.5%", "96.3%", "2.400"]
        assert row(lines, label) == [*scores, "1.007", "241", "0", "1e+05", "yes", "yes"]
    ensembles = [line.split() for line in lines if "MAPs" in line]
    assert [cells[:4] for cells in ensembles] == 3 * [["2", "MAPs", "(0.041-0.055)", "0.0777"]]
    assert f"3 of 3 runs converged and are calibrated: {', '.join(LABELS)}" in lines


def test_the_shipped_study_is_known_by_its_grids_and_others_by_what_differs(
    metrics: Path, printed_summary: Any
) -> None:
    for run in (*RUNS, *OTHERS):
        write_run(metrics, run)
    lines = printed_summary()
    order = [line.split("  ")[0] for line in lines if "1e+05" in line]
    assert order == [*LABELS, "mine s1", "mine s2"]


@pytest.mark.parametrize(
    ("grid", "code", "fields"),
    [
        ("sharp", "no_finished_run", {"grids": ["sharp"], "command": "snakemake sharp"}),
        ("chek", "unknown_grid", {"grid": "chek"}),
    ],
)
def test_a_grid_without_runs_is_refused(
    metrics: Path, printed_summary: Any, grid: str, code: str, fields: dict[str, Any]
) -> None:
    write_run(metrics, RUNS[0])
    with refused(f"commands.{code}", **fields):
        printed_summary(grid)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_nothing_is_wider_than_the_terminal_but_what_is_to_be_copied(
    metrics: Path, printed_summary: Any, width: int
) -> None:
    """Limits, verdict and label are never left out."""
    for run in RUNS:
        checks = {name: UNCONVERGED for name in CONVERGENCE}
        write_run(metrics, run, checks=checks, calibration=dict.fromkeys(CALIBRATION, UNCALIBRATED))
    lines = printed_summary(width=width)
    wide = [line for line in lines if len(line) > width]
    assert all("results/surrogates" in line for line in wide)
    assert all(row(lines, label)[-2:] == ["NO", "NO"] for label in LABELS)


def test_classes_have_a_table_and_scores_of_their_own(metrics: Path, printed_summary: Any) -> None:
    write_run(metrics, RUNS[0])
    write_run(metrics, "digits/s1", CLASSES)
    lines = printed_summary()
    assert row(lines, LABELS[0])[0] == "0.0309"
    assert row(lines, "digits")[:3] == ["0.9630", "-0.216", "0.100"]
    assert any(line.startswith("RMSE in dex") for line in lines)
    assert any(line.startswith("accuracy, log score") for line in lines)


def test_failed_convergence_is_printed_with_limits_and_next_steps(
    metrics: Path, printed_summary: Any
) -> None:
    write_run(metrics, RUNS[0], checks={"rhat_f": UNCONVERGED}, tightness=6e5)
    write_run(metrics, RUNS[1])
    lines = printed_summary()
    assert row(lines, LABELS[0])[-4:] == ["6e+05", "(tight)", "NO", "yes"]
    at = lines.index("NOT CONVERGED, calibrated: check hmc_check")
    assert lines[at + 1] == "  R-hat of f: 1.19, must be at most 1.05"
    assert lines[at + 2].startswith("  next: Take a larger tolerance (likelihood)")
    assert "1 of 2 runs converged and are calibrated: check nuts_check" in lines


def test_a_failed_calibration_shows_as_well(metrics: Path, printed_summary: Any) -> None:
    write_run(metrics, RUNS[0], calibration={"pit_ecdf": UNCALIBRATED})
    lines = printed_summary()
    assert row(lines, LABELS[0])[-2:] == ["yes", "NO"]
    at = lines.index("converged, NOT CALIBRATED: check hmc_check")
    assert lines[at + 1] == "  PIT beyond its band: 0.0021, must be at most 0"
    assert "validation rows" in lines[at + 2]


@pytest.mark.parametrize(
    ("z", "passed", "expected"),
    [
        (4.21, True, "samplers of check: largest |z| 4.2, limit 4.9: they agree"),
        (None, False, "samplers of check: largest |z| not finite, limit 4.9: they DISAGREE"),
    ],
)
def test_agreements_are_shown_with_their_limit(
    metrics: Path, printed_summary: Any, z: float | None, passed: bool, expected: str
) -> None:
    for run in RUNS:
        write_run(metrics, run)
    path = metrics / "agreement/check/embedded_k/n16/fan_in/tolerance_10/adam/s1.json"
    path.parent.mkdir(parents=True)
    posteriors = [f"results/posterior/{run}.nc" for run in RUNS[:2]]
    pair = {"posteriors": posteriors, "z_mean_max": 1.0, "z_sd_max": z, "threshold": 4.89}
    path.write_text(json.dumps({"pairs": [pair], "passed": passed}))
    assert expected in printed_summary()
    assert not any(line.startswith("methods") for line in printed_summary("quickstart"))


def test_surrogates_and_the_next_command_can_be_copied(metrics: Path, printed_summary: Any) -> None:
    """The last run that passed its checks is the example; no path is wrapped."""
    for run in RUNS:
        write_run(metrics, run)
    write_run(metrics, RUNS[2], checks={"rhat_f": UNCONVERGED})
    lines, folder = printed_summary(width=80), metrics.parent / "surrogates"
    assert f"surrogate of quickstart: {folder / RUNS[2]}.nc" in lines
    assert f"next: nlobayes predict {folder / RUNS[1]}.nc points.csv -o out.csv" in lines
    assert any(line.endswith(f"nlobayes serve {folder / RUNS[1]}.nc") for line in lines)


@pytest.mark.parametrize(
    ("name", "content", "code", "fields"),
    [
        ("diagnostics", None, "artifacts.not_json", {}),
        ("diagnostics", '{"checks": {}}', "artifacts.no_key", {"missing": ["tightness"]}),
        ("evaluation", "[]", "artifacts.no_json_object", {}),
    ],
)
def test_scores_are_never_shown_without_their_diagnostics(
    metrics: Path,
    printed_summary: Any,
    name: str,
    content: str | None,
    code: str,
    fields: dict[str, Any],
) -> None:
    write_run(metrics, RUNS[0])
    path = metrics / RUNS[0] / f"{name}.json"
    path.unlink()
    if content is not None:
        path.write_text(content)
    with refused(code, path=path, **fields):
        printed_summary()


def test_the_landing_page_of_the_report_is_the_same_verdict(
    metrics: Path, printed_summary: Any
) -> None:
    """Parsed by docutils: no warning, a table with a row per run, and the failed checks."""
    docutils = pytest.importorskip("docutils.core")
    write_run(metrics, RUNS[0], calibration={"pit_ecdf": UNCALIBRATED})
    write_run(metrics, RUNS[2])
    text = "\n".join(printed_summary(rst=True))
    strict = {"halt_level": 2, "report_level": 2}
    page = docutils.publish_parts(text, writer="html", settings_overrides=strict)["body"]
    assert page.count("<tr>") == 1 + 2
    assert "1 of 2 runs converged and are calibrated" in page
    assert "converged, NOT CALIBRATED" in page
    assert "PIT beyond its band: 0.0021, must be at most 0" in page
    assert f"{RUNS[2]}.nc" in page


def test_groups_of_test_rows_have_a_table_below(metrics: Path, printed_summary: Any) -> None:
    """A group of too few rows has no scores; without groups there is no table."""
    errors = {"relative_error_p50": 0.0019, "relative_error_p95": 0.01}
    group = TEST | {"lppd": 3.1, "points": 535} | errors
    groups = {"recovered": group, "imputed": "12 rows, scores of a group need 30 or more"}
    write_run(metrics, RUNS[0], TEST | {"lppd": 2.4, "groups": groups})
    write_run(metrics, RUNS[1])
    lines = printed_summary()
    (first,) = [line.split() for line in lines if "recovered" in line]
    scores = ["0.0309", "0.9993", "69.5%", "96.3%", "3.100"]
    assert first == [*LABELS[0].split(), "recovered", "535", "0.19", "%", "1", "%", *scores]
    assert not any("imputed" in line for line in lines)
    page = "\n".join(printed_summary(rst=True))
    assert "Test rows in groups" in page
    assert "recovered" in page


def with_rivals(metrics: Path, run: str) -> None:
    """Write a run with a rival whose seconds are kept, and one whose library is missing."""
    write_run(metrics, run)
    path = metrics / run / "evaluation.json"
    errors = {"relative_error_p50": 3e-6, "relative_error_p95": 1.4e-4, "crps": 1.2e-5}
    rivals = {
        "gp_matern": {
            "test": TEST | {"rmse_log10": 4.4e-5, "lppd": 9.69} | errors,
            "facts": {"rows": 1000, "train_rows": 1000},
        },
        "boosted_trees": {"missing": "sklearn"},
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | {"rivals": rivals}))
    timing = metrics.parents[1] / "timings/rivals/embedded_k/gp_matern.json"
    timing.parent.mkdir(parents=True, exist_ok=True)
    timing.write_text(json.dumps({"fit": 16.3, "predict_1": 0.001, "predict_4096": 0.42}))
    job = metrics.parents[1] / "timings/rival/embedded_k/gp_matern.tsv"
    job.parent.mkdir(parents=True, exist_ok=True)
    job.write_text("s\tcpu_time\tmax_rss\n20.0\t19.0\t402.7\n")


def test_rivals_stand_below_their_run_with_what_they_took(
    metrics: Path, printed_summary: Any
) -> None:
    with_rivals(metrics, RUNS[2])
    lines = printed_summary()
    at = next(place for place, line in enumerate(lines) if line.startswith("Rivals on the same"))
    (own,) = [line.split() for line in lines[at:] if "this run" in line]
    assert own[:3] == ["quickstart", "this", "run"]
    assert "0.0309" in own
    (process,) = [line.split() for line in lines[at:] if "gp_matern" in line]
    errors = ["0.0003", "%", "0.014", "%"]
    cost = ["16.3", "1", "0.42", "403"]
    assert process[1:12] == ["gp_matern", *cost, *errors, "1.2e-05", "4.4e-05"]
    assert "9.690" in process
    below = "".join(lines[at:]).replace(" ", "")
    assert "boosted_treesneedsscikit-learn:`pipinstall'nlobayes[rivals]'`" in below
    page = "\n".join(printed_summary(rst=True))
    assert "gp\\_matern" in page
    assert "Rivals on the same rows" in page


SIZE = {"mode": 3.0, "low_90": 2.0, "high_90": 6.0, "rhat": 1.0204, "ess_bulk": 310.4}
VISITS = {"tried": [0, 30, 10], "acceptance": [None, 0.1, 0.3]}
ARCHITECTURE = {
    "width_1": {**SIZE, "visits": VISITS},
    "parameters": {**SIZE, "mode": 13.0, "rhat": None},
    "jumps": {
        "prior_1": {"tried": 40, "acceptance": 0.2},
        "split_1": {"tried": 0, "acceptance": None},
        "between_sizes": 0.1,
    },
}


def test_sizes_that_were_drawn_have_a_table_below(metrics: Path, printed_summary: Any) -> None:
    write_run(metrics, RUNS[0], architecture=ARCHITECTURE)
    write_run(metrics, RUNS[1])
    lines = printed_summary()
    (width,) = [line.split() for line in lines if "units of hidden layer 1" in line]
    assert " ".join(width[2:]) == "units of hidden layer 1 3 2 to 6 1.020 310 15.00%"
    (parameters,) = [line.split() for line in lines if "parameters in use" in line]
    assert parameters[-3:] == ["none", "310", "20.00%"]
    assert "Sizes of networks that were drawn" in "\n".join(printed_summary(rst=True))


def test_coverage_of_every_target_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If one network learned several targets; also on the landing page of the report."""
    metrics = tmp_path / "metrics"
    write_run(metrics, OTHERS[0])
    path = metrics / OTHERS[0] / "evaluation.json"
    evaluation = json.loads(path.read_text())
    scores = {"rmse_log10": 0.00011, "relative_error_p50": 0.0123, "coverage_68": 0.6123}
    evaluation["outputs"] = {
        "sigma_pb": {"test": TEST | {"lppd": 2.4}},
        "scale_up_over_sigma_pb": {"test": scores | {"coverage_95": None}},
    }
    path.write_text(json.dumps(evaluation))
    for rst in (False, True):
        summary(metrics=metrics, rst=rst)
        text = capsys.readouterr().out.replace("\\_", "_")
        assert "Targets that one network learned" in text
        for cell in ("scale_up_over_sigma_pb", "0.00011", "1.2 %", "61.2%", "none", "0.0309"):
            assert cell in text


@pytest.mark.parametrize("folder", ["nothing", "."])
def test_without_runs_there_is_nothing_to_show(tmp_path: Path, folder: str) -> None:
    with refused("commands.no_evaluation", folder=tmp_path / folder):
        summary(None, tmp_path / folder)


def test_the_landing_page_shows_the_overview_of_the_last_run_that_passed(
    metrics: Path, printed_summary: Any
) -> None:
    images = [f"<svg>{name * 9000}</svg>".encode() for name in ("first", "second")]
    for run, image in zip(RUNS[:2], images, strict=True):
        write_run(metrics, run)
        path = metrics.parent / "figures" / run / "overview.svg"
        path.parent.mkdir(parents=True)
        path.write_bytes(image)
    write_run(metrics, RUNS[2], calibration={"pit_ecdf": UNCALIBRATED})
    page = "\n".join(printed_summary(rst=True))
    html = publish_parts(page, writer="html", settings_overrides={"halt_level": 2})["body"]
    assert f"base64,{b64encode(images[1]).decode()}" in "".join(html.split())
    assert page.index("In short:") < page.index("base64") < page.index("Converged?")
