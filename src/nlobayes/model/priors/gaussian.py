"""Gaussian weights and biases of the same variance, whatever the width."""

from math import sqrt

from nlobayes.model.independent import Independent, gaussian


def build(*, precision: float, bias_precision: float | None, non_centered: bool) -> Independent:
    """Return weights N(0, 1 / precision) and biases of the same or another precision."""
    biases = None if bias_precision is None else 1 / sqrt(bias_precision)
    return gaussian(1 / sqrt(precision), non_centered, biases)
