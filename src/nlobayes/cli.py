"""The command line. It imports the module of a command only when the command is called."""

from __future__ import annotations

import errno
import gc
import os
import re
import sys
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from nlobayes.errors import InputError, one_line
from nlobayes.extras import MissingExtra, remedy_of
from nlobayes.runtime import use_common_instructions
from nlobayes.stages import AUDIT, PIPELINE, TOOLS, function_of
from nlobayes.stages.definitions import Command, Stage

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
"""Names of Python types in the help; None for a switch, which takes no value."""

NEW_OBJECTS = 100_000
"""Allocated objects after which Python collects garbage. At its default, 700 or 2000, garbage
collection takes a twentieth of the time of imports and of what JAX traces."""

CANNOT_BE_LOADED = (
    "a package cannot be loaded; install the locked environment with `make setup`, or give "
    "the job more memory"
)
FAULTS_OF_PATH = {errno.ENAMETOOLONG, errno.ELOOP}
FAULTS_OF_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


class Verb(TyperCommand):
    """A command whose help names values such as TEXT and PATH, not types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Set the displayed types of parameters: TEXT, NUMBER, PATH or the choices."""
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            parameter.display_type_rich = partial(_in_words, type(parameter), parameter)
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments for the usage line, without braces."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.replace("{", "").replace("}", "") for piece in pieces]


def _help(command: Command) -> str:
    """Return the purpose of a command, and an example; rules call stages with all options."""
    if isinstance(command, Stage):
        path = re.sub(r"{(\w+)}", lambda name: name[1].upper(), command.outputs[0])
        return f"{command.help}\n\nExample: snakemake {path}"
    return f"{command.help}\n\nExample: {command.example}"


def _in_words(kind: Any, parameter: Any, ctx: Any) -> str | None:
    displayed = kind.display_type_rich(parameter, ctx=ctx)
    return IN_WORDS.get(displayed, displayed and displayed.strip("<>"))


class Verbs(TyperGroup):
    """The group of all commands, each imported on demand."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # names, to suggest one

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        verb: Any = function_of(cmd_name)
        alone = typer.Typer(add_completion=False, context_settings=HELP)
        alone.command(cmd_name, cls=Verb, help=_help(COMMANDS[cmd_name]))(verb)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands in the help without importing them."""
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


def _print_version(requested: bool) -> None:
    if requested:
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
    """Run the command line as the main program, with settings that shorten its start."""
    gc.set_threshold(NEW_OBJECTS)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    main()


def _requested_command() -> str:
    return next(iter(sys.argv[1:]), "")


def main() -> None:
    """Run the command line; an error prints one line, with status 2 for invalid input."""
    try:
        use_common_instructions()
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
    finally:  # click has replaced sys.stdout where its reader went away
        for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
            _drop_unread(stream)


def _fault_of_machine(error: Exception) -> str | None:
    """Describe an error of the machine or of the installation; None for an error of the program."""
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return (
            f"out of memory ({error}); nothing is written; give the job more, or take smaller "
            "execution.chains_per_job or draws_per_segment"
        )
    if isinstance(error, MissingExtra):
        return str(error)
    if isinstance(error, ImportError) and not (error.name or "").startswith("nlobayes"):
        remedy = remedy_of(error, preferred="audit" if _requested_command() in AUDIT else "train")
        return f"{error}: {remedy or CANNOT_BE_LOADED}"
    if isinstance(error, OSError) and error.errno in FAULTS_OF_DISK:
        return f"{error}; free space, or check the disk"
    return None


def _stop(reason: str, status: int) -> None:
    """Print the reason in one line, if standard error is still open."""
    with suppress(OSError):
        typer.echo(f"nlobayes: error: {one_line(reason)}", err=True)
    sys.exit(status)


def _drop_unread(stream: TextIO) -> None:
    """Discard output that has no reader; otherwise Python would end with another status."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
