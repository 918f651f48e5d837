"""Simulator `toy`: published toy problems with known answers, in train, validation and test rows.

Sources: B. S. Kronheim, M. P. Kuchera, H. B. Prosper, TensorBNN, arXiv:2009.14393 (a sparse and a
variably dense set of a noise-free function); M. Marek's comparison of samplers (a noisy quartic
with a gap); Berezowski's exclusive or of two inputs, a problem of classes. The rows of each split
follow each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.types import Table


class Toy(NamedTuple):
    """A function of one input, the sd of its noise, and the positions of its rows.

    `place` draws the train inputs. Validation inputs are uniform on the `trained` intervals, test
    inputs are evenly spaced on `tested`.
    """

    function: Callable[[np.ndarray], np.ndarray]
    noise: float
    place: Callable[[np.random.Generator], np.ndarray]
    trained: tuple[tuple[float, float], ...]
    tested: tuple[float, float]
    validation_rows: int
    test_rows: int


def simulate(*, name: str, seed: int) -> Table:
    """Return a table of x and y, or of x1, x2 and label, without units.

    Equal arguments give equal values.

    Raises InputError if the problem is not known.
    """
    if name in CLOUDS:
        return _exclusive_or(name, seed)
    if name not in TOYS:
        raise InputError("data.unknown_toy", name=name, known=[*TOYS, *CLOUDS])
    toy, rng = TOYS[name], np.random.default_rng(seed)
    x = np.concatenate([toy.place(rng), _validation_inputs(toy, rng), _test_inputs(toy)])
    y = toy.function(x) + toy.noise * rng.standard_normal(len(x))
    metadata = {"problem": name, "noise_sd": repr(toy.noise), "seed": str(seed)}
    return Table({"x": x, "y": y}, {"x": "", "y": ""}, metadata)


def _exclusive_or(name: str, seed: int) -> Table:
    """Draw Gaussian clouds around (+-1/2, +-1/2), with class 1 if the signs differ."""
    rng, rows = np.random.default_rng(seed), len(CORNERS) * sum(CLOUD_ROWS)
    corner = np.tile(CORNERS, (rows // len(CORNERS), 1))
    x1, x2 = (corner + np.sqrt(CLOUDS[name]) * rng.standard_normal(corner.shape)).T
    label = (corner[:, 0] * corner[:, 1] < 0).astype(np.float64)
    columns = {"x1": x1, "x2": x2, "label": label}
    metadata = {"problem": name, "variance": repr(CLOUDS[name]), "seed": str(seed)}
    return Table(columns, dict.fromkeys(columns, ""), metadata)


def _wave(x: np.ndarray) -> np.ndarray:
    return x * np.sin(2 * np.pi * x) - np.cos(np.pi * x)


def _quartic(x: np.ndarray) -> np.ndarray:
    return x / 2 + x**2 - x**4 / 4


def _sparse(rng: np.random.Generator) -> np.ndarray:
    return np.linspace(-2.0, 2.0, 11)


def _variable(rng: np.random.Generator) -> np.ndarray:
    dense = [np.linspace(-2.0, -1.0, 1024), np.linspace(1.0, 2.0, 1024)]
    return np.concatenate([*dense, np.linspace(-1.0, 1.0, 9)[1:-1]])


def _gapped(rng: np.random.Generator) -> np.ndarray:
    left, right = np.arange(12), np.arange(19)
    return np.concatenate([-1.1 + 0.05 * left, 0.5 + 0.05 * right])


def _validation_inputs(toy: Toy, rng: np.random.Generator) -> np.ndarray:
    lows, highs = np.transpose(toy.trained)
    widths = highs - lows
    interval = rng.choice(len(widths), toy.validation_rows, p=widths / widths.sum())
    return rng.uniform(lows[interval], highs[interval])


def _test_inputs(toy: Toy) -> np.ndarray:
    return np.linspace(*toy.tested, toy.test_rows)


CLOUDS = {"xor": 0.015, "xor_noisy": 0.08}
"""Variance of the clouds of the exclusive or, along each axis."""
CLOUD_ROWS = (50, 25, 50)
"""Train, validation and test rows of each cloud."""
CORNERS = np.array([(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)])

TOYS = {
    "tensorbnn_sparse": Toy(_wave, 0.0, _sparse, ((-2.0, 2.0),), (-3.0, 3.0), 50, 122),
    "tensorbnn_variable": Toy(_wave, 0.0, _variable, ((-2.0, 2.0),), (-3.0, 3.0), 50, 120),
    "marek": Toy(_quartic, 0.1, _gapped, ((-1.1, -0.5), (0.5, 1.4)), (-2.0, 2.0), 30, 100),
}
