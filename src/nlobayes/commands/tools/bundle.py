"""Put surrogates of several processes into one folder, with an index of what they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import as_json
from nlobayes.artifacts.folders import write_folder
from nlobayes.bundles.bundle import Bundle
from nlobayes.bundles.index import (
    FROM_0_TO_1,
    INDEX,
    Entry,
    Index,
    as_mapping,
    entry_of,
    is_correlation,
)
from nlobayes.bundles.surrogates import load_each
from nlobayes.errors import InputError, one_line


def bundle(
    surrogates: Annotated[
        list[Path], typer.Argument(help="Surrogates, written by `nlobayes export`.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to make; it must not exist.")],
    error_correlation: Annotated[
        float,
        typer.Option(
            help="Rank correlation of the errors of two processes at one spectrum, from 0 to 1; "
            "benchmarks/bundle_sum.py of a checkout measures it."
        ),
    ] = 0.0,
) -> None:
    """Make a bundle: surrogates of one process and energy each, and the index `bundle.json`."""
    if not is_correlation(error_correlation):
        raise InputError(
            "bundles.no_correlation",
            where="--error-correlation",
            received=error_correlation,
            allowed=FROM_0_TO_1,
        )
    given = [(Path(path), of) for path, of in load_each(surrogates).values()]
    listed = sorted(((entry_of(of, path), path) for path, of in given), key=_place)
    entries = tuple(entry for entry, _ in listed)
    copies = {entry.file: path for entry, path in listed}
    write_folder(out, copies, {INDEX: as_json(as_mapping(Index(entries, error_correlation)))})
    typer.echo(f"nlobayes: {Bundle.load(out)!r} in {out}", err=True)
    for entry in entries:
        for kind, failed in entry.failed_checks.items():
            if failed:
                said = f"{kind} of {entry.file} failed: {', '.join(failed)}"
                typer.echo(one_line(f"nlobayes: warning: {said}"), err=True)


def _place(listed: tuple[Entry, Path]) -> tuple[float, tuple[int, ...]]:
    """Order surrogates by energy, then by their particles."""
    outgoing, energy = listed[0].key
    return energy, outgoing
