"""Propose the points to compute next, and say whether the accuracy is reached."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from pydantic import TypeAdapter, ValidationError

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import check_place, read_json, write_bytes, write_parquet, write_text
from nlobayes.choosing import accuracy_in_words
from nlobayes.choosing.stopping import Verdict, judge
from nlobayes.commands.recipes import OPTIONS, sample, unit_of, workers
from nlobayes.data.parquet_tables import to_arrow
from nlobayes.data.splits import STATED, TEST, TRAIN, VALIDATION
from nlobayes.data.table_files import PARQUET, read_table, to_csv_text
from nlobayes.designs import Design
from nlobayes.designs.pool import PoolDesign
from nlobayes.errors import InputError
from nlobayes.fitting.as_given import as_given
from nlobayes.fitting.reference_choice import AUTO, columns_of_points
from nlobayes.fitting.studies import (
    Choices,
    attempts,
    configure,
    name_of_dataset,
    plan_of,
    without_climbing,
)
from nlobayes.fitting.table_settings import SPLIT, dataset_of, lines_of
from nlobayes.predicting.prediction_files import check_not_read, warn
from nlobayes.predicting.surrogate_points import check_names
from nlobayes.prepared import prepared
from nlobayes.proposing.options import OF_DESIGN, accuracy_of, design_of
from nlobayes.proposing.points import RANDOM, as_good_as, next_points
from nlobayes.study.job_builder import prepare_job
from nlobayes.study.refusal import refusal
from nlobayes.surrogate.consistency import read_exported
from nlobayes.surrogate.held_out import errors_at
from nlobayes.surrogate.stored_facts import points_of_rows
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Table

SURROGATE = ".nc"
CHOSEN = "chosen"
SAME = 1e-6
"""Distance to a learned row, in spacings of such rows, below which a point of a pool is one."""
NOT_RANDOM = """\
the verdict is honest only if the points of the table were drawn at random; a column `chosen` that \
is `random` at some rows, as in tables that propose writes, makes these the validation rows"""
HELD_OUT = """\
the verdict is on held-out rows inside the domain of the surrogate, and honest only if they were \
drawn at random; give the table instead"""


class Known(NamedTuple):
    """A surrogate, points that were computed, and errors of points that it had not learned."""

    surrogate: Surrogate
    taken: Mapping[str, np.ndarray] | None
    errors: np.ndarray
    rows: int | None


@as_given((*OF_DESIGN, *OPTIONS))
def propose(
    given: Annotated[Path, typer.Argument(help="Table of computed points, or surrogate (.nc).")],
    points: Annotated[int, typer.Option(help="Number of points to propose.", min=1)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Table to write: .csv or .parquet.")],
    target: Annotated[str, typer.Option(help="Column of the table to learn.")] = "",
    column: Annotated[
        list[str] | None, typer.Option(help="Input; repeat. All columns of numbers if not given.")
    ] = None,
    pool: Annotated[
        Path | None, typer.Option(help="Table of points to choose from, each once.")
    ] = None,
    range: Annotated[
        list[str] | None,
        typer.Option(
            "--range", help="Range of a column, as m1=100:2000 or m1=100:2000:log; repeat."
        ),
    ] = None,
    constraint: Annotated[
        list[str] | None, typer.Option(help="Condition on points in ranges, as 'm1 < m2'; repeat.")
    ] = None,
    unit_row: Annotated[
        list[str] | None,
        typer.Option(help="Columns, with commas, that form a row of unit length; repeat."),
    ] = None,
    median: Annotated[str, typer.Option(help="Largest relative error of half of all points.")] = "",
    p95: Annotated[str, typer.Option(help="Largest relative error of 95 % of them.")] = "",
    confidence: Annotated[float, typer.Option(help="Confidence of the verdict.")] = 0.95,
    looks: Annotated[
        int, typer.Option(help="Verdicts that are planned, which share the confidence.", min=1)
    ] = 1,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(help="JSON of an earlier look, for the trend of the errors; repeat."),
    ] = None,
    random_share: Annotated[
        float, typer.Option(help="Share of points drawn at random.", min=0, max=1)
    ] = 0.2,
    unit: Annotated[
        list[str] | None,
        typer.Option(help="Unit of a column whose header names none, as m1=GeV; repeat."),
    ] = None,
    relative_to: Annotated[
        str, typer.Option(help="What the target is learned relative to; as of fit.")
    ] = AUTO,
    recipe: Annotated[str, typer.Option(help="Recipe of the fit; as of fit.")] = AUTO,
    surrogate: Annotated[
        Path | None, typer.Option(help="Surrogate of the table to write as well.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes for the chains.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of fit and points.", min=0)] = 1,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows with missing cells or failures.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Fit a table, or take a surrogate, and write points that teach most, and some at random."""
    wanted, before = accuracy_of(median, p95, confidence), [*map(_verdict_of, earlier or ())]
    looks = max(looks, len(before) + 1)
    for option, place in (("--out", out), ("--surrogate", surrogate)):
        if place is not None:
            check_not_read(option, place, [str(one) for one in (given, pool) if one])
            check_place(place)
    if given.suffix == SURROGATE:
        known = _loaded(given, target)
    else:
        settings = {
            "columns": column or (),
            "units": dict(map(unit_of, unit or ())),
            "relative_to": relative_to,
            "skip_bad": skip_bad,
        }
        chosen = Choices({"hidden": AUTO}, recipe=recipe, seed=seed)
        known = _fitted(given, target, settings, chosen, jobs or workers(), surrogate)
    path = None if pool is None else without_climbing(pool).as_posix()
    design, assumed = design_of(
        known.surrogate, path, range or (), constraint or (), unit_row or ()
    )
    if assumed:
        warn(f"no range is given, so that of the learned rows is taken: {assumed}")
    taken = known.taken if known.taken is not None else _learned(known.surrogate, design)
    proposal = next_points(known.surrogate, design, taken, points, share=random_share, seed=seed)
    if not len(proposal.chosen):
        raise InputError("proposing.pool_used_up", where="--pool", pool=pool)
    if len(proposal.chosen) < points:
        many = len(proposal.chosen)
        found = (
            f"the ranges have {many} further points"
            if pool is None
            else f"{pool} has {many} further rows"
        )
        warn(f"{found}, fewer than {points}: all are given")
    units = {name: known.surrogate.units.get(name, "") for name in proposal.points}
    table = Table({**proposal.points, CHOSEN: proposal.chosen.astype(object)}, units, {})
    if out.suffix == PARQUET:
        write_parquet(out, to_arrow(table))
    else:
        write_text(out, to_csv_text(table))
    typer.echo(f"proposed: {len(proposal.chosen)} points in {out}", err=True)
    verdict = None
    if wanted is not None and len(known.errors):
        verdict = judge(known.errors, wanted, looks, known.rows, before)
    elif wanted is not None:
        warn("no verdict: no errors of held-out rows are known")
    _report(verdict, _as_good(known, design, seed), json)


def _loaded(path: Path, target: str) -> Known:
    content = read_exported(path, of_classes=False)
    surrogate = Surrogate(content)
    if target not in ("", surrogate.target):
        raise InputError("surrogate.no_output", output=target, known=[surrogate.target])
    warn(HELD_OUT)
    return Known(surrogate, None, content.held_out.get("error", np.empty(0)), None)


def _fitted(
    path: Path,
    target: str,
    settings: Mapping[str, Any],
    chosen: Choices,
    processes: int,
    out: Path | None,
) -> Known:
    """Fit a table; its rows that were chosen at random are validation and test rows."""
    if not target:
        raise InputError("proposing.no_target", where=path)
    table = read_table(path)
    read = dataset_of(table, path.as_posix(), target, **settings)
    check_names(columns_of_points(read.dataset), target)
    rows, dataset = read.rows or table, read.dataset
    split = _split_of(rows)
    train = int(SPLIT["train"] * len(rows.columns[target]))
    with TemporaryDirectory(prefix="nlobayes-", ignore_cleanup_errors=True) as folder:
        source = Path(folder) / "rows.parquet"
        if split is None:
            warn(NOT_RANDOM)
        else:
            name, words = split
            rows = rows._replace(columns={**rows.columns, name: words})
            dataset["split"], train = {"column": name}, int((words == STATED[TRAIN]).sum())
        write_parquet(source, to_arrow(rows))
        dataset["source"]["path"] = str(source)
        runs = attempts(chosen._replace(train_rows=train), len(dataset["features"]["columns"]))
        made = [configure(name_of_dataset(path), dataset, run) for run in runs]
        given = f"{path} without its bad rows" if read.rows else str(path)
        with as_given([(re.escape(str(source)), given)]):
            doubts = prepared(rows, prepare_job(plan_of(made[0])[1].dataset), source).warnings
            for line in (*lines_of(read), *doubts):
                typer.echo(line.replace(str(source), given), err=True)
            _, fitted = sample([run.recipe for run in runs], made, processes)
        files = {name: Path(folder) / f"{name}.nc" for name in ("surrogates", "data")}
        for name, file in files.items():
            file.write_bytes(fitted.files[name])
        content, data = (
            read_exported(files["surrogates"], of_classes=False),
            read_dataset(files["data"]),
        )
        if out is not None:
            write_bytes(out, fitted.files["surrogates"])
    learned = data.split == TRAIN
    if content.rows and len(content.rows["target"]) == len(learned):
        learned[:] = True
    held_out = np.flatnonzero(np.isin(data.split, (VALIDATION, TEST)))
    _, errors = errors_at(content, data, learned, held_out)
    surrogate = Surrogate(content)
    computed = points_of_rows(data, np.arange(len(learned)))
    return Known(
        surrogate, dict(zip(surrogate.inputs, computed.T, strict=True)), errors, len(learned)
    )


def _split_of(rows: Table) -> tuple[str, np.ndarray] | None:
    """Return a new column with the split of each row; None unless two rows are random."""
    if CHOSEN not in rows.columns:
        return None
    is_random = np.char.strip(rows.columns[CHOSEN].astype(str)) == RANDOM
    if is_random.sum() < 2:
        return None
    words = np.full(len(is_random), STATED[TRAIN], object)
    words[is_random] = np.resize([STATED[VALIDATION], STATED[TEST]], is_random.sum())
    name = "split"
    while name in rows.columns:
        name += "_"
    return name, words


def _learned(surrogate: Surrogate, design: Design) -> dict[str, np.ndarray]:
    """Return the rows of a pool that the surrogate has learned; of ranges none is known."""
    if not isinstance(design, PoolDesign):
        return {name: np.empty(0) for name in design.columns}
    pool = design.read()
    near = surrogate.distance(pool) <= SAME
    return {name: values[near] for name, values in pool.items()}


def _verdict_of(path: Path) -> Verdict:
    """Read the verdict of an earlier look, as `--json` prints it."""
    try:
        return TypeAdapter(Verdict).validate_python(read_json(path, "verdict")["verdict"])
    except ValidationError as error:
        raise refusal(error, str(path)) from None


def _report(verdict: Verdict | None, as_good: Mapping[str, Any] | None, json: bool) -> None:
    """Print the verdict: in words to standard error, and as JSON to standard output."""
    if verdict is not None:
        typer.echo(accuracy_in_words.headline(verdict), err=True)
        for line in accuracy_in_words.lines_of(verdict):
            typer.echo(f"  {line}", err=True)
    if as_good:
        more = "more than " if as_good["is_bound"] else ""
        typer.echo(
            f"these rows leave as much variance as {more}{as_good['points']} random ones "
            "(an estimate by the learned scales)",
            err=True,
        )
    if json:
        typer.echo(dumps({"verdict": verdict, "equivalent_random": as_good}, allow_nan=False))


def _as_good(known: Known, design: Design, seed: int) -> dict[str, Any] | None:
    found = as_good_as(known.surrogate, design, seed=seed)
    return None if found is None else found._asdict()
