"""Gaussian weights whose variance falls with the fan-in; independent of the width."""

from nlobayes.model.independent import Independent, fan_in


def build(*, scale: float, bias_scale: float | None, output_bias_scale: float) -> Independent:
    """Return weights N(0, scale^2 / fan_in), and biases with separate scales."""
    return fan_in(scale, bias_scale, output_bias_scale)
