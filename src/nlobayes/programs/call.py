"""One call of a command: in a folder of its own, within limits, ended with all its children."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nlobayes.artifacts import temporaries
from nlobayes.artifacts.files import not_written
from nlobayes.errors import InputError

# The guard waits until this process closes the standard input of the shell, or is killed. Then it
# kills the whole group: the program and its children, also if they ignore other signals. It is no
# child of the program, which may wait for all of its own. Blocks of `ulimit -f` have 512 bytes.
GUARDED = """\
exec 3<&0 </dev/null
( (read _ <&3; kill -9 0) & )
exec 3<&-
ulimit -f "$0" 2>/dev/null
exec "$@"
"""
BLOCKS_PER_MB = 1_000_000 // 512
MOST_OUTPUT_MB = 10
"""Largest output that is read."""
LOG_CHARACTERS = 4000
"""Characters of the end of the log that are kept."""


class Call(NamedTuple):
    """How a call ended, its output, and the end of what it printed.

    Attributes
    ----------
    status
        Exit status; negative for the number of the signal by which it died, None if it was ended
        because it ran too long.
    output
        Text of the output: empty if there is none, None if its file was not written.
    log
        End of what the program printed, errors last.
    megabytes
        Size of the output; if it is above `MOST_OUTPUT_MB`, the text is its beginning.
    """

    status: int | None
    output: str | None
    log: str
    megabytes: float


class Limits(NamedTuple):
    """Seconds that a call may take, and the size of a file that it may write."""

    timeout_s: float
    most_mb: float


def call(
    command: Sequence[str],
    texts: Mapping[str, str],
    files: Mapping[str, Path],
    output: str | None,
    limits: Limits,
) -> Call:
    """Run a command in a fresh folder, and read its output.

    Raises InputError if the command cannot be started, or the folder cannot be written.

    Parameters
    ----------
    command
        Program and arguments. Paths are relative to the folder.
    texts
        Files that are written into the folder, by name.
    files
        Files that are copied into it, and folders that are linked into it, by name.
    output
        Name of the file whose text is returned; None for standard output.
    limits
        Time and size of files.
    """
    with _fresh_folder() as folder:
        inside = folder / "point"
        try:
            inside.mkdir()
            for name, text in texts.items():
                (inside / name).write_text(text, "utf-8")
            for name, path in files.items():
                if path.is_dir():
                    (inside / name).symlink_to(path.absolute())
                else:
                    shutil.copy(path, inside / name)
            check_command(command, inside)
            status = _run(command, folder, inside, limits)
        except OSError as error:
            raise not_written(inside, error) from error
        printed, errors = folder / "printed", folder / "errors"
        place = printed if output is None else inside / output
        answer, size = _read(place)
        return Call(status, answer, f"{_end(printed)}{_end(errors)}".strip(), size / 1e6)


def check_command(command: Sequence[str], folder: Path) -> None:
    """Refuse a program that is missing or not executable, seen from a folder."""
    program = command[0]
    place = folder / program if "/" in program else None
    if place is None:
        if shutil.which(program) is None:
            raise InputError("programs.missing", where="command", program=program)
    elif not place.is_file():
        raise InputError("programs.missing", where="command", program=program)
    elif not os.access(place, os.X_OK):
        raise InputError("programs.not_executable", where="command", program=program)


def _run(command: Sequence[str], folder: Path, inside: Path, limits: Limits) -> int | None:
    """Run a command and return its status, or None after the time is over."""
    blocks = str(max(1, int(limits.most_mb * BLOCKS_PER_MB)))
    with (folder / "printed").open("wb") as printed, (folder / "errors").open("wb") as errors:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", GUARDED, blocks, *command],
                cwd=inside,
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=errors,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise InputError("programs.not_started", where="command", reason=f": {error}") from None
        try:
            return process.wait(limits.timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        finally:
            assert process.stdin is not None
            process.stdin.close()


def _read(path: Path) -> tuple[str | None, int]:
    """Read the beginning of a file, and its size in bytes; None if there is no file."""
    if not path.is_file():
        return None, 0
    with path.open("rb") as file:
        text = file.read(int(MOST_OUTPUT_MB * 1e6)).decode("utf-8", errors="replace")
    return text, path.stat().st_size


def _end(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LOG_CHARACTERS))
        return file.read().decode("utf-8", errors="replace")


@contextmanager
def _fresh_folder() -> Iterator[Path]:
    """Make an empty folder that ends with the block; those of killed processes are removed."""
    ours = Path(tempfile.gettempdir()) / f"nlobayes-{os.getuid()}"
    folder = temporaries.name_beside(ours / "point")
    try:
        ours.mkdir(mode=0o700, exist_ok=True)
        if ours.stat().st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "the folder belongs to another user", str(ours))
        temporaries.remove_left_behind(ours / "point")
        folder.mkdir()
    except OSError as error:
        raise not_written(folder, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
