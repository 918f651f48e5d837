"""Settings of the Student-t likelihood."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.study.likelihood import ScaledLikelihood


class StudentTLikelihood(ScaledLikelihood):
    """Student-t; chains rarely mix with a learned scale on noise-free targets."""

    kind: Literal["student_t"]
    degrees_of_freedom: Annotated[float, Field(gt=2, allow_inf_nan=False)] | None = 4.0
    """More than 2, so that the variance exists; null learns them, 2 + Gamma(2, 0.1) a priori."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its scale or its degrees of freedom are learned."""
        return self.sigma is None or self.degrees_of_freedom is None
