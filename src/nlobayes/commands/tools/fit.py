"""Fit a table by one command: from a CSV or parquet file to a surrogate with error bars."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import check_place, write_bytes, write_parquet, write_text
from nlobayes.artifacts.surrogate_file import read_surrogate
from nlobayes.commands.recipes import OPTIONS, sample, unit_of, workers
from nlobayes.data.parquet_tables import to_arrow
from nlobayes.data.table_files import read_table
from nlobayes.errors import InputError
from nlobayes.evaluation import run_in_words
from nlobayes.fitting.as_given import as_given
from nlobayes.fitting.fits import Fitted
from nlobayes.fitting.reference_choice import columns_of_points
from nlobayes.fitting.studies import (
    AUTO,
    Choices,
    Preset,
    attempts,
    by_snakemake,
    configure,
    in_yaml,
    name_of_dataset,
    plan_of,
    without_climbing,
)
from nlobayes.fitting.table_settings import SPLIT, dataset_of, lines_of
from nlobayes.metrics.shown import shown
from nlobayes.predicting.surrogate_points import check_names
from nlobayes.prepared import prepared
from nlobayes.study.job_builder import prepare_job
from nlobayes.study.yaml_files import parse_yaml
from nlobayes.untyped import Facts

STUDY = """\
The study of table {table}, written when it was fitted. With a checkout of nlobayes, Snakemake makes
the same run with figures and a report, called from the folder in which `nlobayes fit` was called:
  {command}
CHECKOUT is the path of the checkout; its config/README.md explains the keys."""


@as_given(OPTIONS)
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
            help="cosines, wide, smooth or plain; auto is wide up to 2000 train rows (cosines, if "
            "up to 3 inputs explain much more by it), then smooth, then plain, until chains agree."
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
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad", help="Leave out rows with missing cells, or that stand for failures."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that fit did not write.")
    ] = False,
) -> None:
    """Choose columns, units and splits, sample, write the surrogate, and print its verdict."""
    name, table = name_of_dataset(table), without_climbing(table)
    out, study = out or Path(f"{name}.nc"), study or Path(f"{name}.yaml")
    used = without_climbing(study.with_name(f"{study.stem}_rows.parquet"))
    _check_places(table, study, out, used, force=force)
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
        units=dict(map(unit_of, unit or ())),
        skip_bad=skip_bad,
    )
    check_names(columns_of_points(read.dataset), target)
    rows, source = (read.rows, used) if read.rows else (table_read, table)
    read.dataset["source"]["path"] = source.as_posix()
    if named and not read.rows:
        read.dataset["source"]["names"] = named
    chosen = Choices(
        network={"hidden": hidden or AUTO},
        recipe=recipe,
        prior=_preset("--prior", prior),
        likelihood=_preset("--likelihood", likelihood),
        pretraining=_preset("--pretraining", pretraining),
        method=_preset("--method", method),
        seed=seed,
        train_rows=int(SPLIT["train"] * len(rows.columns[target])),
    )
    runs = attempts(chosen, inputs=len(read.dataset["features"]["columns"]))
    configurations = [configure(name, read.dataset, run) for run in runs]
    planned = [plan_of(configuration)[1] for configuration in configurations]
    given = table.as_posix() if source == table else f"{table.as_posix()} without its bad rows"
    with as_given([(re.escape(str(source)), given)]):
        warnings = prepared(rows, prepare_job(planned[0].dataset), source).warnings
    for line in lines_of(read):
        typer.echo(line, err=True)
    _warn(warnings)
    if read.rows:
        write_parquet(used, to_arrow(rows))
    write_text(study, in_yaml(configurations[0], _comment(table, study)))
    recipes = [run.recipe for run in runs]
    kept, fitted = sample(recipes, configurations, jobs or workers())
    write_text(study, in_yaml(configurations[kept], _comment(table, study)))
    _warn(line for line in fitted.warnings if line not in warnings)
    write_bytes(out, fitted.files["surrogates"])
    _report_verdict(fitted)
    typer.echo(f"surrogate: {out}    nlobayes predict {out} POINTS.csv -o OUT.csv")
    typer.echo(f"study:     {study}    with a checkout of nlobayes: {by_snakemake(study)}")


def _check_places(table: Path, study: Path, out: Path, used: Path, *, force: bool) -> None:
    """Refuse outputs that cannot be written, or would replace a file that `fit` did not write."""
    is_own_study = _is_study_of(study, table)
    taken = [table.resolve()]
    for path, is_own in ((study, is_own_study), (out, _is_surrogate(out)), (used, is_own_study)):
        if path.resolve() in taken:
            raise InputError("commands.place_taken", path=path)
        taken.append(path.resolve())
        check_place(path)
        if path.exists() and not (force or is_own):
            raise InputError("fitting.not_replaced", path=path)


def _is_study_of(path: Path, table: Path) -> bool:
    """Return whether a file is the study that an earlier fit of the table wrote."""
    try:
        head, _, _ = path.read_text("utf-8", errors="replace").partition(", written")
    except OSError:
        return False
    before = f"# {STUDY.partition('{')[0]}"
    return head.startswith(before) and Path(head.removeprefix(before)).resolve() == table.resolve()


def _is_surrogate(path: Path) -> bool:
    try:
        read_surrogate(path)
    except InputError:
        return False
    return True


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(f"warning: {line}", err=True)


def _comment(table: Path, study: Path) -> str:
    return STUDY.format(table=table, command=by_snakemake(study))


def _preset(option: str, text: str) -> Preset:
    """Read a preset: its name, or YAML text of its settings in braces."""
    return parse_yaml(text, option) if text.lstrip().startswith("{") else text


def _report_verdict(fitted: Fitted) -> None:
    """Print convergence, coverage, errors of predictions and next steps."""
    failure = run_in_words.describe_failed(fitted.diagnostics, fitted.evaluation, kept_files=False)
    headline = run_in_words.headline(fitted.diagnostics, fitted.evaluation)
    untested = run_in_words.untested(fitted.evaluation["calibration_checks"])
    colour = "red" if failure else "yellow" if untested else "green"
    typer.echo(typer.style(headline, fg=colour, bold=True))
    typer.echo(_accuracy(fitted.evaluation))
    if untested:
        typer.echo(f"  {untested}")
    for line in (
        *run_in_words.describe_spread(fitted.evaluation),
        run_in_words.describe_rival(fitted.evaluation),
    ):
        typer.echo(line)
    for line in failure.failed if failure else ():
        typer.echo(f"  {line}")
    for step in failure.steps if failure else ():
        typer.echo(f"  next: {step}")


def _accuracy(evaluation: Facts) -> str:
    """Describe the errors of test rows, and the share inside their error bars."""
    test = evaluation["test"]
    errors = run_in_words.accuracy(test, evaluation["learned"]["unit"])
    inside = shown(test, "coverage_68", ".1%")
    return f"test rows: {errors}; {inside} lie inside their 68 % error bars"
