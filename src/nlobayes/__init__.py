"""Bayesian neural networks by exact MCMC as surrogates for NLO cross sections."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

# As it is imported ArviZ announces its next version, once a day, and notes the day in a file in
# the home folder: where that cannot be written, or jobs that start together replace it, the
# import fails. It is silent where it finds the parts of that version; this says they are there.
_parts = ModuleType("arviz.preview")
_parts.__dict__["info"] = "arviz_base available, arviz_stats available, arviz_plots available"
sys.modules.setdefault("arviz.preview", _parts)


def __getattr__(name: str) -> Any:
    """Import what users call by its short name, when they ask for it and not before."""
    if name == "Surrogate":
        return import_module("nlobayes.surrogate.surrogate").Surrogate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
