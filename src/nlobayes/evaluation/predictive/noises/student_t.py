"""Student-t of 4 degrees of freedom about every draw."""

from functools import partial

import numpy as np

from nlobayes.distributions.laws.recalibrated_student_t import TAILS, RecalibratedStudentT
from nlobayes.distributions.laws.student_t import StudentT
from nlobayes.evaluation.predictive.fitted import FittedNoise, Points, fit_scale
from nlobayes.untyped import Array

ABOUT_MEAN = False

_DEGREES = 4.0


def fit(points: Points) -> FittedNoise:
    """Fit the scale."""
    scale, _ = fit_scale(points, partial(StudentT, degrees_of_freedom=_DEGREES))
    return FittedNoise("student_t", scale, _DEGREES)


def law(fitted: FittedNoise, scale: Array, bins: Array) -> RecalibratedStudentT:
    """Return a Student-t that is truncated beyond the residuals of held-out rows."""
    assert fitted.degrees_of_freedom is not None
    return RecalibratedStudentT(scale, fitted.degrees_of_freedom, np.array(TAILS))
