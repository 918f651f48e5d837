"""The first page of the report: every run with its verdict, in reStructuredText."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nlobayes.verbs.verdicts import Finished, program, said_of

HEADER = ("run", "converged", "calibrated", "test score", "inside 68 / 95 %", "R-hat", "ESS")
NUMBER_FORM, SHARE_FORM = ".4f", ".1%"


def landing_page(runs: Sequence[Finished]) -> str:
    """Write the results as a table, then what failed with the next steps, then the surrogates."""
    if not runs:
        return "No run is finished.\n"
    passed = sum(said_of(run) is None for run in runs)
    return "\n\n".join(
        [
            f"**{passed} of {len(runs)} runs converged and are calibrated.**",
            _table([HEADER, *map(_cells, runs)]),
            *filter(None, map(_verdict, runs)),
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
    test, found = run.evaluation["test"], run.diagnostics
    inside = [_number(test.get(key), SHARE_FORM) for key in ("coverage_68", "coverage_95")]
    return [
        _literal(run.label),
        "**NO**" if run.unconverged else "yes",
        "**NO**" if run.uncalibrated else "yes",
        _score(run),
        "" if run.is_of_classes else " / ".join(inside),
        _number(found["rhat_f_p99"], ".3f"),
        _number(found["ess_f_bulk_min"], ".0f"),
    ]


def _score(run: Finished) -> str:
    test = run.evaluation["test"]
    if run.is_of_classes:
        return f"accuracy {_number(test['accuracy'], NUMBER_FORM)}"
    if "rmse_log10" in test:
        return f"RMSE {_number(test['rmse_log10'], NUMBER_FORM)} dex"
    return f"RMSE {_number(test['rmse_target'], NUMBER_FORM)}"


def _verdict(run: Finished) -> str:
    said = said_of(run)
    if said is None:
        return ""
    items = [*map(_plain, said.failed), *(f"next: {_plain(step)}" for step in said.steps)]
    return f"**{said.headline}:** {_literal(run.label)}\n\n" + "\n".join(f"- {i}" for i in items)


def _surrogates(runs: Sequence[Finished]) -> list[str]:
    written = [run for run in runs if run.surrogate]
    if not written:
        return []
    rows = [("surrogate of", "file")]
    rows += [(_literal(run.label), _literal(str(run.surrogate))) for run in written]
    return [
        _table(rows),
        f"Predict with {_literal(f'{program()} predict FILE points.csv -o out.csv')}.",
    ]


def _number(value: float | None, form: str) -> str:
    return "none" if value is None else format(value, form)


def _literal(text: str) -> str:
    return f"``{text}``"


def _plain(text: str) -> str:
    """Escape what reStructuredText would read as markup."""
    return "".join(f"\\{sign}" if sign in "\\*`_|" else sign for sign in text)
