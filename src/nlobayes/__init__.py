"""Bayesian neural networks by exact MCMC as surrogates for NLO cross sections."""

from importlib import import_module
from typing import Any

from nlobayes.arviz_parts import without_announcement

without_announcement()


def __getattr__(name: str) -> Any:
    """Import what users call by its short name, when they ask for it and not before."""
    if name == "Surrogate":
        return import_module("nlobayes.surrogate.surrogate").Surrogate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
