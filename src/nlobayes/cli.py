"""The command line: one verb per rule of the workflow. Imports a verb only when it is called."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from nlobayes.errors import InputError, one_line

VERBS = {
    "simulate": "Compute a table with the embedded NLO engine.",
    "ingest": "Turn a folder of SLHA files into a table.",
    "prepare": "Turn a table into a dataset: features, target, splits.",
    "pretrain": "Fit the MAP that one chain starts from.",
    "warmup": "Adapt a block of chains before the first draw.",
    "draw": "Draw one segment of a block of chains.",
    "judge": "Judge whether the segments so far suffice.",
    "assemble": "Join all chains into one posterior.",
    "diagnose": "Judge the convergence of a posterior.",
    "thin": "Keep as many draws as are nearly independent.",
    "propagate": "Evaluate a posterior and its baseline at every point.",
    "evaluate": "Score predictions and their error bars.",
    "tabulate": "Tabulate what the figures of a run show.",
    "tabulate_classes": "Tabulate what the figures of a run of classes show.",
    "export": "Write the surrogate of a run: one file that predicts.",
    "landscape": "Survey the energy around the MAPs.",
    "prior_predictive": "Tabulate f as the prior has it, before any data.",
    "agree": "Compare what several samplers say of one posterior.",
    "compare": "Set runs side by side, with paired differences.",
    "speed": "Time networks: gradients, predictions, loading.",
    "plot": "Draw figures from their tables.",
    "reweight": "Move a posterior to another prior or likelihood by weights.",
    "sensitivity": "Say how far predictions hang on prior and likelihood.",
    "condense": "Condense what data said of f, for the prior of a run to come.",
    "predict": "Predict the points of a table with a surrogate.",
    "serve": "Serve a surrogate on this machine: a web page and an HTTP API.",
    "summary": "Print the table of a study's runs.",
    "show": "Print what an artifact holds and what made it.",
    "verify": "Verify artifacts, what they were made from, and by which code.",
    "provenance": "Export what made every file: PROV-JSON and RO-Crate.",
    "record": "Record in dvc.lock what Snakemake made.",
}

NEW_OBJECTS = 100_000
"""Objects after which Python looks for garbage: at its 700 a fourth of the time of an import is
that search."""

FAULTS_OF_PATH = {errno.ENAMETOOLONG, errno.ELOOP}
FAULTS_OF_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


class Verbs(TyperGroup):
    """The verbs, imported on demand."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the verbs in the order of the pipeline."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one verb."""
        if cmd_name not in VERBS:
            return None
        verb: Any = getattr(import_module(f"nlobayes.verbs.{cmd_name}"), cmd_name)
        alone = typer.Typer(add_completion=False)
        alone.command(cmd_name, help=VERBS[cmd_name])(verb)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Show the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


app = typer.Typer(cls=Verbs, add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def nlobayes() -> None:
    """Bayesian neural networks by exact MCMC as surrogates for NLO cross sections."""


def main() -> None:
    """Run the command line; one line says why it ends early, with status 2 for unusable input."""
    gc.set_threshold(NEW_OBJECTS)
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
    """Say what failed where it is the machine or its installation, not the program."""
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return (
            f"out of memory ({error}); nothing is written; give the job more, or take smaller "
            "execution.chains_per_job or draws_per_segment"
        )
    if isinstance(error, ImportError) and not (error.name or "").startswith("nlobayes"):
        return (
            f"{error}: a package cannot be loaded; install the locked environment with "
            "`uv sync --locked`, or give the job more memory"
        )
    if isinstance(error, OSError) and error.errno in FAULTS_OF_DISK:
        return f"{error}; free space, or check the disk"
    return None


def _stop(reason: str, status: int) -> None:
    """Say why in one line, where there is still someone to say it to."""
    with suppress(OSError):
        typer.echo(f"nlobayes: error: {one_line(reason)}", err=True)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        _drop_unread(stream)
    sys.exit(status)


def _drop_unread(stream: TextIO) -> None:
    """Throw away what nobody can take: Python would end with another status, and say so."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
