"""Fit a table by one command: from a CSV or parquet file to a surrogate with error bars."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from nlobayes.artifacts.files import check_place, write_bytes, write_text
from nlobayes.data.processes import name_of, neutralino_pair
from nlobayes.data.tables import read_table
from nlobayes.diagnostics import in_words
from nlobayes.errors import InputError, one_line
from nlobayes.fitting.fits import Fitted, fit_best
from nlobayes.fitting.map_errors import MapErrors
from nlobayes.fitting.recipes import AUTO
from nlobayes.fitting.studies import (
    Choices,
    Configuration,
    Preset,
    attempts,
    by_snakemake,
    configure,
    in_yaml,
    name_of_dataset,
    plan_of,
)
from nlobayes.fitting.tables import SPLIT, Read, dataset_of
from nlobayes.study.files import parse_yaml

MOST_WORKERS = 4
"""Most processes that compute chains, by default."""
STUDY = """\
The study of table {table}, written when it was fitted. With a checkout of nlobayes, Snakemake makes
the same run with figures and a report, called from the folder in which `nlobayes fit` was called:
  {command}
CHECKOUT is the path of the checkout; its config/README.md explains the keys."""


def fit(
    table: Annotated[Path, typer.Argument(help="Table: text (.csv, .dat, .txt, ...) or .parquet.")],
    target: Annotated[str, typer.Option(help="Column to learn.")],
    column: Annotated[
        list[str] | None, typer.Option(help="Input; repeat. All columns of numbers if not given.")
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="log10 or identity. log10 for positive targets that span a decade."),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(help="Unit of a column whose header names none, as m1=GeV; repeat."),
    ] = None,
    relative_error: Annotated[
        str | None, typer.Option(help="Column with the relative error of each target.")
    ] = None,
    relative_to: Annotated[
        str,
        typer.Option(
            help="What the target is learned relative to: a calculation (born, nlo, nlo_half, "
            "nlo_twice), a column, or none. auto: a calculation, or a column named lo or born, "
            "that leaves at most half of its sd."
        ),
    ] = AUTO,
    names: Annotated[
        str, typer.Option(help="Names of the columns, with commas, of a table without a header.")
    ] = "",
    hidden: Annotated[
        list[int] | None,
        typer.Option(help="Units of a hidden layer; repeat. Those of the recipe if not given."),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(
            help="plain, or smooth for smooth targets; auto compares their errors on held-out rows."
        ),
    ] = AUTO,
    prior: Annotated[
        str, typer.Option(help="Preset of the prior, or YAML. auto is that of the recipe.")
    ] = AUTO,
    likelihood: Annotated[
        str,
        typer.Option(help="Preset of the likelihood, or YAML. auto learns the noise of the rows."),
    ] = AUTO,
    pretraining: Annotated[
        str, typer.Option(help="Preset of the MAP fit, or YAML. auto is that of the recipe.")
    ] = AUTO,
    method: Annotated[
        str, typer.Option(help="Preset of the method, or YAML. auto is that of the recipe.")
    ] = AUTO,
    seed: Annotated[int, typer.Option(help="Seed of the run.", min=0)] = 1,
    jobs: Annotated[
        int | None, typer.Option(help="Processes for the chains; the cores if not given.", min=1)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Surrogate to write; TABLE.nc here.")
    ] = None,
    study: Annotated[
        Path | None, typer.Option(help="Study to write, for Snakemake; TABLE.yaml here.")
    ] = None,
) -> None:
    """Choose columns, units and splits, sample, write the surrogate, and print its verdict."""
    name = name_of_dataset(table)
    out, study = out or Path(f"{name}.nc"), study or Path(f"{name}.yaml")
    _check_places(table, out, study)
    named = names.split(",") if names else []
    table_read = read_table(table, names=named)
    read = dataset_of(
        table_read,
        table.as_posix(),
        target,
        columns=column or (),
        scale=scale,
        relative_error=relative_error,
        relative_to=relative_to,
        units=dict(map(_unit, unit or ())),
    )
    read.dataset["source"] |= {"names": named} if named else {}
    chosen = Choices(
        network={"hidden": hidden or AUTO},
        recipe=recipe,
        prior=_preset(prior),
        likelihood=_preset(likelihood),
        pretraining=_preset(pretraining),
        method=_preset(method),
        seed=seed,
        train_rows=int(SPLIT["train"] * len(table_read.columns[target])),
    )
    runs = attempts(chosen)
    configurations = [configure(name, read.dataset, run) for run in runs]
    for configuration in configurations:
        plan_of(configuration)
    _report_dataset(read)
    write_text(study, in_yaml(configurations[0], _comment(table, study)))
    recipes = [run.recipe for run in runs]
    kept, fitted = _sample(recipes, configurations, jobs or _workers())
    write_text(study, in_yaml(configurations[kept], _comment(table, study)))
    for line in fitted.warnings:
        typer.echo(f"warning: {line}", err=True)
    write_bytes(out, fitted.files["surrogates"])
    _report_verdict(fitted)
    typer.echo(f"surrogate: {out}    nlobayes predict {out} POINTS.csv -o OUT.csv")
    typer.echo(f"study:     {study}    with a checkout of nlobayes: {by_snakemake(study)}")


def _check_places(table: Path, *outputs: Path) -> None:
    """Refuse outputs that cannot be written, or of which one would replace another file."""
    resolved = [path.resolve() for path in (table, *outputs)]
    for position, path in enumerate(outputs, start=1):
        if resolved[position] in resolved[:position]:
            raise InputError("commands.place_taken", path=path)
        check_place(path)


def _sample(
    recipes: Sequence[str], configurations: Sequence[Configuration], workers: int
) -> tuple[int, Fitted]:
    """Sample the runs in turn, print their recipes, and return the number of the kept one."""
    tried: list[str] = []

    def announce(number: int, errors: Sequence[MapErrors]) -> None:
        _report_recipe(recipes, number, errors, failed=tried[-1] if tried else None)
        tried.append(recipes[number])

    with TemporaryDirectory(prefix="nlobayes-", ignore_cleanup_errors=True) as folder:
        best = fit_best(configurations, Path(folder), workers=workers, announce=announce)
    kept = recipes[best.number]
    if kept != tried[-1]:
        typer.echo(f"kept: recipe {kept}, whose chains agree better", err=True)
    return best.number, best.fitted


def _comment(table: Path, study: Path) -> str:
    return STUDY.format(table=table, command=by_snakemake(study))


def _preset(text: str) -> Preset:
    """Read a preset: its name, or YAML text of its settings in braces."""
    return parse_yaml(text, "YAML text of a preset") if text.lstrip().startswith("{") else text


def _workers() -> int:
    """Count the processes for chains, at most one per core; one process without joblib."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MOST_WORKERS) if find_spec("joblib") else 1


def _report_dataset(read: Read) -> None:
    features, target = read.dataset["features"], read.dataset["target"]
    learned = target["column"] if target["scale"] == "identity" else f"log10 {target['column']}"
    unit = f" [{target['unit']}]" if target["unit"] else ""
    known = f" relative to {_named(target['relative_to'])}" if "relative_to" in target else ""
    typer.echo(f"learning {learned}{unit}{known} from {', '.join(features['columns'])}", err=True)
    for name, reason in read.left_out.items():
        typer.echo(f"left out: {one_line(name)} ({reason})", err=True)
    if read.without_units:
        needed = " ".join(f"--unit {name}=UNIT" for name in read.without_units)
        typer.echo(f"relative to a calculation, its errors are smaller: give {needed}", err=True)


def _unit(text: str) -> tuple[str, str]:
    """Read the name of a column and its unit, as `m1=GeV`."""
    name, equals, unit = text.partition("=")
    if not (name and equals and unit):
        raise InputError("fitting.unit", received=text)
    return name, unit


def _named(reference: Mapping[str, Any]) -> str:
    """Name a column, or a calculation with its process and its scale."""
    if "column" in reference:
        return str(reference["column"])
    process = neutralino_pair(reference["pair"]) if "pair" in reference else reference["process"]
    scale = reference.get("mu_over_q", 1.0)
    particles = " ".join(map(name_of, process))
    return (
        f"{reference['calculation']} of {particles}{'' if scale == 1 else f' at mu = {scale:g} Q'}"
    )


def _report_recipe(
    recipes: Sequence[str], number: int, errors: Sequence[MapErrors], *, failed: str | None
) -> None:
    """Print a recipe and its reason: the errors of MAPs, or the recipe that failed before."""
    reason = f"recipe {failed} has no chains that converge" if failed else ""
    if errors and not failed:
        each = map(_of_maps, recipes, errors)
        reason = f"errors of MAPs in sd of the target: {', '.join(each)}"
    typer.echo(f"recipe: {recipes[number]}{reason and f' ({reason})'}", err=True)


def _of_maps(recipe: str, errors: MapErrors) -> str:
    return f"{recipe} {errors.mean:.2g}{' in several modes' if errors.several_modes else ''}"


def _report_verdict(fitted: Fitted) -> None:
    """Print convergence, coverage, errors of predictions and next steps."""
    failure = in_words.describe_failed(fitted.diagnostics, fitted.evaluation, kept_files=False)
    headline = in_words.headline(fitted.diagnostics, fitted.evaluation)
    untested = in_words.untested(fitted.evaluation["calibration_checks"])
    colour = "red" if failure else "yellow" if untested else "green"
    typer.echo(typer.style(headline, fg=colour, bold=True))
    typer.echo(_accuracy(fitted.evaluation))
    if untested:
        typer.echo(f"  {untested}")
    for line in (*in_words.of_spread(fitted.evaluation), in_words.of_rival(fitted.evaluation)):
        typer.echo(line)
    for line in failure.failed if failure else ():
        typer.echo(f"  {line}")
    for step in failure.steps if failure else ():
        typer.echo(f"  next: {step}")


def _accuracy(evaluation: Mapping[str, Any]) -> str:
    """Describe the errors of test rows, and the share inside their error bars."""
    test = evaluation["test"]
    errors = in_words.accuracy(test, evaluation["learned"]["unit"])
    return f"test rows: {errors}; {test['coverage_68']:.0%} lie inside their 68 % error bars"
