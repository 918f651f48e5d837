"""The table of all checks of a run, with value, limit and result."""

from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.checks import label_of, show_range, show_value
from nlobayes.plots.style import BLACK, RED, new_figure

ROW_HEIGHT, HEAD_HEIGHT = 0.25, 0.31
COLUMNS = {"check": 0.0, "value": 0.57, "limit": 0.62, "result": 0.88}
"""Left ends of the columns as shares of the width; for values the right end."""


class CheckRow(NamedTuple):
    """One line of the table, as written."""

    check: str
    value: str
    limit: str
    passed: bool


def verdict(checks: DataFrame, calibration_checks: DataFrame) -> Figure:
    """Draw tables of all checks, with a red headline if a check of convergence failed.

    A failed check of calibration is red too, but does not make the run "not converged".
    """
    blocks = [_convergence_rows(checks), _calibration_rows(calibration_checks)]
    lines = [len(rows) + 1 for rows in blocks]
    figure = new_figure(height=2 * HEAD_HEIGHT + ROW_HEIGHT * sum(lines))
    converged, calibrated = figure.subplots(2, height_ratios=lines)
    _block(converged, blocks[0])
    _block(calibrated, blocks[1])
    _headline(converged, _convergence_headline(blocks[0]), blocks[0])
    _headline(calibrated, f"calibration on the test split: {_summary(blocks[1])}", blocks[1])
    return figure


def _convergence_rows(table: DataFrame) -> list[CheckRow]:
    return [
        CheckRow(label_of(check), show_value(value), f"{bound} {show_value(limit)}", bool(passed))
        for check, value, limit, bound, passed in zip(
            *(table[name] for name in ("check", "value", "threshold", "bound", "passed")),
            strict=True,
        )
    ]


def _calibration_rows(table: DataFrame) -> list[CheckRow]:
    return [
        CheckRow(label_of(check), show_value(value), show_range(low, high), bool(passed))
        for check, value, low, high, passed in zip(
            *(table[name] for name in ("check", "value", "low", "high", "passed")), strict=True
        )
    ]


def _convergence_headline(rows: list[CheckRow]) -> str:
    converged = all(row.passed for row in rows)
    return f"{'converged' if converged else 'NOT CONVERGED'}: {_summary(rows)}"


def _summary(rows: list[CheckRow]) -> str:
    failed = sum(not row.passed for row in rows)
    return f"{failed} check{'s' * (failed > 1)} failed" if failed else "all checks passed"


def _headline(axes: Axes, text: str, rows: list[CheckRow]) -> None:
    color = BLACK if all(row.passed for row in rows) else RED
    axes.set_title(text, color=color, fontsize=11, fontweight="bold")


def _block(axes: Axes, rows: list[CheckRow]) -> None:
    axes.set(xlim=(0, 1), ylim=(len(rows) + 0.5, -0.5))
    axes.axis("off")
    axes.axhline(0.5, color=BLACK, linewidth=0.8)
    _line(axes, 0, ("check", "value", "limit", "result"), BLACK)
    for index, row in enumerate(rows, start=1):
        result = "passed" if row.passed else "FAILED"
        texts = (row.check, row.value, row.limit, result)
        _line(axes, index, texts, BLACK if row.passed else RED)
        if not row.passed:
            axes.axhspan(index - 0.5, index + 0.5, color=RED, alpha=0.08, linewidth=0)


def _line(axes: Axes, y: int, texts: tuple[str, ...], color: str) -> None:
    weight = "bold" if color == RED else "normal"
    for (name, x), text in zip(COLUMNS.items(), texts, strict=True):
        align = "right" if name == "value" else "left"
        axes.text(x, y, text, color=color, weight=weight, ha=align, va="center")
