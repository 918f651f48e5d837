"""Print the table of the runs that have been evaluated: scores never without convergence."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from nlobayes.artifacts.files import read_json
from nlobayes.assessment.tightness import TIGHT
from nlobayes.errors import InputError

CONVERGENCE = ("R-hat f med / p99", "ESS f min", "div.", "tau", "converged")
NUMBERS = ("RMSE", "R²", "95 % cov.", "sigma_z")
CLASSES = {"accuracy": ".4f", "lppd": ".4f", "ece": ".3f"}
"""Keys of the scores of classes, which are also their names."""

TITLES = {
    NUMBERS: "Test split, total uncertainty with fitted noise; RMSE in dex for cross sections",
    tuple(CLASSES): "Test split, classes; ece: expected calibration error",
}


def summary(
    metrics: Annotated[Path, typer.Option(help="Folder of the metrics.")] = Path("results/metrics"),
    report: Annotated[Path, typer.Option(help="Report to point to.")] = Path("report.html"),
) -> None:
    """Show every run's test scores beside R-hat and ESS, its baseline, and where the report is."""
    runs = sorted(path.parent for path in metrics.rglob("evaluation.json"))
    if not runs:
        raise InputError(f"no evaluation.json under {metrics}; run the workflow first")
    tables = {names: _table(names) for names in TITLES}
    for run in runs:
        evaluation = read_json(run / "evaluation.json", "test", "baseline")
        diagnostics = read_json(run / "diagnostics.json", "checks", "tightness")
        table = tables[tuple(CLASSES) if "accuracy" in evaluation["test"] else NUMBERS]
        table.add_row(*_posterior(str(run.relative_to(metrics)), evaluation["test"], diagnostics))
        table.add_row(*_baseline(evaluation["baseline"]), end_section=True)
    console = Console(width=None if Console().is_terminal else 160)
    for table in tables.values():
        if table.row_count:
            console.print(table)
    for path in sorted(metrics.glob("agreement/**/*.json")):
        console.print(_agreement(path, read_json(path, "pairs", "passed")))
    console.print(f"report: {report}" if report.exists() else "report: run `make report`")


def _table(names: tuple[str, ...]) -> Table:
    columns = (Column(name, overflow="fold") for name in ("run", *names, *CONVERGENCE))
    return Table(*columns, title=TITLES[names])


def _posterior(run: str, test: dict[str, Any], found: dict[str, Any]) -> tuple[str, ...]:
    failed = [name for name, check in found["checks"].items() if not check["passed"]]
    tau = found["tightness"]
    tightness = "-" if tau is None else f"{tau:.2g}" + (" (tight)" if tau > TIGHT else "")
    return (
        run,
        *_scores(test),
        f"{_number(found['rhat_f_median'], '.3f')} / {_number(found['rhat_f_p99'], '.3f')}",
        _number(found["ess_f_bulk_min"], ".0f"),
        str(found["divergences"]),
        tightness,
        ("[bold red]FAILED: " + ", ".join(failed) + "[/]" if failed else "yes")
        + ("" if found.get("exact", True) else " (not exact)"),
    )


def _baseline(baseline: dict[str, Any]) -> tuple[str, ...]:
    members = next(iter(baseline["members"].values()))
    name = f"  ensemble of its {len(members)} MAPs (members {min(members):.3f}-{max(members):.3f})"
    return (name, *_scores(baseline["test"]), *[""] * len(CONVERGENCE))


def _scores(test: dict[str, Any]) -> tuple[str, ...]:
    rmse, r2 = (
        ("rmse_log10", "r2_log10") if "r2_log10" in test else ("rmse_target", "r2_target_mean")
    )
    numbers = {rmse: ".4f", r2: ".4f", "coverage_95": ".3f", "sigma_z_total": ".3f"}
    forms = CLASSES if "accuracy" in test else numbers
    return tuple(_number(test[key], form) for key, form in forms.items())


def _agreement(path: Path, agreement: dict[str, Any]) -> str:
    said = "agree" if agreement["passed"] else "[bold red]DISAGREE[/]"
    found = [pair[key] for pair in agreement["pairs"] for key in ("z_mean_max", "z_sd_max")]
    worst = None if None in found else max(found)
    return f"samplers {said} on {path.stem}: largest |z| {_number(worst, '.1f')}, see {path}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
