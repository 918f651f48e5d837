"""The accuracy at which no more points are computed."""

from __future__ import annotations

from pydantic import model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Fraction, Frozen, Positive


class Accuracy(Frozen):
    """Relative errors of predictions that half and 95 % of random points stay within."""

    median: Positive = 0.005
    """Largest relative error of half of the points: 0.005 is 0.5 %."""
    p95: Positive = 0.02
    """Largest relative error of 95 % of the points."""
    confidence: Fraction = 0.95
    """Confidence of both statements, shared among all rounds that are planned."""

    @model_validator(mode="after")
    def _increases(self) -> Accuracy:
        if self.median > self.p95:
            raise InputError("study.accuracy", median=self.median, p95=self.p95)
        return self
