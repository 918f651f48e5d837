"""Put surrogates of several processes into one folder, with an index of their processes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import as_json, write_folder
from nlobayes.bundles.index import INDEX, Index, as_mapping
from nlobayes.bundles.shared_rows import SharedRows, widening
from nlobayes.bundles.surrogates import Bundle
from nlobayes.bundles.training_data import share, trained
from nlobayes.errors import one_line


def bundle(
    surrogates: Annotated[
        list[Path], typer.Argument(help="Surrogates, written by `nlobayes export`.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to make; it must not exist.")],
) -> None:
    """Make a bundle: surrogates of one process and energy each, and the index `bundle.json`."""
    made = Bundle.of(*surrogates)
    paths = made.surrogates.paths
    copies = {entry.file: paths[entry.name] for entry in made.entries}
    index = Index(made.entries, _shared(made))
    write_folder(out, copies, {INDEX: as_json(as_mapping(index))})
    typer.echo(f"nlobayes: {Bundle.load(out)!r} in {out}", err=True)
    _state_sums(index)
    for entry in index.entries:
        for kind, failed in entry.failed_checks.items():
            if failed:
                warning = f"{kind} of {entry.file} failed: {', '.join(failed)}"
                typer.echo(one_line(f"nlobayes: warning: {warning}"), err=True)


def _shared(bundle: Bundle) -> tuple[SharedRows, ...]:
    """Find the validation rows that all surrogates of an energy share."""
    found = []
    for energy in bundle.energies:
        rows = [
            trained(entry.file, bundle.surrogates.paths[entry.name], bundle.surrogates[entry.name])
            for entry in bundle.entries
            if entry.sqrt_s_gev == energy
        ]
        known = [each for each in rows if each is not None]
        if len(known) == len(rows) > 1:
            found.append(share(known))
    return tuple(shared for shared in found if shared is not None)


def _state_sums(index: Index) -> None:
    """Print for each energy whether error bars of sums follow from shared validation rows."""
    checked = {file: rows for rows in index.shared for file in rows.files}
    independent = []
    for energy in sorted({entry.sqrt_s_gev for entry in index.entries}):
        files = [entry.file for entry in index.entries if entry.sqrt_s_gev == energy]
        if len(files) > 1 and files[0] in checked:
            count, factor = checked[files[0]].errors.shape[1], widening(index.shared, files)
            text = f"intervals of the sum at {energy:g} GeV are {factor:.2f} times as wide as those"
            typer.echo(f"nlobayes: {text} of independent errors, by {count} rows", err=True)
        elif len(files) > 1:
            independent.append(f"{energy:g}")
    if independent:
        text = f"errors of sums at {', '.join(independent)} GeV are taken as independent"
        reason = "the datasets of its surrogates are not here, or of different spectra"
        typer.echo(f"nlobayes: warning: {text}: {reason}", err=True)
