"""The protocol of a task: scores and tables of predicted numbers or classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.scores.split import NO_OWN, OwnScores
from nlobayes.types import Columns, Dataset, Plane, PredictedDraws, RivalPrediction


class ScoringData(NamedTuple):
    """The predictions to score, and their points."""

    data: Dataset
    """The dataset."""
    covariate: np.ndarray
    """Horizontal axis of figures (point,)."""
    posterior: PredictedDraws
    """Predictions of all draws, chain after chain."""
    baseline: PredictedDraws
    """Predictions of the MAPs, each a draw."""
    chains: int
    """Number of chains of the posterior."""
    rivals: Mapping[str, RivalPrediction] = {}
    """Predictions of regressors to compare with, by name."""
    sizes: Mapping[str, np.ndarray] = {}
    """Numbers of units or of layers of the network of every draw of the posterior (draw,), by name;
    empty if they are fixed."""
    plane: Plane | None = None
    """Predicted classes between the rows; None if these do not have two inputs."""
    approximate: bool = False
    """Whether the draws are of an approximation: they then give no leave-one-out density."""


class Choices(NamedTuple):
    """Settings of the scores."""

    seed: int
    """Seed of everything that is sampled."""
    coverage_tolerance: float
    """Allowed deviation of the coverage, beyond chance (99.73 %)."""
    chi2_tolerance: float
    """The same of chi² per point."""
    noise: str = "auto"
    """Family of the predictive noise, or `auto`; not used if it was fitted before."""
    image: tuple[int, int] | None = None
    """Rows and columns if the inputs are an image; else None."""
    own: OwnScores = NO_OWN
    """Custom scores."""
    left_out: bool = False
    """Whether predictions of train rows by networks are leave-one-out."""
    cases: tuple[int, ...] = ()
    """Test points to show; if empty, a good, a typical and a bad one."""


class Task(Protocol):
    """The functions that differ between regression and classification."""

    SCALES: tuple[str, ...]
    """Scales of the targets of this task."""

    def score(self, given: ScoringData, choices: Choices) -> Evaluation:
        """Score every split and the baselines, and check the calibration."""
        ...

    def log_likelihood(self, given: ScoringData, rows: np.ndarray) -> np.ndarray:
        """Return the log likelihood (draw, row) of rows (point,) under every draw."""
        ...

    def measure(
        self, given: ScoringData, predicted: np.ndarray, rows: np.ndarray
    ) -> tuple[str, np.ndarray]:
        """Return the RMSE or accuracy, by its key, of predictions (each, point, ...) of rows."""
        ...

    def tables(
        self, given: ScoringData, choices: Choices, scores: Evaluation
    ) -> dict[str, Columns]:
        """Tabulate predictions and their calibration; `scores` are those that `score` gave."""
        ...
