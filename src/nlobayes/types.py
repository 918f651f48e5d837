"""The values that travel between the wings; no behaviour."""

from typing import Any, NamedTuple

import numpy as np


class Table(NamedTuple):
    """Named columns of equal length, the unit of each, and where they come from."""

    columns: dict[str, np.ndarray]
    units: dict[str, str]
    metadata: dict[str, str]


class Dataset(NamedTuple):
    """A table made ready: what was read, what the network sees, and how one becomes the other.

    Attributes
    ----------
    inputs
        Columns as read (point, input).
    features
        Inputs of the network (point, feature).
    target
        Target of the network (point,).
    observed
        Target as read, in its unit (point,).
    split
        0 train, 1 validation, 2 test, -1 unused (point,).
    reference
        Rows at which convergence is judged (reference_point,).
    transforms
        Constants of the feature and target transforms, by name.
    units
        Unit of each input and of the target, by name.
    """

    inputs: np.ndarray
    features: np.ndarray
    target: np.ndarray
    observed: np.ndarray
    split: np.ndarray
    reference: np.ndarray
    input_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    target_name: str
    transforms: dict[str, dict[str, Any]]
    units: dict[str, str]


class Named(NamedTuple):
    """Arrays by name, the dims of each, and the coordinates of these dims."""

    values: dict[str, np.ndarray]
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]


class Start(NamedTuple):
    """Where a chain starts: its MAP as a position (parameter,) and by name, and how it got there.

    `loss` (negative log posterior per row) and `validation_rmse` (network units): axis (epoch,).
    """

    chain: int
    position: np.ndarray
    variables: Named
    loss: np.ndarray
    validation_rmse: np.ndarray


class ChainState(NamedTuple):
    """All that the next draw of a chain needs, bit for bit.

    Its key follows from the run's seed, `chain` and `next_draw`.
    """

    chain: int
    next_draw: int
    position: np.ndarray
    logdensity: np.ndarray
    logdensity_grad: np.ndarray
    step_size: np.ndarray
    inverse_mass_matrix: np.ndarray


class Segment(NamedTuple):
    """Consecutive draws of one chain, and the state after the last.

    `variables` holds every `keep_every`-th draw (kept, ...); `stats` (draw,) and `function`
    (draw, reference_point), the network at the reference points in its own units, hold every draw.
    """

    first_draw: int
    keep_every: int
    variables: Named
    stats: dict[str, np.ndarray]
    function: np.ndarray
    end: ChainState
