"""Errors of the machine are printed in one line; errors of the program keep their traceback."""

import errno
import os
import subprocess
import sys

import pytest

from nlobayes import cli
from nlobayes.cli import main


def end_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the command line end with an error."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(cli, "app", fail)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "out of memory"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes."), "out of memory"),
        (ImportError("libcudart.so.12: cannot open"), "make setup"),
        (ModuleNotFoundError("No module named 'zlib'", name="zlib"), "make setup"),
        (ModuleNotFoundError("No module named 'jax'", name="jax"), "'nlobayes[train]'"),
        (OSError(errno.ENOSPC, "No space left on device"), "free space"),
        (OSError(errno.EIO, "Input/output error"), "check the disk"),
    ],
)
def test_a_fault_of_the_machine_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    message: str,
) -> None:
    end_with(monkeypatch, error)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("nlobayes: error: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("a mistake of ours"),
        ImportError("cannot import name 'x'", name="nlobayes.builder"),
        FileNotFoundError(errno.ENOENT, "a file of ours"),
    ],
)
def test_a_mistake_of_the_program_shows_where(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    end_with(monkeypatch, error)
    with pytest.raises(type(error)):
        main()


def test_what_is_left_to_print_without_a_reader_is_dropped() -> None:
    """Click ends a command so whose reader went away, before Python flushes what is left."""
    program = (
        "import sys; from nlobayes import cli; "
        "cli.app = lambda: (sys.stdout.write('left'), sys.exit(1)); cli.main()"
    )
    command, buffered = [sys.executable, "-c", program], {**os.environ, "PYTHONUNBUFFERED": ""}
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=buffered, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
