"""Values that data, model, inference and evaluation share; no behaviour."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nlobayes.untyped import Document, Facts

Columns = dict[str, np.ndarray]
"""The table behind a figure: columns of equal length, by name."""


class Table(NamedTuple):
    """Named columns of equal length, the unit of each, and where they come from."""

    columns: dict[str, np.ndarray]
    units: dict[str, str]
    metadata: dict[str, str]


class RowGroups(NamedTuple):
    """Groups of the rows of a table: the column that names them, their labels, the group of rows.

    `codes` (point,) are the places of the rows' groups in `labels`.
    """

    column: str
    labels: tuple[str, ...]
    codes: np.ndarray


class Dataset(NamedTuple):
    """A prepared table: columns as read, inputs of the network, and the transforms between them."""

    inputs: np.ndarray
    """Columns as read (point, input)."""
    features: np.ndarray
    """Inputs of the network (point, feature)."""
    target: np.ndarray
    """Standardised target: shape (point,), or (point, output) for several targets; integer labels
    for classification."""
    observed: np.ndarray
    """Target as read, in its unit, of the same axes."""
    split: np.ndarray
    """0 train, 1 validation, 2 test, -1 unused (point,)."""
    reference: np.ndarray
    """Rows at which convergence is checked (reference_point,)."""
    input_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    transforms: dict[str, Document]
    """Constants of the feature and target transforms, by name."""
    units: dict[str, str]
    """Unit of each input and of each target, by name."""
    scale_uncertainty: np.ndarray | None = None
    """Change of the target under variation of the physical scale, on the scale that the network
    learns (point,); None if it is not known."""
    error: np.ndarray | None = None
    """Standard deviation of the numerical noise of the target, on the scale that the network
    learns: dex where that is log10 (point,); None where it is not known."""
    relative_to: np.ndarray | None = None
    """Reference of the target, or of the first of several, in its unit (point,); None if the target
    is learned directly. `transforms` defines the reference."""
    groups: RowGroups | None = None
    """Group of each row, such as rows of known quality, whose scores are separate; None where no
    column names them."""

    @property
    def target_scale(self) -> str:
        """Scale on which the target is learned: `log10`, `identity` or `classes`."""
        return str(self.transforms["target"]["scale"])


class Plane(NamedTuple):
    """Class probabilities of the draws between the rows, on a grid over two inputs."""

    inputs: np.ndarray
    """Points of the grid (grid_point, input)."""
    probability: np.ndarray
    """Predictive probabilities, the means over draws (grid_point, class)."""
    expected_entropy: np.ndarray
    """Mean over draws of the entropy of one draw's probabilities, in nats (grid_point,)."""
    names: tuple[str, ...] = ()
    """Names of the inputs."""


class RivalPrediction(NamedTuple):
    """The predictions of a rival at every point, on the model scale."""

    function: np.ndarray
    """Its draws (draw, point), in the form of a posterior; empty if its library is missing."""
    sd: np.ndarray | None
    """Standard deviation of a new observation as the rival states it (point,); None if it states
    none."""
    facts: Facts
    """Facts of its fit, such as the rows that it used."""
    missing: str | None = None
    """Required package that is not installed; None if the rival was fitted."""


class NamedArrays(NamedTuple):
    """Arrays by name, the dims of each, and the coordinates of these dims."""

    values: dict[str, np.ndarray]
    dims: dict[str, tuple[str, ...]]
    coords: Document


class MAPEstimate(NamedTuple):
    """The start of a chain: its MAP as a position (parameter,) and by name, and its history.

    `loss` (negative log posterior per row) and `validation_rmse` (network units): axis (epoch,).
    `path` (snapshot, parameter): the position after `path_epochs` (snapshot,) epochs, in float32.
    """

    chain: int
    position: np.ndarray
    variables: NamedArrays
    loss: np.ndarray
    validation_rmse: np.ndarray
    path_epochs: np.ndarray
    path: np.ndarray


class PosteriorDraws(NamedTuple):
    """Draws of a posterior by any method: chains of MCMC, or an approximation as one chain."""

    function: np.ndarray
    """The network at the reference points in its own units (chain, draw, reference_point), with a
    last axis (output) where it has several."""
    log_density: np.ndarray
    """Log density of every draw (chain, draw), up to a constant."""
    variables: NamedArrays | None = None
    """Weights by name, leading axes (chain, draw); None if a method gives only functions."""
    masks: Mapping[str, np.ndarray] = {}
    """Masks of the weights that a draw uses, by name of the array, if architectures differ; the
    others are zero, so that predictions need no mask."""
    log_approximation: np.ndarray | None = None
    """Log density (chain, draw) of the distribution of an approximation; None if not known."""
    centres: NamedArrays | None = None
    """Weights by name, leading axes (chain, draw), at which the network of each draw is linearised;
    None where draws are of the network itself."""


class PredictedDraws(NamedTuple):
    """Predictions of draws: on the model scale, or the probabilities of classes."""

    function: np.ndarray
    """f of every draw (draw, point), or (draw, point, output) for several targets; for classes
    their probabilities (draw, point, class)."""
    family: str | None = None
    """Family of the likelihood's noise; None for classes."""
    scale: np.ndarray | None = None
    """Its scale, which broadcasts over `function`."""
    degrees_of_freedom: Any = None
    """Of a Student-t; a number, or one per draw (draw, 1)."""


class Predictions(NamedTuple):
    """Predictions of a posterior and of its baseline at every point of a dataset."""

    posterior: PredictedDraws
    """Of the draws, chain after chain."""
    baseline: PredictedDraws
    """Of the MAPs."""
    observed: np.ndarray
    """Target of the points, which with `split` identifies the dataset."""
    split: np.ndarray
    """Split of the points."""
    chains: np.ndarray
    """Numbers of the chains."""
    draws: np.ndarray
    """Numbers of the draws of each chain."""
    sizes: Mapping[str, np.ndarray] = {}
    """Numbers of units or of layers of the network of every draw (chain, draw), by name; empty if
    they are fixed."""
    plane: Plane | None = None
    """Classes between the points; None if these do not have two inputs."""


class EarlierData(NamedTuple):
    """Gaussian summary of f from earlier data: linear combinations of f, with unit noise."""

    inputs: np.ndarray
    """The points, columns as read (point, input)."""
    root: np.ndarray
    """root (combination, point) @ f is N(observed, 1), f on the model scale."""
    observed: np.ndarray
    """Axis (combination,)."""
    input_names: tuple[str, ...]
    target: str
    units: dict[str, str]
    """Unit of each input and of the target, by name."""
    scale: str
    """The model scale: `log10` or `identity`."""
    relative_to: Facts | None = None
    """Settings of the reference of the target; None if the target was learned directly."""
    reference: np.ndarray | None = None
    """Value of the reference at the points (point,); None if there is none."""


class NoiseTable(NamedTuple):
    """The standardised distribution function of a noise (bin, node) at its nodes (node,)."""

    residual: np.ndarray
    probability: np.ndarray


class SurrogateContent(NamedTuple):
    """The arrays of a surrogate for predictions, and its facts."""

    variables: dict[str, np.ndarray]
    """Weights and biases by name, each with leading axis (draw,)."""
    features: np.ndarray
    """Train rows as inputs of the network (row, feature)."""
    spacing: np.ndarray
    """Distance between train rows around each (row,)."""
    limits: np.ndarray
    """Smallest and largest value of each input among the train rows (input, 2)."""
    typical: np.ndarray
    """Inputs of a train row in the middle of the others (input,)."""
    noises: tuple[NoiseTable, ...]
    """The predictive noise of each target, in the bins of a feature; classes have none."""
    facts: Document
    """Everything else by name: transforms, units, the noise's scale, verdicts, provenance."""
    sha256: str = ""
    """SHA-256 of the file that was read; empty otherwise."""
    rows: Mapping[str, np.ndarray] = {}
    """Train rows that an infinitely wide network is conditioned on: `features` (row, feature),
    `target` (row,) and `error` (row,) by name; empty for other networks."""
    held_out: Mapping[str, np.ndarray] = {}
    """Relative errors of the target at rows inside the domain that the network had not learned:
    `stated` and actual `error` (row,) by name; empty for classes and in older files."""
