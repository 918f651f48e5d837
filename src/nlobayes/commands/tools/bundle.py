"""Put surrogates of several processes into one folder, with an index of their processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import as_json, write_folder
from nlobayes.bundles.index import INDEX, Entry, Index, as_mapping, entry_of
from nlobayes.bundles.shared_rows import SharedRows, widening
from nlobayes.bundles.surrogates import Bundle, load_each
from nlobayes.bundles.training_data import share, trained
from nlobayes.errors import one_line
from nlobayes.surrogate.surrogate import Surrogate

Listed = tuple[Entry, Path, Surrogate]
"""The entry of a surrogate in the index, its file, and the loaded surrogate."""


def bundle(
    surrogates: Annotated[
        list[Path], typer.Argument(help="Surrogates, written by `nlobayes export`.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to make; it must not exist.")],
) -> None:
    """Make a bundle: surrogates of one process and energy each, and the index `bundle.json`."""
    loaded = [(Path(path), surrogate) for path, surrogate in load_each(surrogates).values()]
    listed = sorted(((entry_of(s), path, s) for path, s in loaded), key=_place)
    entries = tuple(entry for entry, _, _ in listed)
    copies = {entry.file: path for entry, path, _ in listed}
    index = Index(entries, _shared(listed))
    write_folder(out, copies, {INDEX: as_json(as_mapping(index))})
    typer.echo(f"nlobayes: {Bundle.load(out)!r} in {out}", err=True)
    _state_sums(index)
    for entry in entries:
        for kind, failed in entry.failed_checks.items():
            if failed:
                warning = f"{kind} of {entry.file} failed: {', '.join(failed)}"
                typer.echo(one_line(f"nlobayes: warning: {warning}"), err=True)


def _shared(listed: Sequence[Listed]) -> tuple[SharedRows, ...]:
    """Find the validation rows that all surrogates of an energy share."""
    found = []
    for energy in sorted({entry.sqrt_s_gev for entry, _, _ in listed}):
        rows = [trained(e.file, path, s) for e, path, s in listed if e.sqrt_s_gev == energy]
        known = [each for each in rows if each is not None]
        if len(known) == len(rows) > 1:
            found.append(share(known))
    return tuple(shared for shared in found if shared is not None)


def _state_sums(index: Index) -> None:
    """Print for each energy whether error bars of sums follow from shared validation rows."""
    checked = {file: rows for rows in index.shared for file in rows.files}
    for energy in sorted({entry.sqrt_s_gev for entry in index.entries}):
        files = [entry.file for entry in index.entries if entry.sqrt_s_gev == energy]
        if len(files) > 1 and files[0] in checked:
            count, factor = checked[files[0]].errors.shape[1], widening(index.shared, files)
            text = f"intervals of the sum at {energy:g} GeV are {factor:.2f} times as wide as those"
            typer.echo(f"nlobayes: {text} of independent errors, by {count} rows", err=True)
        elif len(files) > 1:
            text = f"errors of sums at {energy:g} GeV are taken as independent"
            reason = "the datasets of its surrogates are not here, or of different spectra"
            typer.echo(f"nlobayes: warning: {text}: {reason}", err=True)


def _place(listed: Listed) -> tuple[float, tuple[int, ...]]:
    """Return the sort key of a surrogate: its energy, then its particles."""
    outgoing, energy = listed[0].key
    return energy, outgoing
