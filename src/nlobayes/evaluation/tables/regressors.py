"""The table of a run beside its baselines and its rivals: scores of the same test rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.types import Columns

SCORES = ("lppd", "crps", "coverage_68", "coverage_95")
RUN = "this run"


def regressors(scores: Evaluation) -> Columns:
    """Tabulate the run, its MAPs, least squares, and the rivals that were fitted."""
    known: dict[str, Mapping[str, Any]] = {
        RUN: scores,
        **({"MAPs": scores["baseline"]} if "baseline" in scores else {}),
        **({"least squares": scores["linear"]} if "linear" in scores else {}),
        **{name: rival for name, rival in scores.get("rivals", {}).items() if "test" in rival},
    }
    return {"regressor": np.array([*known])} | {
        name: np.array([_number(of["test"].get(name)) for of in known.values()]) for name in SCORES
    }


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
