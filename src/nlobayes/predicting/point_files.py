"""Prediction of all points of a file into another, by a surrogate or by a bundle, with warnings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import typer

from nlobayes.bundles.surrogates import Bundle
from nlobayes.data.row_chunks import ROWS, Source
from nlobayes.data.slha_blocks import is_slha
from nlobayes.data.spectrum_chunks import open_spectra
from nlobayes.data.table_files import open_stream, open_table
from nlobayes.errors import InputError, one_line
from nlobayes.predicting.bundle_points import BundleRequest, predicted_by_bundle
from nlobayes.predicting.prediction_files import (
    STANDARD,
    check_not_read,
    warn,
    warn_of_checks,
    warn_of_others,
    warn_of_points,
    write_rows,
)
from nlobayes.predicting.slha_out import (
    OPTION,
    Section,
    check_slha,
    section_of,
    sections_of,
    write_xsections,
)
from nlobayes.predicting.surrogate_points import PredictionRequest, Tally, predicted
from nlobayes.surrogate.classifier import Classifier
from nlobayes.surrogate.identity import in_words
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.trained import StoredNetwork

CELLS = 2_000_000
"""Values (draws times points) in memory at once, if posterior draws are requested."""

Watched = AbstractContextManager[Callable[[int, float], None]]
"""Shows progress; gives a function that is called with the number of rows and the share done."""


def predict_with_surrogate(
    loaded: Surrogate | Classifier,
    points: str,
    request: PredictionRequest,
    to: tuple[str, str],
    files: tuple[Path, Path | None],
    watched: Watched,
) -> None:
    """Predict points with one surrogate, and write its cross section as SLHA if requested."""
    out, form = to
    surrogate, slha_out = files
    _check_draws(request, loaded)
    check_not_read("--out", Path(out), (points, str(surrogate)))
    if request.fallback is not None and request.fallback.new_rows is not None:
        check_not_read("--new-rows", request.fallback.new_rows, (points, str(surrogate), out))
    if slha_out is not None and isinstance(loaded, Surrogate):
        check_slha(points)
        _write_xsections([section_of(loaded, points)], points, slha_out, (out, str(surrogate)))
    tally = Tally()
    with _open(points, loaded, request) as source, watched as passed:
        write_rows(predicted(loaded, source, request, tally, passed), out, form, tally)
    typer.echo(one_line(f"nlobayes: {loaded.target} of {in_words(loaded.origin)}"), err=True)
    if request.fallback is not None:
        typer.echo(f"nlobayes: {request.fallback.in_words()}", err=True)
    if loaded.approximate:
        warn("this surrogate is an approximate posterior: convergence does not apply to it")
    warn_of_checks(loaded.failed_checks, "this surrogate")
    warn_of_points(tally, left_out=request.unpredicted == "skip")
    warn_of_others(Path(points))


def predict_with_bundle(
    bundle: Bundle,
    points: str,
    request: BundleRequest,
    to: tuple[str, str],
    slha_out: Path | None,
    watched: Watched,
) -> None:
    """Predict SLHA files with a bundle, and write its cross sections as SLHA if requested."""
    out, form = to
    read = [str(path) for path in bundle.surrogates.paths.values()]
    check_not_read("--out", Path(out), (points, *read))
    if slha_out is not None:
        check_slha(points)
        sections, left_out = sections_of(bundle, points, request)
        _write_xsections(sections, points, slha_out, (out, *read))
        if left_out:
            warn(f"{slha_out} has no block of {len(left_out)} processes: {', '.join(left_out)}")
    tally = Tally()
    with watched as passed:
        write_rows(predicted_by_bundle(bundle, points, request, tally, passed), out, form, tally)
    typer.echo(one_line(f"nlobayes: {bundle!r}"), err=True)
    for entry in bundle.entries:
        if entry.name in tally.entries:
            warn_of_checks(entry.failed_checks, entry.name)
    warn_of_points(tally, left_out=request.unpredicted == "skip")
    warn_of_others(Path(points))


def _write_xsections(
    sections: Sequence[Section], points: str, out: Path, others: tuple[str, ...]
) -> None:
    if any(out == Path(name) for name in others):
        raise InputError("commands.out_is_read", where=OPTION, path=out)
    check_not_read(OPTION, out, others)
    if kept := write_xsections(sections, points, out):
        warn(
            f"{out} keeps cross sections of the same process, energy and order by "
            f"{', '.join(kept)}: a program that reads the file may take either, or both"
        )


def _check_draws(request: PredictionRequest, loaded: StoredNetwork) -> None:
    if request.draws > loaded.draws:
        raise InputError(
            "commands.too_many_draws", where="--draws", requested=request.draws, draws=loaded.draws
        )


def _open(
    points: str, loaded: StoredNetwork, request: PredictionRequest
) -> AbstractContextManager[Source]:
    rows = min(ROWS, max(1, CELLS // loaded.draws)) if request.draws else ROWS
    columns, optional = [*loaded.inputs, *request.keep], [*loaded.condition_names]
    optional += request.fallback.further if request.fallback else []
    if points == STANDARD:
        return nullcontext(
            open_stream(
                sys.stdin.buffer,
                columns,
                "standard input",
                rows,
                optional=optional,
                names=request.names,
            )
        )
    path = Path(points)
    if not path.exists():
        raise InputError("data.no_such_file", where=path)
    if path.is_dir() or is_slha(path):
        return nullcontext(open_spectra(path, columns, rows, optional))
    return open_table(path, columns, rows, optional, request.names)
