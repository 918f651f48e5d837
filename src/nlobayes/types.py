"""Values that data, model, inference and evaluation share; no behaviour."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from nlobayes.untyped import Document, Facts

Columns = dict[str, np.ndarray]
"""The table behind a figure: columns of equal length, by name."""
Value = TypeVar("Value")


class File(NamedTuple):
    """How a value is read and written: an annotation of the parameters and results of stages.

    Attributes
    ----------
    read
        Reads the value from a path, or takes it from an artifact that was opened if it has a kind.
    write
        Writes path, value and origin; only path and value where the format cannot store the origin,
        and then it returns the files that it wrote if they are others than the path.
    option
        Option that names the path to write.
    recorded
        Whether a record beside the file states its origin; only artifacts store it as well.
    kind
        Kind of artifact; empty for other files.
    measured
        Whether it holds times, which are no result: it may be left out, and no record lists it.
    check
        Refuses a path to write before anything is computed.
    """

    read: Callable[..., Any] | None = None
    write: Callable[..., Any] | None = None
    option: str = "out"
    recorded: bool = False
    kind: str = ""
    measured: bool = False
    check: Callable[[Any], None] | None = None

    @property
    def states_origin(self) -> bool:
        """Whether its format stores what made it."""
        return bool(self.kind) or not (self.recorded or self.measured)


class Stated(NamedTuple, Generic[Value]):
    """A value, and what its file states beside it: attributes that were read, or to be written."""

    value: Value
    facts: Facts


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
    """A prepared table: columns as read, inputs of the network, and the transforms between them.

    Attributes
    ----------
    inputs
        Columns as read (point, input).
    features
        Inputs of the network (point, feature).
    target
        Standardised target: shape (point,), or (point, output) for several targets; integer
        labels for classification.
    observed
        Target as read, in its unit, of the same axes.
    split
        0 train, 1 validation, 2 test, -1 unused (point,).
    reference
        Rows at which convergence is checked (reference_point,).
    transforms
        Constants of the feature and target transforms, by name.
    units
        Unit of each input and of each target, by name.
    scale_uncertainty
        Change of the target under variation of the physical scale, on the scale that the network
        learns (point,); None if it is not known.
    error
        Standard deviation of the numerical noise of the target, on the scale that the network
        learns: dex where that is log10 (point,); None where it is not known.
    relative_to
        Reference of the target, or of the first of several, in its unit (point,); None if the
        target is learned directly. `transforms` defines the reference.
    groups
        Group of each row, such as rows of known quality, whose scores are separate; None where no
        column names them.
    """

    inputs: np.ndarray
    features: np.ndarray
    target: np.ndarray
    observed: np.ndarray
    split: np.ndarray
    reference: np.ndarray
    input_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    transforms: dict[str, Document]
    units: dict[str, str]
    scale_uncertainty: np.ndarray | None = None
    error: np.ndarray | None = None
    relative_to: np.ndarray | None = None
    groups: RowGroups | None = None


class Plane(NamedTuple):
    """Class probabilities of the draws between the rows, on a grid over two inputs.

    Attributes
    ----------
    inputs
        Points of the grid (grid_point, input).
    probability
        Predictive probabilities, the means over draws (grid_point, class).
    expected_entropy
        Mean over draws of the entropy of one draw's probabilities, in nats (grid_point,).
    names
        Names of the inputs.
    """

    inputs: np.ndarray
    probability: np.ndarray
    expected_entropy: np.ndarray
    names: tuple[str, ...] = ()


class RivalPrediction(NamedTuple):
    """The predictions of a rival at every point, on the model scale.

    Attributes
    ----------
    function
        Its draws (draw, point), in the form of a posterior; empty if its library is missing.
    sd
        Standard deviation of a new observation as the rival states it (point,); None if it states
        none.
    facts
        Facts of its fit, such as the rows that it used.
    missing
        Required package that is not installed; None if the rival was fitted.
    """

    function: np.ndarray
    sd: np.ndarray | None
    facts: Facts
    missing: str | None = None


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


class Checkpoint(NamedTuple):
    """State of a group of chains, from which it continues bit for bit.

    The keys follow from the run's seed, `chains` and `next_step`.

    Attributes
    ----------
    chains
        Numbers of the chains of the chain group.
    next_step
        Number of the next step of the warm-up, or of the next draw.
    state
        Arrays of the kernel's state by name, each with leading axis (chain,).
    tuned
        Arrays of the tuned values by name, each with leading axis (chain,).
    adaptation
        Arrays of the carry of an unfinished warm-up, by name; empty in sampling.
    """

    chains: tuple[int, ...]
    next_step: int
    state: dict[str, np.ndarray]
    tuned: dict[str, np.ndarray]
    adaptation: dict[str, np.ndarray]


class WarmupSegment(NamedTuple):
    """Consecutive steps of the warm-up of a group of chains, and its state after the last.

    `stats` has axes (chain, step, ...).
    """

    first_step: int
    stats: dict[str, np.ndarray]
    end: Checkpoint


class Segment(NamedTuple):
    """Consecutive draws of a group of chains, and its state after the last.

    `variables` holds every `thin`-th draw (chain, kept, ...). Every draw is in `stats`
    (chain, draw, ...) and in `function` (chain, draw, reference_point), the network at the
    reference points in its own units, with a last axis (output) where it has several. A segment of
    no draws means that the chain group had converged before.
    """

    first_draw: int
    thin: int
    variables: NamedArrays
    stats: dict[str, np.ndarray]
    function: np.ndarray
    end: Checkpoint


class PosteriorDraws(NamedTuple):
    """Draws of a posterior by any method: chains of MCMC, or an approximation as one chain.

    Attributes
    ----------
    function
        The network at the reference points in its own units (chain, draw, reference_point), with
        a last axis (output) where it has several.
    log_density
        Log density of every draw (chain, draw), up to a constant.
    variables
        Weights by name, leading axes (chain, draw); None if a method gives only functions.
    masks
        Masks of the weights that a draw uses, by name of the array, if architectures differ; the
        others are zero, so that predictions need no mask.
    log_approximation
        Log density (chain, draw) of the distribution of an approximation; None if not known.
    centres
        Weights by name, leading axes (chain, draw), at which the network of each draw is
        linearised; None where draws are of the network itself.
    """

    function: np.ndarray
    log_density: np.ndarray
    variables: NamedArrays | None = None
    masks: Mapping[str, np.ndarray] = {}
    log_approximation: np.ndarray | None = None
    centres: NamedArrays | None = None


class PredictedDraws(NamedTuple):
    """Predictions of draws: on the model scale, or the probabilities of classes.

    Attributes
    ----------
    function
        f of every draw (draw, point), or (draw, point, output) for several targets; for classes
        their probabilities (draw, point, class).
    family
        Family of the likelihood's noise; None for classes.
    scale
        Its scale, which broadcasts over `function`.
    degrees_of_freedom
        Of a Student-t; a number, or one per draw (draw, 1).
    """

    function: np.ndarray
    family: str | None = None
    scale: np.ndarray | None = None
    degrees_of_freedom: Any = None


class Predictions(NamedTuple):
    """Predictions of a posterior and of its baseline at every point of a dataset.

    Attributes
    ----------
    posterior, baseline
        Of the draws, chain after chain, and of the MAPs.
    observed, split
        Target and split of the points; they identify the dataset.
    chains, draws
        Numbers of the chains, and of the draws of each.
    sizes
        Numbers of units or of layers of the network of every draw (chain, draw), by name; empty if
        they are fixed.
    plane
        Classes between the points; None if these do not have two inputs.
    """

    posterior: PredictedDraws
    baseline: PredictedDraws
    observed: np.ndarray
    split: np.ndarray
    chains: np.ndarray
    draws: np.ndarray
    sizes: Mapping[str, np.ndarray] = {}
    plane: Plane | None = None


class EarlierData(NamedTuple):
    """Gaussian summary of f from earlier data: linear combinations of f at points, with unit noise.

    Attributes
    ----------
    inputs
        The points, columns as read (point, input).
    root, observed
        root (combination, point) @ f is N(observed (combination,), 1), f on the model scale.
    input_names, target
        Names of the columns.
    units
        Unit of each input and of the target, by name.
    scale
        The model scale: `log10` or `identity`.
    relative_to, reference
        Settings of the reference of the target, and its value at the points (point,); None if the
        target was learned directly.
    """

    inputs: np.ndarray
    root: np.ndarray
    observed: np.ndarray
    input_names: tuple[str, ...]
    target: str
    units: dict[str, str]
    scale: str
    relative_to: Facts | None = None
    reference: np.ndarray | None = None


class NoiseTable(NamedTuple):
    """The standardised distribution function of a noise (bin, node) at its nodes (node,)."""

    residual: np.ndarray
    probability: np.ndarray


class SurrogateContent(NamedTuple):
    """The arrays of a surrogate for predictions, and its facts.

    Attributes
    ----------
    variables
        Weights and biases by name, each with leading axis (draw,).
    features
        Train rows as inputs of the network (row, feature).
    spacing
        Distance between train rows around each (row,).
    limits
        Smallest and largest value of each input among the train rows (input, 2).
    typical
        Inputs of a train row in the middle of the others (input,).
    noises
        The predictive noise of each target, in the bins of a feature; classes have none.
    facts
        Everything else by name: transforms, units, the noise's scale, verdicts, provenance.
    sha256
        SHA-256 of the file that was read; empty otherwise.
    rows
        Train rows that an infinitely wide network is conditioned on: `features` (row, feature),
        `target` (row,) and `error` (row,) by name; empty for other networks.
    """

    variables: dict[str, np.ndarray]
    features: np.ndarray
    spacing: np.ndarray
    limits: np.ndarray
    typical: np.ndarray
    noises: tuple[NoiseTable, ...]
    facts: Document
    sha256: str = ""
    rows: Mapping[str, np.ndarray] = {}
