"""The commands: what each one does, in the group whose folder it lives in."""

from __future__ import annotations

PIPELINE = {
    "simulate": "Compute a table with the embedded NLO engine.",
    "ingest": "Turn a folder of SLHA files into a table.",
    "prepare": "Turn a table into a dataset: features, target, splits.",
    "pretrain": "Fit the MAP that one chain starts from.",
    "warmup": "Adapt a block of chains before the first draw.",
    "draw": "Draw one segment of a block of chains.",
    "judge": "Judge whether the segments so far suffice.",
    "approximate": "Make a posterior by an approximate method.",
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
    "plot": "Draw figures from their tables.",
    "compare": "Set runs side by side, with paired differences.",
    "speed": "Time networks: gradients, predictions, loading.",
}
TOOLS = {
    "predict": "Predict the points of a table with a surrogate.",
    "serve": "Serve a surrogate on this machine: a web page and an HTTP API.",
    "summary": "Print the table of a study's runs.",
    "reweight": "Move a posterior to another prior or likelihood by weights.",
    "sensitivity": "Say how far predictions depend on prior and likelihood.",
    "condense": "Condense what data said of f, for the prior of a run to come.",
}
AUDIT = {
    "show": "Print what an artifact holds and what made it.",
    "verify": "Verify artifacts, what they were made from, and by which code.",
    "provenance": "Export what made every file: PROV-JSON and RO-Crate.",
    "record": "Record in dvc.lock what Snakemake made.",
}
GROUPS = {"tools": TOOLS, "pipeline": PIPELINE, "audit": AUDIT}


def module_of(command: str) -> str:
    """Name the module of a command; KeyError where there is no such command."""
    for group, commands in GROUPS.items():
        if command in commands:
            return f"nlobayes.commands.{group}.{command}"
    raise KeyError(command)
