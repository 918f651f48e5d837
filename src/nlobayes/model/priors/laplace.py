"""Laplace weights and biases."""

from nlobayes.model.independent import Independent, fan_in


def build(*, scale: float, bias_scale: float | None, output_bias_scale: float) -> Independent:
    """Return weights of scale b / sqrt(fan_in), biases of scale b."""
    return fan_in(scale, bias_scale, output_bias_scale, family="laplace")
