"""Student-t of fitted degrees of freedom about every draw."""

from functools import partial

from nlobayes.distributions.laws.student_t import StudentT
from nlobayes.evaluation.predictive.fitted import FittedNoise, Optimum, Points, fit_scale
from nlobayes.evaluation.predictive.noises import student_t

ABOUT_MEAN = False

_DEGREES = (2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0)


def fit(points: Points) -> FittedNoise:
    """Try degrees of freedom until the density falls, and refit the scale at each."""
    best: tuple[Optimum, float] | None = None
    for degrees in _DEGREES:
        near = None if best is None else best[0].scale
        found = fit_scale(points, partial(StudentT, degrees_of_freedom=degrees), near)
        if best is not None and found.loss >= best[0].loss:
            break
        best = found, degrees
    assert best is not None
    return FittedNoise("fitted_student_t", best[0].scale, best[1])


law = student_t.law
