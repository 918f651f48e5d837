"""The runs of a table by its recipes in turn, as `fit` and `propose` make and report them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from nlobayes.errors import InputError
from nlobayes.fitting.as_given import MADE, Words
from nlobayes.fitting.fits import Fitted, fit_best
from nlobayes.fitting.studies import OWN, Configuration

OPTIONS: Words = (
    *MADE,
    (rf"\bnetworks\.{OWN}(?:\.hidden(?:\.\d+)?)?(?=: )", "--hidden"),
    (rf"\b(prior|likelihood|pretraining|method)s?\.{OWN}(?=: )", r"--\1"),
    (rf"\b(prior|likelihood|pretraining|method)s?\.{OWN}\.", r"--\1 "),
    (r"^(prior|likelihood|pretraining|method)(?=: unknown name)", r"--\1"),
    (r"\bfeatures\.columns\b", "--column"),
    (r"\btarget\.column\b", "--target"),
    (r"\b(?:features|source|target)\.units?\b", "--unit"),
    (r"\btarget\.scale\b", "--scale"),
    (r"\btarget\.(?:relative_)?error\b", "--relative-error"),
    (r"\btarget\.relative_to(?:\.columns)?\b", "--relative-to"),
    (r"`scale: (log10|identity)`", r"`--scale \1`"),
)
"""Places in a study, and the options of `fit` and `propose` that state them."""
MOST_WORKERS = 4
"""Most processes that compute chains, by default."""


def sample(
    recipes: Sequence[str], configurations: Sequence[Configuration], workers: int
) -> tuple[int, Fitted]:
    """Sample the runs in turn, print their recipes, and return the number of the kept one."""
    tried: list[str] = []

    def announce(recipe: str, why: str) -> None:
        tried.append(recipe)
        typer.echo(f"recipe: {recipe}{why and f' ({why})'}", err=True)

    with TemporaryDirectory(prefix="nlobayes-", ignore_cleanup_errors=True) as folder:
        best = fit_best(recipes, configurations, Path(folder), workers=workers, announce=announce)
    kept = recipes[best.number]
    if kept != tried[-1]:
        typer.echo(f"kept: recipe {kept}, whose chains agree better", err=True)
    return best.number, best.fitted


def workers() -> int:
    """Count the processes for chains, at most one per core; one process without joblib."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MOST_WORKERS) if find_spec("joblib") else 1


def unit_of(text: str) -> tuple[str, str]:
    """Read the name of a column and its unit, as `m1=GeV`."""
    name, equals, unit = text.partition("=")
    if not (name and equals and unit):
        raise InputError("fitting.unit", received=text)
    return name, unit
