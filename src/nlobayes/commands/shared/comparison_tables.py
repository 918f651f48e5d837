"""Tables of compared runs for the terminal, and one in Markdown."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Column, Table
from rich.text import Text

from nlobayes.commands.shared.rivals import COSTS, cost_cells, cost_of, shown_name
from nlobayes.diagnostics.tightness import TIGHT
from nlobayes.evaluation.comparison import runs as comparison
from nlobayes.evaluation.comparison.runs import INTERVAL, RunMetrics
from nlobayes.metrics.shown import BRACKETS, MONTE_CARLO, error_of, shown, with_error
from nlobayes.types import Columns

RED = "bold red"
NOT_INTERPRETED = "A difference below two Monte-Carlo errors may come from the draws."


class Accuracy(NamedTuple):
    """Two scores of accuracy: their names and keys. Baselines have the first only."""

    first_name: str
    first: str
    second_name: str
    second: str


LOG10 = Accuracy("RMSE dex", "rmse_log10", "R² log10", "r2_log10")
TARGET = Accuracy("RMSE", "rmse_target", "R²", "r2_target_median")
CLASSES = Accuracy("accuracy", "accuracy", "lppd", "lppd")


def show_runs(runs: Sequence[RunMetrics]) -> Table:
    """Make a table with a row for each run: scores beside convergence."""
    accuracy = _accuracy(runs)
    own_scores = comparison.compared_by(runs)
    rows = [{**_run(run, accuracy), **_own([run], own_scores)} for run in runs]
    return _table(rows, "Test split, total uncertainty with fitted noise", BRACKETS)


def _run(run: RunMetrics, accuracy: Accuracy) -> dict[str, str | Text]:
    found = run.diagnostics.get

    def test(key: str, form: str) -> str:
        return shown(_with_errors(run), key, form, missing="-")

    rhats = (_number(found(key), ".3f") for key in ("rhat_f_median", "rhat_f"))
    effective = (_number(found(key), ".0f") for key in ("ess_scored_median", "ess_scored_min"))
    tight = " (tight)" if not run.converged and (found("tightness") or 0) > TIGHT else ""
    return {
        "run": run.run,
        accuracy.first_name: test(accuracy.first, ".4g"),
        f"baseline {accuracy.first_name}": _number(run.baseline.get(accuracy.first), ".4g"),
        accuracy.second_name: test(accuracy.second, ".4f"),
        "68 % cov.": test("coverage_68", ".3f"),
        "95 % cov.": test("coverage_95", ".3f"),
        "log score": test("lppd", ".3f"),
        "sigma_z": test("sigma_z_total", ".3f"),
        "R-hat f med / max": " / ".join(rhats),
        "ESS scored med / min": " / ".join(effective),
        "div.": _number(found("divergences"), ".0f"),
        "tau": _number(found("tightness"), ".2g") + tight,
        "converged": _verdict(run),
    }


def _with_errors(run: RunMetrics) -> dict[str, Any]:
    return {**run.test, MONTE_CARLO: run.errors}


def _verdict(run: RunMetrics) -> Text:
    if run.approximate:
        return Text("approximate")
    verdict = Text("yes")
    if not run.converged:
        verdict = Text(": ".join(filter(None, ["FAILED", ", ".join(run.failed_checks)])), RED)
    return verdict if run.diagnostics.get("exact", True) else verdict.append(" (not exact)")


def show_rivals(runs: Sequence[RunMetrics], results: Path) -> list[Table]:
    """Make a table of the rivals of each dataset, with CPU time and memory; none without rivals."""
    accuracy = _accuracy(runs)
    rows = [
        {
            "dataset": dataset,
            "rival": shown_name(name, found),
            **dict(zip(COSTS, cost_cells(cost_of(results, dataset, name)), strict=True)),
            **_of_rival(found, accuracy),
        }
        for (dataset, name), found in _rivals(runs).items()
    ]
    title = "Rivals, test split, error bars fitted alike, CPU time"
    return [_table(rows, title)] if rows else []


def _rivals(runs: Sequence[RunMetrics]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return each rival by dataset and name, from the first run that has it."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for run in runs:
        for name, rival in run.rivals.items():
            found.setdefault((run.run.split("/")[0], name), rival)
    return found


def _of_rival(found: Mapping[str, Any], accuracy: Accuracy) -> dict[str, str]:
    test = comparison.numbers(found.get("test", {}))
    coverage = (_number(test.get(key), ".3f") for key in ("coverage_68", "coverage_95"))
    return {
        f"test {accuracy.first_name}": _number(test.get(accuracy.first), ".4g"),
        f"test {accuracy.second_name}": _number(test.get(accuracy.second), ".4f"),
        "coverage 68 / 95 %": " / ".join(coverage),
        "LPPD": _number(test.get("lppd"), ".3f"),
        "CRPS": _number(test.get("crps"), ".3g"),
    }


def show_differences(differences: Columns, runs: Sequence[RunMetrics]) -> Table:
    """Make a table of differences; settings with a run that has not converged are red."""
    failed = {run.setting for run in runs if not (run.converged or run.approximate)}
    rows = [
        {
            "setting": _marked(row["setting"], failed),
            "metric": row["metric"],
            "replicates": str(row["replicates"]),
            **_interval(row),
            "Monte-Carlo error": _number(row[MONTE_CARLO], ".2g"),
        }
        for row in _rows(differences)
    ]
    reference = _marked(differences["reference"][0], failed)
    title = Text.assemble("Paired differences to ", reference, ", 95 % t interval")
    alone = (differences["replicates"] < 2).any()
    ranking = "Without a second replicate there is no error bar and no ranking. "
    return _table(rows, title, (ranking if alone else "") + NOT_INTERPRETED)


def _marked(setting: str, failed: set[str]) -> Text:
    return Text(f"{setting} (NOT CONVERGED)", RED) if setting in failed else Text(setting)


def show_point_differences(differences: Columns, points: int) -> Table:
    """Make a table of the differences between two runs, paired over the points."""
    rows = [{"metric": row["metric"], **_interval(row)} for row in _rows(differences)]
    title = f"Second run minus first, paired over {points} points, 95 % t interval"
    return _table(rows, title, "What other seeds or splits would change is not in it.")


def write_markdown(runs: Sequence[RunMetrics]) -> str:
    """Write a row for each setting with its worst convergence and mean scores; then the rivals."""
    accuracy = _accuracy(runs)
    rows = [
        {
            "setting": setting,
            **_setting([*replicates.values()], accuracy),
            **_own([*replicates.values()], comparison.compared_by(runs)),
        }
        for setting, replicates in comparison.by_setting(runs).items()
    ]
    rivals = [
        {"dataset": dataset, "rival": shown_name(name, found), **_of_rival(found, accuracy)}
        for (dataset, name), found in _rivals(runs).items()
    ]
    return "\n".join(_markdown(table) for table in (rows, rivals) if table)


def _markdown(rows: Sequence[Mapping[str, str]]) -> str:
    lines = [[*rows[0]], ["---"] * len(rows[0]), *([*row.values()] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _setting(runs: Sequence[RunMetrics], accuracy: Accuracy) -> dict[str, str]:
    """Describe replicates by their worst convergence and their mean scores."""
    diagnostics = [run.diagnostics for run in runs]
    test, baseline = [*map(_with_errors, runs)], [run.baseline for run in runs]
    rhats = (_over(max, diagnostics, key, ".3f") for key in ("rhat_f_median", "rhat_f"))
    effective = (
        _over(min, diagnostics, key, ".0f") for key in ("ess_scored_median", "ess_scored_min")
    )
    coverage = (_mean(test, key, ".3f") for key in ("coverage_68", "coverage_95"))
    efficiency = [{"ess": comparison.ess_per_million_gradients(run)} for run in runs]
    return {
        "replicates": str(len(runs)),
        "R-hat f med / max": " / ".join(rhats),
        "ESS scored med / min": " / ".join(effective),
        "divergences": _over(sum, diagnostics, "divergences", ".0f"),
        f"test {accuracy.second_name}": _mean(test, accuracy.second, ".4f"),
        f"test {accuracy.first_name}": _mean(test, accuracy.first, ".4g"),
        "coverage 68 / 95 %": " / ".join(coverage),
        "sigma_z": _mean(test, "sigma_z_total", ".3f"),
        "LPPD": _mean(test, "lppd", ".3f"),
        "CRPS": _mean(test, "crps", ".3g"),
        "LOO per row": _mean(test, "loo_per_row", ".3f"),
        "ESS f per 10⁶ gradients": _mean(efficiency, "ess", ".3g"),
        f"baseline {accuracy.first_name}": _mean(baseline, accuracy.first, ".4g"),
        "converged": _verdict_on_all(runs),
    }


def _own(runs: Sequence[RunMetrics], names: Sequence[str]) -> dict[str, str]:
    """Write the means of the user's custom scores."""
    return {name: _mean([run.test for run in runs], name, ".4g") for name in names}


def _verdict_on_all(runs: Sequence[RunMetrics]) -> str:
    if all(run.approximate for run in runs):
        return "approximate"
    failed = [run for run in runs if not run.converged]
    if not failed:
        return "yes"
    share = f" in {len(failed)} of {len(runs)}" if len(runs) > 1 else ""
    checks = dict.fromkeys(name for run in failed for name in run.failed_checks)
    return f"**NO**{share}" + (f" ({', '.join(checks)})" if checks else "")


def _over(
    statistic: Callable[[Any], Any], found: Sequence[Mapping[str, Any]], key: str, form: str
) -> str:
    values = [each.get(key) for each in found]
    return "-" if None in values else format(statistic(values), form)


def _mean(scores: Sequence[Mapping[str, Any]], key: str, form: str) -> str:
    """Write the mean of a score and its standard error over replicates; a dash if one misses.

    The score of one run has its Monte-Carlo error in brackets.
    """
    values = [each.get(key) for each in scores]
    if None in values:
        return "-"
    found = comparison.estimate(np.array(values, dtype=np.float64))
    if found.size == 1:
        return with_error(found.mean, error_of(scores[0], key), form)
    return f"{found.mean:{form}} ± {found.standard_error:.2g}"


def _accuracy(runs: Sequence[RunMetrics]) -> Accuracy:
    """Choose scores of accuracy that all runs have."""
    known = (LOG10, CLASSES)
    return next((a for a in known if all(a.first in run.test for run in runs)), TARGET)


def _table(
    rows: Sequence[Mapping[str, str | Text]], title: str | Text, caption: str | None = None
) -> Table:
    columns = (Column(name, overflow="fold") for name in rows[0])
    table = Table(*columns, title=title, caption=caption)
    for row in rows:
        table.add_row(*row.values())
    return table


def _rows(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _interval(row: Mapping[str, Any]) -> dict[str, str]:
    return {name.replace("_", " "): _number(row[name], "+.4g") for name in INTERVAL}


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or math.isnan(value) else format(value, form)
