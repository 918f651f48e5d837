"""Settings of the Laplace approximation."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.methods._modes import FromModes, dense_numbers
from nlobayes.study.values import PositiveInt

EVIDENCES, STEPS = 50, 40
"""Evaluations of the evidence of one mode, and steps to the MAP that each takes, about."""


class Laplace(FromModes):
    """A Gaussian about each MAP, of the Gauss-Newton curvature there; an approximation."""

    kind: Literal["laplace"]
    covariance: Literal["full", "diagonal", "low_rank"] = "full"
    """`full` is for up to 4000 parameters. `diagonal` takes each parameter given all others.
    `low_rank` takes the directions that the data hold best, and the prior in all others."""
    rank: PositiveInt = 50
    """Directions of `low_rank`; at least as many as the data hold."""
    weights: Literal["equal", "evidence"] = "equal"
    """Share of each MAP in the draws: the same, or by the evidence of its Gaussian."""
    predictive: Literal["sampled", "linearised"] = "sampled"
    """What predicts: the network itself with the weights of each draw (`sampled`), or the network
    linearised in its weights at the draw's MAP (`linearised`), which has no surrogate."""

    hyperparameters: Literal["map", "evidence"] = "map"
    """Centre of what prior and likelihood learn, scales of weights and noise: their `map` together
    with the weights, or their highest `evidence`, with the MAP of the weights given them. The
    latter holds the dense curvature, whatever the covariance."""

    @property
    def draws_networks(self) -> bool:
        """Whether the network is not linearised."""
        return self.predictive == "sampled"

    @property
    def has_dense_curvature(self) -> bool:
        """Whether its covariance is full, or the evidence of hyperparameters is sought."""
        return self.covariance == "full" or self.hyperparameters == "evidence"

    @property
    def moves_hyperparameters(self) -> bool:
        """Whether it needs a prior or a likelihood that learns some."""
        return self.hyperparameters == "evidence"

    @property
    def gradients(self) -> int:
        """A product of the curvature costs two, and a rank takes several products.

        An evidence takes steps to the MAP, of a curvature and a gradient each.
        """
        sought = EVIDENCES * 2 * STEPS if self.hyperparameters == "evidence" else 0
        return self.modes * (sought + (10 * self.rank if self.covariance == "low_rank" else 1))

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count those of the dense matrix, and of its derivatives, or of its eigenvectors."""
        if self.has_dense_curvature:
            of_evidence = 2 if self.hyperparameters == "evidence" else 1
            return of_evidence * dense_numbers(parameters, train)
        return 3 * self.rank * parameters if self.covariance == "low_rank" else 0
