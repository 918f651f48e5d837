"""Recipes: presets that belong together, for any table and for smooth targets with little noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from nlobayes.data.features import map_features
from nlobayes.data.smoothness import unexplained
from nlobayes.data.transforms import TARGET_SCALES
from nlobayes.errors import InputError
from nlobayes.types import Table

AUTO = "auto"
Precision = Literal["float32", "float64"]


class Recipe(NamedTuple):
    """Presets, and the least learned sigma with which chains agree.

    `hidden` has the units of the hidden layers, and `output` the treatment of the output layer
    (`networks.*.output`). On targets without noise sigma falls to its floor. Chains agree up to a
    `tightness`, train rows / sigma², and with sigma of at least `least_sigma` in units of the
    target's sd.
    """

    hidden: tuple[int, ...]
    output: str
    prior: str
    pretraining: str
    method: str
    precision: Precision
    tightness: float
    least_sigma: float

    def floor_of(self, train_rows: int, most: float) -> float:
        """Compute the floor of a learned sigma; few rows allow a smaller one, up to `most`."""
        return min(most, max(self.least_sigma, round((train_rows / self.tightness) ** 0.5, 3)))


PLAIN, SMOOTH = "plain", "smooth"
RECIPES = {
    PLAIN: Recipe((32,), "sampled", "fan_in", "adam", "hmc_table", "float32", 1.25e5, 0.03),
    SMOOTH: Recipe(
        (128,), "marginalised", "random_features", "scales", "hmc_scales", "float64", 6e7, 0.002
    ),
}
MOST_UNEXPLAINED = 0.15
"""Largest share of the target's sd that polynomials may leave for recipe `smooth`."""


def recipe_of(name: str, share: float | None, *, fits: bool) -> str:
    """Choose a recipe: the one that is named, or for `auto` the one that suits the table.

    Parameters
    ----------
    name
        Name of a recipe, or `auto`.
    share
        What polynomials leave of the target's sd (`share_left`); None if it is not known.
    fits
        Whether recipe `smooth` fits the other choices.

    Raises
    ------
    InputError
        If there is no recipe of this name.
    """
    if name not in (AUTO, *RECIPES):
        raise InputError("fitting.unknown_recipe", name=name, known=[AUTO, *RECIPES])
    if name != AUTO:
        return name
    return SMOOTH if fits and share is not None and share <= MOST_UNEXPLAINED else PLAIN


def share_left(dataset: Mapping[str, Any], table: Table) -> float | None:
    """Return the share of the target's sd that polynomials leave, on the scale of a dataset.

    It is None for classes, and for columns that the dataset will refuse.
    """
    features, target = dataset["features"], dataset["target"]
    columns = [table.columns.get(name) for name in (*features["columns"], target["column"])]
    numbers = [column for column in columns if column is not None and column.dtype.kind == "f"]
    if len(numbers) < len(columns) or target["scale"] not in TARGET_SCALES:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = TARGET_SCALES[target["scale"]](numbers[-1])
    try:
        return unexplained(map_features(features["map"], np.column_stack(numbers[:-1])), observed)
    except InputError:
        return None
