"""Some of the keys of diagnostics and scores, for code that reads no others."""

from typing import Any, cast

from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.evaluation.run_evaluation import Evaluation


def diagnosed(**found: Any) -> Diagnostics:
    """Diagnostics with these keys alone."""
    return cast(Diagnostics, found)


def evaluated(**found: Any) -> Evaluation:
    """Scores with these keys alone."""
    return cast(Evaluation, found)
