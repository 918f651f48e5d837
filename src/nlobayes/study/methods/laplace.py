"""Settings of the Laplace approximation."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.methods._modes import FromModes, dense_numbers
from nlobayes.study.values import PositiveInt


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

    @property
    def draws_networks(self) -> bool:
        """Whether the network is not linearised."""
        return self.predictive == "sampled"

    @property
    def has_dense_curvature(self) -> bool:
        """Whether its covariance is full."""
        return self.covariance == "full"

    @property
    def gradients(self) -> int:
        """A product of the curvature costs two, and a rank takes several products."""
        return self.modes * (10 * self.rank if self.covariance == "low_rank" else 1)

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count those of the dense matrix, or of its eigenvectors."""
        if self.covariance == "full":
            return dense_numbers(parameters, train)
        return 3 * self.rank * parameters if self.covariance == "low_rank" else 0
