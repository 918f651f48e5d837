"""Settings of the Gaussian likelihood whose sigma is an output."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.settings.values import Positive
from nlobayes.study.likelihood import LikelihoodSettings


class HeteroscedasticLikelihood(LikelihoodSettings):
    """Gaussian whose sigma is a second output; chains do not mix on noise-free targets."""

    of_one_column: ClassVar[bool] = True

    kind: Literal["heteroscedastic"]
    scale: Positive = 0.1
    """Sigma if the second output, its logarithm, is zero; in units of the network's target."""

    def outputs(self, columns: int) -> int:
        """Count two for each column: its mean and log sigma."""
        return 2 * columns
