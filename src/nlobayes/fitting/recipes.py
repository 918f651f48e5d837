"""Recipes: presets that belong together, for any table and for smooth targets with little noise."""

from __future__ import annotations

from typing import Literal, NamedTuple

from nlobayes.errors import InputError

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


def recipe_of(name: str) -> str:
    """Return the name of a recipe; `auto` is `plain`, which suits any table and any presets.

    Raises
    ------
    InputError
        If there is no recipe of this name.
    """
    if name not in (AUTO, *RECIPES):
        raise InputError("fitting.unknown_recipe", name=name, known=[AUTO, *RECIPES])
    return PLAIN if name == AUTO else name
