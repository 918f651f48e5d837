"""Cauchy weights and biases."""

from nlobayes.model.independent import Independent, fan_in


def build(*, scale: float, bias_scale: float | None, output_bias_scale: float) -> Independent:
    """Return weights of scale / fan_in: a Cauchy is stable of index 1 (Neal 1996, chapter 2)."""
    return fan_in(scale, bias_scale, output_bias_scale, family="cauchy", power=1.0)
