"""Settings of the exact posterior of the output layer about each MAP."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.study.methods._modes import FromModes


class LastLayer(FromModes):
    """Weights and bias of the output, drawn given all other parameters at a MAP; an approximation.

    The draws given the other parameters are exact. The method needs a Gaussian likelihood, a prior
    of the output that is Gaussian given its scales, and `precision: float64`.
    """

    draws_output: ClassVar[bool] = True

    kind: Literal["last_layer"]
