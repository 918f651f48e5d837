"""Tables of compared runs, of their rivals, and of differences between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text

from nlobayes.diagnostics.tightness import TIGHT
from nlobayes.evaluation.comparison import runs as comparison
from nlobayes.evaluation.comparison.differences import INTERVAL, ess_per_million_gradients, estimate
from nlobayes.evaluation.comparison.runs import RunMetrics
from nlobayes.metrics.shown import BRACKETS, MONTE_CARLO, error_of, with_error
from nlobayes.reporting.columns import (
    COSTS,
    RED,
    Column,
    Row,
    Table,
    cost_of,
    named,
    score,
    shown_name,
    verdict,
)
from nlobayes.reporting.renderers import in_markdown
from nlobayes.types import Columns
from nlobayes.untyped import Document, Facts

NOT_INTERPRETED = "A difference below two Monte-Carlo errors may come from the draws."
Runs = Sequence[RunMetrics]
Numbers = Facts


class Accuracy(NamedTuple):
    """Two scores of accuracy: their names and keys. Baselines have the first only."""

    first_name: str
    first: str
    second_name: str
    second: str


LOG10 = Accuracy("RMSE dex", "rmse_log10", "R² log10", "r2_log10")
TARGET = Accuracy("RMSE", "rmse_target", "R²", "r2_target_median")
CLASSES = Accuracy("accuracy", "accuracy", "lppd", "lppd")


def table_of_runs(runs: Runs) -> Table:
    """Make a row for each run: scores beside convergence."""
    accuracy = _accuracy(runs)
    columns = [
        Column("run", lambda of: of[0].run),
        _mean(accuracy.first_name, ".4g", accuracy.first),
        _mean(f"baseline {accuracy.first_name}", ".4g", accuracy.first, of=_baseline),
        _mean(accuracy.second_name, ".4f", accuracy.second),
        _mean("68 % cov.", ".3f", "coverage_68"),
        _mean("95 % cov.", ".3f", "coverage_95"),
        _mean("log score", ".3f", "lppd"),
        _mean("sigma_z", ".3f", "sigma_z_total"),
        *(RHATS, EFFECTIVE, _over("div.", sum, ".0f", _divergences), Column("tau", _tau)),
        *(Column("converged", _verdict), *_own(runs)),
    ]
    title = "Test split, total uncertainty with fitted noise"
    return Table(title, columns, [[run] for run in runs], BRACKETS)


def markdown(runs: Runs) -> str:
    """Write a row for each setting with its worst convergence and mean scores; then the rivals."""
    accuracy = _accuracy(runs)
    columns = [
        Column("setting", lambda of: of[0].setting),
        Column("replicates", lambda of: str(len(of))),
        *(RHATS, EFFECTIVE, _over("divergences", sum, ".0f", _divergences)),
        _mean(f"test {accuracy.second_name}", ".4f", accuracy.second),
        _mean(f"test {accuracy.first_name}", ".4g", accuracy.first),
        _mean("coverage 68 / 95 %", ".3f", "coverage_68", "coverage_95"),
        _mean("sigma_z", ".3f", "sigma_z_total"),
        _mean("LPPD", ".3f", "lppd"),
        _mean("CRPS", ".3g", "crps"),
        _mean("LOO per row", ".3f", "loo_per_row"),
        _mean("ESS f per 10⁶ gradients", ".3g", "ess", of=_efficiency),
        _mean(f"baseline {accuracy.first_name}", ".4g", accuracy.first, of=_baseline),
        *(Column("converged", _verdict), *_own(runs)),
    ]
    rows = [[*of.values()] for of in comparison.by_setting(runs).values()]
    tables = [Table("", columns, rows), table_of_rivals(runs)]
    return "\n".join(in_markdown(table) for table in tables if table.rows)


def table_of_rivals(runs: Runs, results: Path | None = None) -> Table:
    """Make a row for each rival of each dataset; with results, also of its CPU time and memory."""
    accuracy = _accuracy(runs)
    found: dict[tuple[str, str], Facts] = {}
    for run in runs:
        for name, rival in run.rivals.items():
            found.setdefault((run.run.split("/")[0], name), rival)
    columns = [
        *(Column("dataset", lambda row: row.run), named("rival"), *(COSTS if results else ())),
        score(f"test {accuracy.first_name}", ".4g", accuracy.first, missing="-"),
        score(f"test {accuracy.second_name}", ".4f", accuracy.second, missing="-"),
        Column("coverage 68 / 95 %", _coverage),
        score("LPPD", ".3f", "lppd", missing="-"),
        score("CRPS", ".3g", "crps", missing="-"),
    ]
    rows = [
        Row(
            dataset,
            shown_name(name, rival),
            comparison.numbers(rival.get("test", {})),
            cost_of(results, dataset, name) if results else {},
        )
        for (dataset, name), rival in found.items()
    ]
    return Table("Rivals, test split, error bars fitted alike, CPU time", columns, rows)


def table_of_differences(differences: Columns, runs: Runs) -> Table:
    """Make a table of differences; settings with a run that has not converged are red."""
    failed = {run.setting for run in runs if not (run.converged or run.approximate)}
    columns = [
        Column("setting", lambda row: _marked(row["setting"], failed)),
        *(METRIC, Column("replicates", lambda row: str(row["replicates"])), *DIFFERENCE),
        _part("Monte-Carlo error", MONTE_CARLO, ".2g"),
    ]
    reference = _marked(differences["reference"][0], failed)
    title = Text.assemble("Paired differences to ", reference, ", 95 % t interval")
    alone = (differences["replicates"] < 2).any()
    ranking = "Without a second replicate there is no error bar and no ranking. "
    note = (ranking if alone else "") + NOT_INTERPRETED
    return Table(title, columns, _rows(differences), note)


def table_of_points(differences: Columns, points: int) -> Table:
    """Make a table of the differences between two runs, paired over the points."""
    title = f"Second run minus first, paired over {points} points, 95 % t interval"
    note = "What other seeds or splits would change is not in it."
    return Table(title, [METRIC, *DIFFERENCE], _rows(differences), note)


def _rows(columns: Columns) -> list[Document]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _marked(setting: str, failed: set[str]) -> Text:
    return Text(f"{setting} (NOT CONVERGED)", RED) if setting in failed else Text(setting)


def _part(title: str, key: str, form: str) -> Column:
    """Show a number of a difference; a dash if it is not known."""
    return Column(title, lambda row: "-" if math.isnan(row[key]) else format(row[key], form))


METRIC = Column("metric", lambda row: row["metric"])
DIFFERENCE = tuple(_part(name.replace("_", " "), name, "+.4g") for name in INTERVAL)


def _test(run: RunMetrics) -> Numbers:
    return {**run.test, MONTE_CARLO: run.errors}


def _baseline(run: RunMetrics) -> Numbers:
    return run.baseline


def _efficiency(run: RunMetrics) -> Numbers:
    return {"ess": ess_per_million_gradients(run)}


def _mean(title: str, form: str, *keys: str, of: Callable[[RunMetrics], Numbers] = _test) -> Column:
    """Show the means of scores over replicates and their standard errors; a dash if one misses.

    The score of one run has its Monte-Carlo error in brackets.
    """

    def text(scores: Sequence[Numbers], key: str) -> str:
        values = [each.get(key) for each in scores]
        if None in values:
            return "-"
        found = estimate(np.array(values, dtype=np.float64))
        if found.size == 1:
            return with_error(found.mean, error_of(scores[0], key), form)
        return f"{found.mean:{form}} ± {found.standard_error:.2g}"

    return Column(title, lambda runs: " / ".join(text([*map(of, runs)], key) for key in keys))


Diagnosed = Callable[[RunMetrics], float | None]


def _over(title: str, statistic: Callable[[Any], Any], form: str, *of: Diagnosed) -> Column:
    """Show diagnostics over replicates by a statistic; a dash if one misses."""

    def text(runs: Runs, number: Diagnosed) -> str:
        values = [number(run) for run in runs]
        return "-" if None in values else format(statistic(values), form)

    return Column(title, lambda runs: " / ".join(text(runs, number) for number in of))


def _divergences(run: RunMetrics) -> float | None:
    return run.diagnostics.get("divergences")


RHATS = _over(
    *("R-hat f med / max", max, ".3f"),
    lambda run: run.diagnostics.get("rhat_f_median"),
    lambda run: run.diagnostics.get("rhat_f"),
)
EFFECTIVE = _over(
    *("ESS scored med / min", min, ".0f"),
    lambda run: run.scored_draws and run.scored_draws["ess_scored_median"],
    lambda run: run.scored_draws and run.scored_draws["ess_scored_min"],
)


def _own(runs: Runs) -> list[Column]:
    """Show the custom scores that runs are compared by."""
    return [_mean(name, ".4g", name) for name in comparison.compared_by(runs)]


def _coverage(row: Row) -> str:
    cells = (score("", ".3f", key, missing="-").cell(row) for key in ("coverage_68", "coverage_95"))
    return " / ".join(map(str, cells))


def _tau(runs: Runs) -> str:
    (run,) = runs
    tau = run.diagnostics.get("tightness")
    tight = " (tight)" if not run.converged and (tau or 0) > TIGHT else ""
    return "-" if tau is None else f"{tau:.2g}{tight}"


def _verdict(runs: Runs) -> Text:
    """Write the verdict on all replicates, with the checks that failed."""
    failed = [run for run in runs if not run.converged and not run.approximate]
    share = f" in {len(failed)} of {len(runs)}" if len(runs) > 1 else ""
    checks = [*dict.fromkeys(name for run in failed for name in run.failed_checks)]
    return verdict(
        all(run.approximate for run in runs),
        [run.run for run in failed],
        all(run.diagnostics.get("exact", True) for run in runs),
        share + (f" ({', '.join(checks)})" if checks else ""),
    )


def _accuracy(runs: Runs) -> Accuracy:
    """Choose scores of accuracy that all runs have."""
    known = (LOG10, CLASSES)
    return next((a for a in known if all(a.first in run.test for run in runs)), TARGET)
