"""The size of a job: the numbers that determine its memory and its time."""

from __future__ import annotations

from typing import NamedTuple

GRADIENT_SECONDS = 5e-5
"""Fixed time of a gradient."""
CELL_SECONDS = 5e-10
"""Time of a gradient per weight and train row."""
FILE_SECONDS = 0.02
"""Time to read an SLHA file on a slow file system."""
MOST_OF_PROCESS = 250_000_000
"""Numbers that a Gaussian process holds at most while its hyperparameters are fitted."""
RIVAL_SECONDS = 1800
"""Time of a rival for any number of rows: the rows or the steps are bounded."""
SURVEY_GRADIENTS = 5000
"""Gradients of the survey of a landscape."""


class Size(NamedTuple):
    """The numbers that determine memory and time."""

    rows: int
    """Rows of all splits."""
    columns: int
    train: int
    """Rows of the train split."""
    reference: int
    """Reference points."""
    outputs: int = 1
    """Outputs of the network."""
    weights: int = 0
    """Parameters of the network."""
    matrix: int = 0
    """Numbers of the mass matrices of a chain."""
    marginal: int = 0
    """Numbers that a gradient holds where the output layer is integrated out."""
    chains: int = 0
    """Chains of the run."""
    chain_group: int = 0
    """Chains that one job computes."""
    warmup: int = 0
    """Steps of a segment of the warm-up."""
    segment: int = 0
    """Draws of a segment."""
    draws: int = 0
    """Draws of a chain."""
    kept: int = 0
    """Draws of a chain with weights."""
    segment_kept: int = 0
    """Draws of a segment with weights."""
    prior_draws: int = 0
    """Draws of a prior predictive check."""
    draw_seconds: float = 0.0
    """Time of one draw of a chain."""
    pretrain_seconds: float = 0.0
    """Time of one MAP."""
    pretraining_gpus: int = 0
    """GPUs of the job of a MAP."""
    gpus: int = 0
    """GPUs of one job of chains."""
    called_mb: int = 0
    """Memory of the calls of a program that run at a time."""
    calling_seconds: float = 0.0
    """Time of the calls of a program in one job."""

    @property
    def data(self) -> int:
        """Numbers of the dataset: features, targets, and intermediate arrays."""
        return 10 * self.rows * (self.columns + 4)

    @property
    def drawn(self) -> int:
        """Numbers of a posterior: the function and the stats of every draw, the kept weights."""
        return self.chains * (self.kept * self.weights + self.draws * self._of_each)

    @property
    def segment_drawn(self) -> int:
        """Numbers of one segment of a chain group."""
        return self.chain_group * (self.segment_kept * self.weights + self.segment * self._of_each)

    @property
    def _of_each(self) -> int:
        """Numbers of the function and the stats of a draw."""
        return self.outputs * self.reference + 20

    @property
    def predicted(self) -> int:
        """Numbers of all predictions, without thinning."""
        return self.chains * self.kept * self.rows * self.outputs

    @property
    def reading_seconds(self) -> float:
        """Time to read one SLHA file per row."""
        return FILE_SECONDS * self.rows

    @property
    def prediction_seconds(self) -> float:
        """Time of all predictions."""
        return CELL_SECONDS * self.predicted * self.weights

    @property
    def process(self) -> int:
        """Numbers of a Gaussian process: matrices (row, row), three for each feature."""
        return min(self.train**2 * (3 * self.columns + 18), MOST_OF_PROCESS)

    @property
    def rival_seconds(self) -> float:
        """Time to fit a rival and to predict all rows."""
        return RIVAL_SECONDS + 1e-3 * self.rows

    @property
    def survey_seconds(self) -> float:
        """Time to survey the energy around the MAPs."""
        return SURVEY_GRADIENTS * gradient_seconds(self.weights, self.train)


def gradient_seconds(weights: int, train: int) -> float:
    """Bound the time of one gradient in single precision on one core."""
    return GRADIENT_SECONDS + CELL_SECONDS * weights * train
