"""Bayesian neural networks by exact MCMC as surrogates for NLO cross sections."""

from importlib import import_module
from typing import Any

from nlobayes.extras import needs_extra

BY_SHORT_NAME = {
    "BayesianNetworkClassifier": "nlobayes.estimators.classifier",
    "BayesianNetworkRegressor": "nlobayes.estimators.regressor",
    "Bundle": "nlobayes.bundles.surrogates",
    "Classifier": "nlobayes.surrogate.classifier",
    "Surrogate": "nlobayes.surrogate.surrogate",
    "inference_data": "nlobayes.interop.inference_data",
    "pymc_model": "nlobayes.interop.pymc_model",
}
"""The module of what users call by its short name."""


def __getattr__(name: str) -> Any:
    """Import what users call by its short name, on first use."""
    if name in BY_SHORT_NAME:
        with needs_extra():
            return getattr(import_module(BY_SHORT_NAME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
