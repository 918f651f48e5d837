"""The command line: one verb per rule of the workflow. Imports a verb only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from nlobayes.errors import InputError

VERBS = {
    "simulate": "Compute a table with the embedded NLO engine.",
    "prepare": "Turn a table into a dataset: features, target, splits.",
    "pretrain": "Fit the MAP that one chain starts from.",
    "warmup": "Adapt a block of chains before the first draw.",
    "draw": "Draw one segment of a block of chains.",
    "judge": "Judge whether the segments so far suffice.",
    "assemble": "Join all chains into one posterior.",
    "diagnose": "Judge the convergence of a posterior.",
    "thin": "Keep as many draws as are nearly independent.",
    "predict": "Evaluate a posterior and its baseline at every point.",
    "evaluate": "Score predictions and their error bars.",
    "landscape": "Survey the energy around the MAPs.",
    "agree": "Compare what several samplers say of one posterior.",
    "compare": "Set runs side by side, with paired differences.",
    "speed": "Time networks: gradients, predictions, loading.",
    "plot": "Draw figures from their tables.",
    "summary": "Print the table of a study's runs.",
}


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
    """Run the command line; an unusable input is one line and exit status 2."""
    try:
        app()
    except InputError as error:
        sys.stderr.write(f"nlobayes: error: {' '.join(str(error).split())}\n")
        sys.exit(2)
