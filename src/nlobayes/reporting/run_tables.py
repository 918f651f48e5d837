"""Tables of finished runs: one of all runs, and those of their groups, targets and rivals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from nlobayes.diagnostics.tightness import TIGHT
from nlobayes.metrics.shown import BRACKETS, label_of_size
from nlobayes.reporting.columns import (
    CALIBRATED,
    CONVERGED,
    COSTS,
    EFFECTIVE,
    ERRORS,
    RED,
    RHAT,
    RUN,
    SAMPLING,
    SIZES,
    Cell,
    Row,
    Table,
    fact,
    named,
    score,
    scores_of,
    shown_name,
    verdict,
)
from nlobayes.reporting.finished import FinishedRun
from nlobayes.untyped import Document, Facts

CHAINS = (
    "R-hat of f (the largest at any point) at most 1.01: the chains agree. ESS scored:"
    f" effective draws behind the scores, the smallest of f.\n{BRACKETS}"
)
LEGENDS = {
    False: "RMSE in dex where log10 is learned; 68 %, 95 %: points inside these intervals.\n"
    + CHAINS,
    True: "accuracy, log score: higher is better; ece, expected calibration error: lower.\n"
    + CHAINS,
}
"""Explanations of the table of numbers (False) and of that of classes (True)."""
GROUPS = "Test rows in groups"
TARGETS = "Targets that one network learned, each with error bars of its own (test rows)"
DRAWN_SIZES = "Sizes of networks that were drawn"
CENTRES = "Error bars about other centres, calibrated in the same way (test rows)"
RIVALS = "Rivals on the same rows, with error bars fitted alike (test rows; CPU time)"
SOURCE = (
    "Calibrated error bars get their widths from validation rows, with infinite width also from"
    " train rows that are left out. The model's own are the noise of its likelihood about every"
    " draw."
)
MOST_RUNS = 8
"""Most runs whose centres are shown; there are up to five rows for each."""
JUMPS, BETWEEN = "jumps", "between_sizes"


def summary_table(runs: Sequence[FinishedRun], of_classes: bool) -> Table:
    """Make a row for each run and one for the ensemble of its MAPs."""
    rows = [row for run in runs for row in (_posterior_row(run), _ensemble_row(run))]
    return Table("", [named("run"), *scores_of(of_classes), *SAMPLING], rows, LEGENDS[of_classes])


def first_table(runs: Sequence[FinishedRun], of_classes: bool) -> Table:
    """Make the table of the first page of the report, with the verdicts beside the labels."""
    columns = [RUN, CONVERGED, CALIBRATED, *scores_of(of_classes, first=True), RHAT, EFFECTIVE]
    return Table("", columns, [*map(_posterior_row, runs)])


def further_tables(runs: Sequence[FinishedRun]) -> list[Table]:
    """Make the tables of groups, targets, drawn sizes, centres and rivals that have rows."""
    rows, bars = fact("rows", "points", ".0f"), fact("error bars", "bars")
    numbers, crps = scores_of(of_classes=False), score("CRPS", ".2g", "crps", rank=2)
    tables = [
        Table(GROUPS, [named("group"), rows, *ERRORS, *numbers], _groups(runs, of_classes=False)),
        Table(GROUPS, [named("group"), rows, *scores_of(True)], _groups(runs, of_classes=True)),
        Table(TARGETS, [named("target"), ERRORS[0], *numbers], _targets(runs)),
        Table(DRAWN_SIZES, [named("number"), *SIZES], _sizes(runs)),
        Table(CENTRES, [named("centre"), bars, ERRORS[0], *numbers], _centres(runs), SOURCE),
        Table(RIVALS, [named("regressor"), *COSTS, *ERRORS, crps, *numbers], _rivals(runs)),
    ]
    return [table._replace(columns=[RUN, *table.columns]) for table in tables if table.rows]


def _posterior_row(run: FinishedRun) -> Row:
    tau, exact = run.diagnostics["tightness"], run.diagnostics.get("exact", True)
    tight = " (tight)" if run.unconverged and (tau or 0) > TIGHT else ""
    tested = Text("not tested", "yellow") if run.untested else Text("yes")
    facts: dict[str, Cell | float | None] = {
        "rhat": run.diagnostics.get("rhat_f"),
        "divergences": run.diagnostics.get("divergences"),
        "ess": run.effective_draws,
        "tau": "-" if tau is None else f"{tau:.2g}{tight}",
        "convergence": verdict(run.approximate, run.unconverged, exact),
        "calibration": Text("NO", RED) if run.uncalibrated else tested,
    }
    return Row(run.label, run.label, run.evaluation["test"], facts)


def _ensemble_row(run: FinishedRun) -> Row:
    """Return the row of the ensemble of MAPs, with the range of its members' scores in brackets."""
    baseline = run.evaluation["baseline"]
    members = next(iter(baseline["members"].values()))
    name = f"  {len(members)} MAPs ({min(members):.3g}-{max(members):.3g})"
    return Row(run.label, Text(name, "dim"), baseline["test"])


def _groups(runs: Sequence[FinishedRun], *, of_classes: bool) -> list[Row]:
    """Return the groups that have enough rows for scores."""
    return [
        Row(run.label, label, scores, scores)
        for run in runs
        if run.is_of_classes == of_classes
        for label, scores in run.evaluation["test"].get("groups", {}).items()
        if isinstance(scores, Mapping)
    ]


def _targets(runs: Sequence[FinishedRun]) -> list[Row]:
    """Return the targets of networks that learned several."""
    return [
        Row(run.label, name, found["test"])
        for run in runs
        for name, found in run.evaluation.get("outputs", {}).items()
    ]


def _sizes(runs: Sequence[FinishedRun]) -> list[Row]:
    return [
        Row(run.label, label_of_size(name), {}, _size_facts(number, found[JUMPS]))
        for run in runs
        if (found := run.diagnostics.get("architecture"))
        for name, number in found.items()
        if name != JUMPS
    ]


def _size_facts(number: Facts, jumps: Facts) -> Document:
    """Return the posterior of a size, and the mean acceptance of its jumps.

    The jumps of the number of parameters are those of all sizes.
    """
    if visits := number.get("visits"):
        pairs = [*zip(visits["tried"], visits["acceptance"], strict=True)]
    else:
        kinds = [jump for name, jump in jumps.items() if name != BETWEEN]
        pairs = [(jump["tried"], jump["acceptance"]) for jump in kinds]
    tried = sum(count for count, _ in pairs)
    accepted = sum(count * rate for count, rate in pairs if count) / tried if tried else None
    interval = f"{number['low_90']:g} to {number['high_90']:g}"
    return {**number, "interval": interval, "accepted": accepted}


def _centres(runs: Sequence[FinishedRun]) -> list[Row]:
    """Return a row for each centre of each run: posterior, MAPs, one MAP, and rivals.

    The posterior has a second row with its own error bars. Runs of classes, of several targets and
    of earlier releases have none.
    """
    known = [run for run in runs if "map" in run.evaluation]
    return [row for run in known for row in _centre_rows(run)] if len(known) <= MOST_RUNS else []


def _centre_rows(run: FinishedRun) -> Iterator[Row]:
    found, members = run.evaluation, run.evaluation["baseline"]["members"]
    centres = {
        "posterior": found,
        f"{len(next(iter(members.values())))} MAPs": found["baseline"],
        "one MAP": found["map"],
        **{name: of for name, of in found.get("rivals", {}).items() if "test" in of},
    }
    for name, about in centres.items():
        bars = f"calibrated: {about['predictive_noise']['family']}"
        yield Row(run.label, name, about["test"], {"bars": bars})
        if name == "posterior" and (own := found.get("stated_noise")):
            yield Row(run.label, name, own["test"], {"bars": f"own: {own['family']}"})


def _rivals(runs: Sequence[FinishedRun]) -> list[Row]:
    """Return each run that has rivals, and its rivals."""
    rows = []
    for run in runs:
        if rivals := run.evaluation.get("rivals"):
            rows.append(Row(run.label, "this run", run.evaluation["test"]))
            for name, found in rivals.items():
                cost = {} if "missing" in found else run.cost_of_rivals.get(name, {})
                rows.append(Row(run.label, shown_name(name, found), found.get("test", {}), cost))
    return rows
