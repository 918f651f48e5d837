"""The landing page of the report: every run with its verdict, in reStructuredText."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nlobayes.commands.shared.answers import answers
from nlobayes.commands.shared.centre_scores import SOURCE, centre_rows
from nlobayes.commands.shared.centre_scores import TITLE as TITLE_OF_CENTRES
from nlobayes.commands.shared.centre_scores import header as header_of_centres
from nlobayes.commands.shared.group_scores import TITLE, group_rows
from nlobayes.commands.shared.group_scores import header as header_of_groups
from nlobayes.commands.shared.output_rows import TITLE as TITLE_OF_OUTPUTS
from nlobayes.commands.shared.output_rows import header as header_of_outputs
from nlobayes.commands.shared.output_rows import output_rows
from nlobayes.commands.shared.rival_scores import TITLE as TITLE_OF_RIVALS
from nlobayes.commands.shared.rival_scores import header as header_of_rivals
from nlobayes.commands.shared.rival_scores import rival_rows
from nlobayes.commands.shared.size_rows import TITLE as TITLE_OF_SIZES
from nlobayes.commands.shared.size_rows import header as header_of_sizes
from nlobayes.commands.shared.size_rows import size_rows
from nlobayes.commands.shared.summary_table import filled_by, score_columns
from nlobayes.commands.shared.verdicts import (
    FailedRun,
    Finished,
    failures,
    identities,
    program,
    stackings,
    steps_of,
)
from nlobayes.metrics import metric_of
from nlobayes.metrics.shown import BRACKETS, shown


def landing_page(runs: Sequence[Finished]) -> str:
    """Write answers to the first questions, then tables, failed checks and surrogates."""
    if not runs:
        return "No run is finished.\n"
    numbers = [run for run in runs if not run.is_of_classes]
    classes = [run for run in runs if run.is_of_classes]
    return "\n\n".join(
        [
            *(f"**{question}** {_plain(answer)}" for question, answer in answers(runs).items()),
            *([_table([_header(False), *map(_cells, numbers)])] if numbers else []),
            *([_table([_header(True), *map(_cells, classes)])] if classes else []),
            BRACKETS,
            *_groups(runs),
            *_outputs(runs),
            *_sizes(runs),
            *_centres(runs),
            *_rivals(runs),
            *(_verdict(label, failure) for label, failure in failures(runs).items()),
            *map(_plain, steps_of(runs)),
            *map(_plain, stackings(runs)),
            *_surrogates(runs),
        ]
    )


def _groups(runs: Sequence[Finished]) -> list[str]:
    """Write the scores of groups of test rows, if there are any."""
    tables = [
        _table([header_of_groups(of_classes), *([_plain(cell) for cell in row] for row in rows)])
        for of_classes in (False, True)
        if (rows := group_rows(runs, of_classes))
    ]
    return [f"{TITLE}:", *tables] if tables else []


def _outputs(runs: Sequence[Finished]) -> list[str]:
    """Write the scores of every target, if a network learned several."""
    rows = [[_plain(cell) for cell in row] for row in output_rows(runs)]
    return [f"{TITLE_OF_OUTPUTS}:", _table([header_of_outputs(), *rows])] if rows else []


def _sizes(runs: Sequence[Finished]) -> list[str]:
    """Write the drawn sizes of networks, if there are any."""
    rows = [[_plain(cell) for cell in row] for row in size_rows(runs)]
    return [f"{TITLE_OF_SIZES}:", _table([header_of_sizes(), *rows])] if rows else []


def _centres(runs: Sequence[Finished]) -> list[str]:
    """Write the scores of error bars about other centres, and of the model's own."""
    rows = [[_plain(cell) for cell in row] for row in centre_rows(runs)]
    table = _table([header_of_centres(), *rows])
    return [f"{TITLE_OF_CENTRES}:", table, _plain(SOURCE)] if rows else []


def _rivals(runs: Sequence[Finished]) -> list[str]:
    """Write the scores of rivals beside those of their runs, if there are any."""
    rows = [[_plain(cell) for cell in row] for row in rival_rows(runs)]
    return [f"{TITLE_OF_RIVALS}:", _table([header_of_rivals(), *rows])] if rows else []


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
        "**NO**" if run.uncalibrated else "not tested" if run.untested else "yes",
        *_scores(run),
        _number(found["rhat_f"], ".3f"),
        _number(run.effective_draws, ".0f"),
    ]


def _header(of_classes: bool) -> list[str]:
    titles = [column.title for column in score_columns(of_classes) if column.first]
    return ["run", "converged", "calibrated", *titles, "R-hat", "ESS scored"]


def _scores(run: Finished) -> list[str]:
    test, cells = run.evaluation["test"], []
    for column, keys in score_columns(run.is_of_classes).items():
        if column.first:
            key = filled_by(keys, test)
            unit = " dex" if metric_of(key).unit == "dex" else ""
            cells.append(shown(test, key, column.form) + unit)
    return cells


def _verdict(label: str, failure: FailedRun) -> str:
    items = "\n".join(f"- {_plain(line)}" for line in failure.failed)
    return f"**{failure.headline}:** {_plain(label)}\n\n{items}"


def _surrogates(runs: Sequence[Finished]) -> list[str]:
    written = [run for run in runs if run.surrogate]
    if not written:
        return []
    files = "\n".join(f"- {_plain(run.label)}: {_plain(str(run.surrogate))}" for run in written)
    predict = f"``{program()} predict FILE points.csv -o out.csv``"
    lines = [_plain(f"{', '.join(names)}: {of}") for of, names in identities(runs).items()]
    what = ["What they are of:", "\n".join(f"- {line}" for line in lines)] if lines else []
    return ["Surrogates, one file each:", files, *what, f"Predict with {predict}."]


def _number(value: float | None, form: str) -> str:
    return "none" if value is None else format(value, form)


def _plain(text: str) -> str:
    """Escape characters that reStructuredText reads as markup."""
    return "".join(f"\\{sign}" if sign in "\\*`_|" else sign for sign in text)
