"""Settings of the Laplace approximation."""

from __future__ import annotations

from typing import Literal

from nlobayes.settings.values import PositiveInt
from nlobayes.study.methods._modes import FromModes, dense_numbers

EVIDENCES, STEPS = 50, 40
"""Approximate numbers of evaluations of the evidence of one mode, and of steps to the MAP in
each."""


class Laplace(FromModes):
    """A Gaussian about each MAP with the Gauss-Newton curvature there; an approximation."""

    kind: Literal["laplace"]
    covariance: Literal["full", "diagonal", "low_rank"] = "full"
    """`full` is for up to 4000 parameters. `diagonal` uses the variance of each parameter given all
    others. `low_rank` uses the directions that the data constrain best, and the prior in all
    others."""
    rank: PositiveInt = 50
    """Directions of `low_rank`; at least as many as the data constrain."""
    weights: Literal["equal", "evidence"] = "equal"
    """Share of each MAP in the draws: the same, or by the evidence of its Gaussian."""
    predictive: Literal["sampled", "linearised"] = "sampled"
    """Predictions by the network itself with the weights of each draw (`sampled`), or by the
    network linearised in its weights at the draw's MAP (`linearised`), which has no surrogate."""

    hyperparameters: Literal["map", "evidence"] = "map"
    """Centre of the learned hyperparameters, scales of weights and noise: their `map` together with
    the weights, or the values of the highest `evidence`, with the MAP of the weights given them.
    The latter holds the dense curvature, whatever the covariance."""

    @property
    def draws_networks(self) -> bool:
        """Whether the network is not linearised."""
        return self.predictive == "sampled"

    @property
    def has_dense_curvature(self) -> bool:
        """Whether its covariance is full, or hyperparameters are found by the evidence."""
        return self.covariance == "full" or self.hyperparameters == "evidence"

    @property
    def moves_hyperparameters(self) -> bool:
        """Whether it needs a prior or a likelihood that learns hyperparameters."""
        return self.hyperparameters == "evidence"

    @property
    def gradients(self) -> int:
        """Count two per product with the curvature; a rank needs several products.

        Each evaluation of the evidence takes steps to the MAP, of a curvature and a gradient each.
        """
        sought = EVIDENCES * 2 * STEPS if self.hyperparameters == "evidence" else 0
        return self.modes * (sought + (10 * self.rank if self.covariance == "low_rank" else 1))

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers of the dense matrix and its derivatives, or of its eigenvectors."""
        if self.has_dense_curvature:
            of_evidence = 2 if self.hyperparameters == "evidence" else 1
            return of_evidence * dense_numbers(parameters, train)
        return 3 * self.rank * parameters if self.covariance == "low_rank" else 0
