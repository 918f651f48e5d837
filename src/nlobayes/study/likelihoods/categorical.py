"""Settings of the likelihood of several classes."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.likelihood import ClassLikelihood


class CategoricalLikelihood(ClassLikelihood):
    """Categorical likelihood of several classes, by the softmax of one output each."""

    kind: Literal["categorical"]

    def outputs(self, columns: int) -> None:
        """Return None, since the number of outputs is that of the classes."""
