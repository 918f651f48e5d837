"""A program at many points: what is stored is read, the rest is called and stored."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Iterator, Mapping
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.point_store import stored_or_made
from nlobayes.errors import InputError, one_line
from nlobayes.exchange.fields import filled
from nlobayes.exchange.inputs import Input
from nlobayes.exchange.outputs import Output
from nlobayes.programs.call import MOST_OUTPUT_MB, Call, Limits, call
from nlobayes.study.program import INPUT, Program
from nlobayes.untyped import Document, Facts

HUNG = "hung"
"""Status of a program that was ended because it ran too long."""
NOT_STARTED = (126, 127)
"""Statuses of a shell for a program that it cannot execute or find."""
LOG_IN_REASON = 300
"""Most characters of the log in a reason."""


class Outcome(NamedTuple):
    """Results of a program.

    Attributes
    ----------
    value
        Result at each point (point,), in the unit of the program's output; NaN where it failed.
    reasons
        Why a point failed, in one line; empty where it did not.
    files
        File of each point in the store.
    """

    value: np.ndarray
    reasons: list[str]
    files: list[Path]


def compute(
    program: Program, points: Mapping[str, np.ndarray], store: Path, workers: int = 1
) -> Outcome:
    """Compute a program at points, those that are stored without a call.

    A point is known by what the program gets: input file, arguments, version, and files of the
    user. What the program answered is stored, and read again each time, so a corrected pattern of
    the output needs no call. A failure is stored as well. A point at which the program exceeded its
    time or died by a signal is tried again if `attempts` or `timeout_s` are larger than before.
    Points with another failure are tried again after their files were deleted.

    Raises InputError if the program cannot be started, a field of it is no column, or a file cannot
    be written. Points that were computed before stay stored.

    Parameters
    ----------
    program
        How it is called, and where its result is.
    points
        Values (point,) by column.
    store
        Folder of the store.
    workers
        Number of points that are computed at a time.
    """
    program.check_columns(tuple(points))
    folder = store / program.digest
    if not (folder / "program.json").is_file():
        write_json(folder / "program.json", program.identity)
    rows = [dict(zip(points, row, strict=True)) for row in _rows(points)]
    answers = [*_in_threads(partial(_answer, program, folder), rows, workers)]
    value, reasons = np.full(len(rows), np.nan), [""] * len(rows)
    for place, (_, answer) in enumerate(answers):
        try:
            value[place] = result_of(program.output, answer)
        except InputError as error:
            reasons[place] = one_line(error.reason)
    return Outcome(value, reasons, [path for path, _ in answers])


def _rows(points: Mapping[str, np.ndarray]) -> list[list[float]]:
    return np.column_stack([*points.values()]).astype(float).tolist() if points else []


def _in_threads(
    answer: partial[tuple[Path, Document]], rows: list[dict[str, float]], workers: int
) -> Iterator[tuple[Path, Document]]:
    """Yield the answers of points in their order; after an error no further point begins."""
    if min(workers, len(rows)) < 2:
        yield from map(answer, rows)
        return
    # These threads end with the process, so that an interrupt need not wait for programs.
    with ThreadPool(min(workers, len(rows))) as pool:
        yield from pool.imap(answer, rows)


def _answer(program: Program, folder: Path, point: Mapping[str, float]) -> tuple[Path, Document]:
    """Return the file of a point and what it holds, after calls if they are needed."""
    texts = _texts(program.input, point)
    field, file = f"{{{INPUT}}}", "".join(texts)
    command = [filled(word.replace(field, file), point) for word in program.command]
    told: Document = {
        "arguments": command,
        "input": {name: _digest(text) for name, text in texts.items()},
        "program": program.digest,
    }
    key = _digest(json.dumps(told, sort_keys=True))
    path = folder / key[:2] / f"{key}.json"

    def make(before: Document | None) -> Facts:
        runs = before["runs"] if before and not _had_less_time(before, program) else 0
        files = {file.name: Path(file.path) for file in program.files}
        limits = Limits(program.timeout_s, program.most_mb)
        while True:
            runs += 1
            done = call(command, texts, files, program.output.file, limits)
            facts = {**told, **_facts(done)}
            if facts["status"] != 0:
                facts |= {"runs": runs, "timeout_s": program.timeout_s}
            if _is_final(facts, program):
                return facts

    return path, stored_or_made(path, partial(_is_final, program=program), make)


def _texts(given: Input | None, point: Mapping[str, float]) -> dict[str, str]:
    """Return the input file of a point by its name; nothing if the program has none."""
    return {given.name: given.text(point)} if given else {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _facts(done: Call) -> Facts:
    """Return what is stored of a call; only failures keep a log, which may name times.

    Raises InputError if the shell could not start the program, or the program another one.
    """
    if done.status in NOT_STARTED:
        raise InputError("programs.not_started", where="command", reason=_shown(done.log))
    if done.status == 0 and done.output is not None and done.megabytes <= MOST_OUTPUT_MB:
        return {"status": 0, "output": done.output}
    status = HUNG if done.status is None else done.status
    return {"status": status, "output": None, "megabytes": done.megabytes, "log": done.log}


def _is_final(facts: Facts, program: Program) -> bool:
    """Return whether a point is not tried again: it has an output, or failed often enough."""
    if facts["status"] != HUNG and facts["status"] >= 0:
        return True
    return facts["runs"] >= program.attempts and not _had_less_time(facts, program)


def _had_less_time(facts: Facts, program: Program) -> bool:
    return bool(facts["status"] == HUNG and facts["timeout_s"] < program.timeout_s)


def result_of(output: Output, facts: Facts) -> float:
    """Read the result from what is stored of a point.

    Raises InputError with the reason if the point has none.
    """
    status, log = facts["status"], _shown(facts.get("log", ""))
    if status == HUNG:
        raise InputError("programs.hung", seconds=facts["timeout_s"], runs=facts["runs"], log=log)
    if status < 0:
        name = signal.Signals(-status).name
        raise InputError("programs.died", signal=name, runs=facts["runs"], log=log)
    if status > 0:
        raise InputError("programs.ended", status=status, log=log)
    if facts["output"] is not None:
        return output.read(facts["output"])
    if facts["megabytes"] > MOST_OUTPUT_MB:
        raise InputError("programs.long_output", mb=facts["megabytes"], most=MOST_OUTPUT_MB)
    raise InputError("programs.no_output_file", file=output.file, log=log)


def _shown(log: str) -> str:
    """Return the end of a log for a sentence."""
    text = " ".join(log.split())[-LOG_IN_REASON:]
    return f": {text}" if text else ""
