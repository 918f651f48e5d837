"""Settings of the likelihood of two classes."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.likelihood import ClassLikelihood


class BernoulliLikelihood(ClassLikelihood):
    """Bernoulli likelihood of two classes, by the sigmoid of one output."""

    kind: Literal["bernoulli"]
