"""Student-t weights and biases."""

from nlobayes.model.independent import Independent, fan_in


def build(
    *, scale: float, bias_scale: float | None, output_bias_scale: float, degrees_of_freedom: float
) -> Independent:
    """Return weights of scale / fan_in^(1/2), or fan_in^(1/nu) where nu < 2."""
    return fan_in(
        scale,
        bias_scale,
        output_bias_scale,
        family="student_t",
        power=max(0.5, 1 / degrees_of_freedom),
        degrees_of_freedom=degrees_of_freedom,
    )
