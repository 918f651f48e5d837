"""Print a table of finished runs, their verdicts in words, and the next steps."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from nlobayes.artifacts.files import read_json
from nlobayes.errors import InputError
from nlobayes.reporting import finished
from nlobayes.reporting.bought import earlier_rounds, lines_of
from nlobayes.reporting.columns import RED
from nlobayes.reporting.landing_page import landing_page
from nlobayes.reporting.renderers import in_terminal, wide_console
from nlobayes.reporting.run_tables import further_tables, summary_table
from nlobayes.study.jobs_of_runs import SummaryJob
from nlobayes.study.labels import DEFAULT_STUDY, labels, read_whole_study, shortened
from nlobayes.study.read_jobs import read_job
from nlobayes.untyped import Facts

MOST_SURROGATES = 8


def summary(
    grids: Annotated[
        list[str] | None, typer.Argument(metavar="GRID", help="Grids to show; without, all runs.")
    ] = None,
    metrics: Annotated[Path, typer.Option(help="Folder of the metrics.")] = Path("results/metrics"),
    report: Annotated[Path, typer.Option(help="Report to point to.")] = Path("report.html"),
    configfile: Annotated[
        list[Path] | None, typer.Option(help="Study of the grids, as it was given to Snakemake.")
    ] = None,
    spec: Annotated[
        str | None, typer.Option(help="Runs to show and their labels: JSON text or a file.")
    ] = None,
    rst: Annotated[bool, typer.Option(help="Print the landing page of the report.")] = False,
) -> None:
    """Print for every run test scores, convergence and verdict, then the next steps."""
    named = read_job(SummaryJob, spec).runs if spec else _named(metrics, grids, configfile or [])
    runs = finished.read_finished(metrics, named)
    if rst:
        typer.echo(landing_page(runs))
        return
    console = wide_console()
    _show_tables(console, runs)
    _show_verdicts(console, runs)
    _show_agreements(console, metrics, named)
    datasets = [path.split("/")[0] for path in named]
    for line in lines_of(metrics.parent, dict.fromkeys(datasets)):
        _line(console, line)
    earlier = earlier_rounds(metrics.parent, datasets)
    to_use = [run for run, name in zip(runs, datasets, strict=True) if name not in earlier]
    _show_next(console, to_use, _place_of(report, [metrics / run for run in named]))


def _named(metrics: Path, grids: Sequence[str] | None, changes: Sequence[Path]) -> dict[str, str]:
    """Label the finished runs of some grids, or of all if no grid is named."""
    there = (path.parent.relative_to(metrics) for path in metrics.rglob("evaluation.json"))
    found = {folder.as_posix() for folder in there}
    if not found:
        raise InputError("commands.no_evaluation", folder=metrics)
    known = _labels(grids, changes)
    named = {path: label for path, label in known.items() if path in found}
    if grids and not named:
        raise InputError(
            "commands.no_finished_run", grids=grids, command=" ".join(["snakemake", *grids])
        )
    return named if grids else named | shortened(sorted(found - {*named}))


def _labels(grids: Sequence[str] | None, changes: Sequence[Path]) -> dict[str, str]:
    """Label the runs of the study; none outside of a project, which has no study."""
    if not (grids or changes or DEFAULT_STUDY.is_file()):
        return {}
    study = read_whole_study(changes)
    unknown = [grid for grid in grids or [] if grid not in study.grids]
    if unknown:
        raise InputError("commands.unknown_grid", grid=unknown[0], known=[*study.grids])
    return labels(study, grids or None)


def _show_tables(console: Console, runs: Sequence[finished.FinishedRun]) -> None:
    for of_classes in (False, True):
        if alike := [run for run in runs if run.is_of_classes == of_classes]:
            table = summary_table(alike, of_classes)
            console.print(in_terminal(table, console.width))
            console.print(table.note, style="dim")
    for table in further_tables(runs):
        console.print()
        console.print(in_terminal(table, console.width))
        if table.note:
            console.print(table.note, style="dim")


def _show_verdicts(console: Console, runs: Sequence[finished.FinishedRun]) -> None:
    """Print the failed checks in words, with values and limits, and then the next steps."""
    console.print()
    for label, failure in finished.failures(runs).items():
        _line(console, f"{failure.headline}: {label}", RED)
        for line in failure.failed:
            _line(console, f"  {line}", "red")
    for step in finished.steps_of(runs):
        _line(console, f"  {step}")
    for line in finished.stackings(runs):
        _line(console, line)
    _line(console, finished.count_passed(runs), "bold")


def _line(console: Console, text: str, style: str = "") -> None:
    """Print a text; long lines are wrapped and indented."""
    for line in wrap(text, console.width, subsequent_indent=" " * 8, break_long_words=False):
        console.print(Text(line, style), soft_wrap=True)


def _show_agreements(console: Console, metrics: Path, named: Mapping[str, str]) -> None:
    """Print whether the samplers of the shown runs agree."""
    paths = sorted((metrics / "agreement").rglob("*.json"))
    short = shortened(path.relative_to(metrics / "agreement").as_posix() for path in paths)
    for path, name in zip(paths, short.values(), strict=True):
        agreement = read_json(path, "pairs", "passed")
        shown = f"{agreement['pairs']}"
        if any(run in shown for run in named):
            text, style = _agreement(name.removesuffix(".json"), agreement)
            _line(console, text, style)


def _agreement(name: str, agreement: Facts) -> tuple[str, str]:
    found = [pair[key] for pair in agreement["pairs"] for key in ("z_mean_max", "z_sd_max")]
    worst = "not finite" if None in found else f"{max(found):.1f}"
    limit = min(pair["threshold"] for pair in agreement["pairs"])
    verdict = "agree" if agreement["passed"] else "DISAGREE"
    text = f"samplers of {name}: largest |z| {worst}, limit {limit:.1f}: they {verdict}"
    return text, "" if agreement["passed"] else RED


def _place_of(report: Path, runs: Sequence[Path]) -> str:
    """Name the report and the command that writes it, if it is missing or older than a result."""
    writes = "make report" if Path("Makefile").exists() else f"snakemake --report {report}"
    if not report.exists():
        return f"run `{writes}`"
    newest = max((folder / "evaluation.json").stat().st_mtime for folder in runs)
    if report.stat().st_mtime < newest:
        return f"{report}, older than these results; `{writes}` writes it again"
    return f"{report}"


def _show_next(console: Console, runs: Sequence[finished.FinishedRun], report: str) -> None:
    """Print the paths of surrogates and report, and commands to copy that use them."""
    for process, names in finished.identities(runs).items():
        _line(console, f"surrogates of {', '.join(names)} are of {process}")
    shown = finished.example(run for run in runs if run.surrogate)
    command = finished.program()
    lines = ["", *_surrogates(runs)]
    if shown is not None:
        lines += [
            f"next: {command} predict {shown.surrogate} points.csv -o out.csv",
            f"      {command} serve {shown.surrogate}",
        ]
    for line in [*lines, f"report: {report}"]:
        console.print(Text(line), soft_wrap=True)


def _surrogates(runs: Sequence[finished.FinishedRun]) -> list[str]:
    written = [run for run in runs if run.surrogate]
    if len(written) > MOST_SURROGATES:
        return [f"surrogates of {len(written)} runs: below results/surrogates, by their paths"]
    return [f"surrogate of {run.label}: {run.surrogate}" for run in written]
