"""Convert a folder of SLHA files with cross sections to a table."""

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.made_table import check_ending, write_table
from nlobayes.data.prospino import make_layout
from nlobayes.data.spectra import Account, Reading, SpectrumRequest, read_file, tabulate
from nlobayes.errors import InputError
from nlobayes.study.jobs import IngestJob
from nlobayes.study.read_jobs import read_job
from nlobayes.study.sources.slha import Spectra
from nlobayes.watching.progress import passing

CHUNK = 256
"""Files per task of a process. Fewer than two tasks are done by this process itself."""


def ingest(
    folder: Annotated[Path, typer.Argument(help="Folder of SLHA files.")],
    out: Annotated[Path, typer.Option(help="Table to write: .csv or .parquet.")],
    spec: Annotated[
        str | None,
        typer.Option(help="Job specification: JSON text or a file, with all options below."),
    ] = None,
    pair: Annotated[
        tuple[int, int] | None, typer.Option(help="Numbers of the two neutralinos.")
    ] = None,
    process: Annotated[
        tuple[int, int] | None,
        typer.Option(help="Instead: particle numbers of two particles."),
    ] = None,
    sqrt_s_tev: Annotated[float | None, typer.Option(help="Energy in TeV.")] = None,
    cross_section: Annotated[
        str | None, typer.Option(help="What sigma_pb is: nlo_ms or nlo.")
    ] = None,
    masses: Annotated[str | None, typer.Option(help="signed or absolute.")] = None,
    pattern: Annotated[str | None, typer.Option(help="Which files, such as '**/*.spc'.")] = None,
    layout: Annotated[
        str | None, typer.Option(help="Columns of PROSPINO_OUTPUT, as name:unit with commas.")
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(help="Read blocks XSECTION, at this QCD order: 0 LO, 1 NLO, 2 NLL, 3 NNLL."),
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that read.", min=1)] = None,
) -> None:
    """Read all files, report files without a point and doubtful points, and write the table.

    (No stage: options state the job, and the files of the folder are digested for a record alone.)
    """
    given = {
        "pair": pair,
        "process": process,
        "sqrt_s_tev": sqrt_s_tev,
        "cross_section": cross_section,
        "masses": masses,
        "pattern": pattern,
        "layout": layout.split(",") if layout is not None else None,
        "order": order,
    }
    job = _job(spec, {name: value for name, value in given.items() if value is not None})
    check_ending(out)
    files = _list_files(folder, job.spectra)
    request = _request_of(job.spectra)
    readings = passing(_read(files, request, workers), len(files), f"ingest {folder}")
    names = [path.relative_to(folder).as_posix() for path in files]
    table, account = tabulate(dict(zip(names, readings, strict=True)), request)
    _report(account, str(folder))
    write_table(out, table)
    inputs = digests(files) if record else {}
    made = provenance.record("ingest", job.model_dump(), inputs, account=account)
    write_record(record, made, [out])


def _job(spec: str | None, given: dict[str, object]) -> IngestJob:
    if spec is not None and given:
        raise InputError("commands.spec_and_options", where="ingest", options=[*given])
    return read_job(IngestJob, json.dumps({"spectra": given}) if spec is None else spec)


def _list_files(folder: Path, wanted: Spectra) -> list[Path]:
    try:
        files = wanted.files(folder)
    except OSError as error:
        raise InputError("commands.unlisted_folder", where=folder, reason=str(error)) from None
    if not files:
        raise InputError("commands.no_spectrum", where=folder, pattern=wanted.pattern)
    for path in files:
        if not str(path).isprintable():
            raise InputError("commands.unprintable_name", where=repr(str(path)))
    return files


def _request_of(wanted: Spectra) -> SpectrumRequest:
    return SpectrumRequest(
        process=wanted.reaction,
        sqrt_s_gev=1000 * wanted.sqrt_s_tev,
        cross_section=wanted.cross_section,
        absolute=wanted.masses == "absolute",
        layout=make_layout(wanted.layout, wanted.cross_section),
        order=wanted.order,
    )


def _read(
    files: Sequence[Path], request: SpectrumRequest, workers: int | None
) -> Iterator[Reading]:
    """Read files in several processes, and yield readings in the order of the files."""
    read = partial(read_file, request=request)
    processes = min(workers or os.cpu_count() or 1, len(files) // CHUNK)
    if processes < 2:
        yield from map(read, files)
        return
    # Forked processes would inherit locks of threads that they do not have.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(read, files, chunksize=CHUNK)
        except BrokenProcessPool as error:
            raise MemoryError(f"a process that reads files was killed: {error}") from error


def _report(account: Account, source: str) -> None:
    """Print the number of points, and warnings of files without one and of doubtful points."""
    failed = {f"no usable cross section of {pair}": f for pair, f in account["failed"].items()}
    kinds = {**failed, "pair or energy absent": account["absent"]}
    repeated = {"left out, repeats an earlier file": account["repeated"]}
    for what, listed in {**kinds, **repeated, **account["doubtful"]}.items():
        if listed["count"]:
            more = ", ..." if listed["count"] > len(listed["files"]) else ""
            counted = f"{listed['count']} of {account['files']} files, {', '.join(listed['files'])}"
            typer.echo(f"warning: {source}: {what}: {counted}{more}", err=True)
    typer.echo(f"{source}: points from {account['points']} of {account['files']} files", err=True)
