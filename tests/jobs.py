"""The specification of a model that is stated in one line."""

from typing import Any

from nlobayes.study.jobs import ModelJob


def model_job(
    *hidden: int, prior: Any = None, likelihood: Any = None, sigma: float = 0.2, **network: Any
) -> ModelJob:
    """State a network of hidden layers in double precision; priors and likelihoods as presets."""
    return ModelJob.model_validate(
        {
            "network": {"hidden": hidden, **network},
            "prior": prior or {"kind": "fan_in"},
            "likelihood": likelihood or {"kind": "gaussian", "sigma": sigma},
            "precision": "float64",
        }
    )
