"""Quantities of a PyMC model at stored draws, as groups of their InferenceData."""

from __future__ import annotations

from typing import Any

import pymc as pm

from nlobayes.model.likelihood import TARGET

WITHOUT_NUMBA = {"mode": "FAST_COMPILE"}
"""PyTensor evaluates by NumPy. Numba, its default, takes longer to compile than all draws here."""


def add_log_likelihood(model: pm.Model, draws: Any) -> None:
    """Add the log likelihood (chain, draw, point) of each row, given the variables of each draw.

    The draws must contain the free variables of the model.
    """
    pm.compute_log_likelihood(
        draws,
        model=model,
        var_names=[TARGET],
        progressbar=False,
        compile_kwargs=WITHOUT_NUMBA,
    )


def add_posterior_predictive(model: pm.Model, draws: Any, seed: int) -> None:
    """Add one replicate (chain, draw, point) of the target of each row for each draw.

    PyMC gets the draws alone: it refuses stored data of another precision than the model has.
    """
    found = pm.sample_posterior_predictive(
        draws["posterior"].to_dataset(),
        model=model,
        var_names=[TARGET],
        random_seed=seed,
        progressbar=False,
        compile_kwargs=WITHOUT_NUMBA,
    )
    draws["posterior_predictive"] = found["posterior_predictive"]
