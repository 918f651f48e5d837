"""Quantities of a PyMC model at stored draws, as groups of their InferenceData."""

from __future__ import annotations

from typing import Any

import pymc as pm

from nlobayes.model.likelihood import TARGET


def add_log_likelihood(model: pm.Model, draws: Any) -> None:
    """Add the log likelihood (chain, draw, point) of each row, given the variables of each draw.

    The draws must contain the free variables of the model.
    """
    pm.compute_log_likelihood(draws, model=model, var_names=[TARGET], progressbar=False)


def add_posterior_predictive(model: pm.Model, draws: Any, seed: int) -> None:
    """Add one replicate (chain, draw, point) of the target of each row for each draw."""
    pm.sample_posterior_predictive(
        draws,
        model=model,
        var_names=[TARGET],
        random_seed=seed,
        progressbar=False,
        extend_inferencedata=True,
    )
