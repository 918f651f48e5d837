"""The list of all commands, in the groups of their folders.

The help of the command line and the specifications that `nlobayes verify` knows derive from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from nlobayes.stages.definitions import Command, Place
from nlobayes.stages.pipeline import PIPELINE

TOOLS = {
    "fit": Command(
        "Fit a table: from a CSV file to a surrogate with error bars.",
        example="nlobayes fit table.csv --target sigma",
    ),
    "propose": Command(
        "Propose the points to compute next, and say whether enough are.",
        example="nlobayes propose table.csv --target sigma --points 20 --out next.csv",
    ),
    "predict": Command(
        "Predict the points of a table with a surrogate.",
        example="nlobayes predict surrogate.nc points.csv -o out.csv",
    ),
    "onnx": Command(
        "Write a surrogate as an ONNX model.",
        example="nlobayes onnx surrogate.nc -o surrogate.onnx",
    ),
    "bundle": Command(
        "Bundle surrogates of many processes in one folder.",
        example="nlobayes bundle one.nc two.nc --out pairs",
    ),
    "serve": Command(
        "Serve a surrogate on this machine: a web page and an HTTP API.",
        example="nlobayes serve surrogate.nc",
    ),
    "summary": Command(
        "Print the table of a study's runs.",
        example="nlobayes summary",
    ),
    "watch": Command(
        "Show how far runs are, by their results and logs.",
        example="nlobayes watch",
    ),
    "reweight": Command(
        "Move a posterior to another prior or likelihood by weights.",
        "ReweightJob",
        example="nlobayes reweight thinned.nc --dataset data.nc --prior laplace --out moved.nc",
    ),
    "sensitivity": Command(
        "Measure how predictions depend on prior and likelihood.",
        example="nlobayes sensitivity thinned.nc --dataset data.nc",
    ),
    "condense": Command(
        "Condense the posterior of f into a file for the prior of a later run.",
        "CondenseJob",
        example="nlobayes condense thinned.nc --dataset data.nc --out earlier.nc",
    ),
}
AUDIT = {
    "show": Command(
        "Print what an artifact holds and what made it.",
        example="nlobayes show surrogate.nc",
    ),
    "verify": Command(
        "Verify artifacts, what they were made from, and by which code.",
        example="nlobayes verify",
    ),
    "provenance": Command(
        "Export what made every file: PROV-JSON and RO-Crate.",
        example="nlobayes provenance --out provenance.json",
    ),
    "record": Command(
        "Record in dvc.lock what Snakemake made.",
        example="nlobayes record",
    ),
}
GROUPS: dict[str, Mapping[str, Command]] = {"tools": TOOLS, "pipeline": PIPELINE, "audit": AUDIT}


def module_of(command: str) -> str:
    """Name the module of a command; raise KeyError if there is no such command."""
    for group, commands in GROUPS.items():
        if command in commands:
            return f"nlobayes.commands.{group}.{command}"
    raise KeyError(command)


def function_of(command: str) -> Callable[..., None]:
    """Import the function of a command; raise KeyError if there is no such command."""
    function: Callable[..., None] = getattr(import_module(module_of(command)), command)
    return function


def inputs_of(stage: str) -> tuple[str, ...]:
    """List patterns of the paths that a stage may read; import its function if that tells them."""
    stated = PIPELINE[stage].inputs
    if stated is not None:
        return stated
    places: dict[str, tuple[str, ...]] = {place.name.lower(): (place,) for place in Place}
    places["previous"] = (Place.WARMUP, Place.SEGMENT)
    return tuple(path for kind in vars(function_of(stage))["reads"] for path in places[kind])
