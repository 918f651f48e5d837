"""The command line: one verb per rule of the workflow. Imports a verb only when it is called."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from nlobayes.arviz_parts import without_numba, without_plots
from nlobayes.errors import InputError, one_line
from nlobayes.extras import MissingExtra, remedy_of
from nlobayes.stages import AUDIT, PIPELINE, TOOLS, function_of
from nlobayes.stages.stage import Command

COMMANDS: dict[str, Command] = {**TOOLS, **PIPELINE, **AUDIT}

HELP = {"help_option_names": ["-h", "--help"]}
IN_WORDS = {
    "<bool>": None,
    "<str>": "TEXT",
    "<path>": "PATH",
    "<int>": "NUMBER",
    "<int range>": "NUMBER",
    "<float>": "NUMBER",
    "<float range>": "NUMBER",
    "<list[str]>": "TEXT",
    "<list[str]>...": "TEXT",
    "<list[Path]>": "PATH",
    "<list[Path]>...": "PATH",
}
"""What the help calls types of Python; None is a switch."""

NEW_OBJECTS = 100_000
"""Objects after which Python looks for garbage: at its 700 a fourth of the time of an import is
that search."""

CANNOT_BE_LOADED = (
    "a package cannot be loaded; install the locked environment with `make setup`, or give "
    "the job more memory"
)
FAULTS_OF_PATH = {errno.ENAMETOOLONG, errno.ELOOP}
FAULTS_OF_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


class Verb(TyperCommand):
    """A verb whose help speaks in words, not in types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Name what options take: TEXT, NUMBER, PATH or the choices."""
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            parameter.display_type_rich = partial(_in_words, type(parameter), parameter)
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Write arguments without braces."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.replace("{", "").replace("}", "") for piece in pieces]


def _in_words(kind: Any, parameter: Any, ctx: Any) -> str | None:
    said = kind.display_type_rich(parameter, ctx=ctx)
    return IN_WORDS.get(said, said and said.strip("<>"))


class Verbs(TyperGroup):
    """The verbs, imported on demand."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # names, to suggest one

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one verb."""
        if cmd_name not in COMMANDS:
            return None
        verb: Any = function_of(cmd_name)
        alone = typer.Typer(add_completion=False, context_settings=HELP)
        alone.command(cmd_name, cls=Verb, help=COMMANDS[cmd_name].help)(verb)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Show the verbs without importing them."""
        for title, commands in (("Tools", TOOLS), ("Pipeline", PIPELINE), ("Audit", AUDIT)):
            with formatter.section(title):
                helps = [(name, command.help) for name, command in commands.items()]
                formatter.write_dl(helps, col_max=20)


app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=HELP,
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"nlobayes {version('nlobayes')}")
        raise typer.Exit


@app.callback()
def nlobayes(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Bayesian neural networks by exact MCMC as surrogates for NLO cross sections."""


def start() -> None:
    """Run the command line in a process of its own, which begins sooner."""
    gc.set_threshold(NEW_OBJECTS)
    without_plots()
    stage = PIPELINE.get(_asked())
    if stage is not None and stage.on_gpu:
        without_numba()
    main()


def _asked() -> str:
    return next(iter(sys.argv[1:]), "")


def main() -> None:
    """Run the command line; an error prints one line, with status 2 for invalid input."""
    try:
        app()
    except InputError as error:
        _stop(str(error), status=2)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FAULTS_OF_PATH:
            _stop(f"{error}; give another path", status=2)
        reason = _fault_of_machine(error)
        if reason is None:
            raise
        _stop(reason, status=1)


def _fault_of_machine(error: Exception) -> str | None:
    """State what failed where it is the machine or its installation, not the program."""
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return (
            f"out of memory ({error}); nothing is written; give the job more, or take smaller "
            "execution.chains_per_job or draws_per_segment"
        )
    if isinstance(error, MissingExtra):
        return str(error)
    if isinstance(error, ImportError) and not (error.name or "").startswith("nlobayes"):
        told = remedy_of(error, preferred="audit" if _asked() in AUDIT else "train")
        return f"{error}: {told or CANNOT_BE_LOADED}"
    if isinstance(error, OSError) and error.errno in FAULTS_OF_DISK:
        return f"{error}; free space, or check the disk"
    return None


def _stop(reason: str, status: int) -> None:
    """Print the reason in one line, if standard error is still open."""
    with suppress(OSError):
        typer.echo(f"nlobayes: error: {one_line(reason)}", err=True)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        _drop_unread(stream)
    sys.exit(status)


def _drop_unread(stream: TextIO) -> None:
    """Discard output that has no reader; otherwise Python would end with another status."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
