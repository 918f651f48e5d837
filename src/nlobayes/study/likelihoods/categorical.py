"""Settings of the likelihood of several classes."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.likelihood import ClassLikelihood


class CategoricalLikelihood(ClassLikelihood):
    """One of several classes by the softmax of one output each."""

    kind: Literal["categorical"]

    def outputs(self, columns: int) -> None:
        """Give None: there are as many as classes."""
