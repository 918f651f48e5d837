"""The first page of the report: every run with its verdict, in reStructuredText."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nlobayes.commands.shared.verdicts import (
    Finished,
    Said,
    count_passed,
    failures,
    program,
    steps_of,
)

HEADER = ("run", "converged", "calibrated", "RMSE", "68 %", "95 %", "R-hat", "ESS")
HEADER_OF_CLASSES = ("run", "converged", "calibrated", "accuracy", "ece", "R-hat", "ESS")


def landing_page(runs: Sequence[Finished]) -> str:
    """Write the results as tables, then what failed with the next steps, then the surrogates."""
    if not runs:
        return "No run is finished.\n"
    numbers = [run for run in runs if not run.is_of_classes]
    classes = [run for run in runs if run.is_of_classes]
    return "\n\n".join(
        [
            f"**{_plain(count_passed(runs))}.**",
            *([_table([HEADER, *map(_cells, numbers)])] if numbers else []),
            *([_table([HEADER_OF_CLASSES, *map(_cells, classes)])] if classes else []),
            *(_verdict(label, said) for label, said in failures(runs).items()),
            *map(_plain, steps_of(runs)),
            *_surrogates(runs),
        ]
    )


def _table(rows: Iterable[Sequence[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        first, *others = row
        lines += [f"   * - {first}", *(f"     - {cell}" for cell in others)]
    return "\n".join(lines)


def _cells(run: Finished) -> list[str]:
    found = run.diagnostics
    return [
        _plain(run.label),
        "approximate" if run.approximate else "**NO**" if run.unconverged else "yes",
        "**NO**" if run.uncalibrated else "yes",
        *_scores(run),
        _number(found["rhat_f_p99"], ".3f"),
        _number(found["ess_f_bulk_min"], ".0f"),
    ]


def _scores(run: Finished) -> list[str]:
    test = run.evaluation["test"]
    if run.is_of_classes:
        return [_number(test["accuracy"], ".4f"), _number(test["ece"], ".3f")]
    dex = "rmse_log10" in test
    rmse = _number(test["rmse_log10" if dex else "rmse_target"], ".4f")
    inside = [_number(test[key], ".1%") for key in ("coverage_68", "coverage_95")]
    return [f"{rmse} dex" if dex else rmse, *inside]


def _verdict(label: str, said: Said) -> str:
    items = "\n".join(f"- {_plain(line)}" for line in said.failed)
    return f"**{said.headline}:** {_plain(label)}\n\n{items}"


def _surrogates(runs: Sequence[Finished]) -> list[str]:
    written = [run for run in runs if run.surrogate]
    if not written:
        return []
    files = "\n".join(f"- {_plain(run.label)}: {_plain(str(run.surrogate))}" for run in written)
    predict = f"``{program()} predict FILE points.csv -o out.csv``"
    return ["Surrogates, one file each:", files, f"Predict with {predict}."]


def _number(value: float | None, form: str) -> str:
    return "none" if value is None else format(value, form)


def _plain(text: str) -> str:
    """Escape what reStructuredText would read as markup."""
    return "".join(f"\\{sign}" if sign in "\\*`_|" else sign for sign in text)
