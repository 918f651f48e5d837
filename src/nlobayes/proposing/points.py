"""The next points of a design: chosen by the posterior of a surrogate, and a share at random.

The random points are honest validation: no posterior chose them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

import numpy as np

from nlobayes.choosing.at_random import EquivalentRandom, equivalent_random
from nlobayes.choosing.batch import choose
from nlobayes.designs import Design
from nlobayes.designs import Points as Columns
from nlobayes.surrogate.surrogate import Surrogate

CANDIDATES, REFERENCE = 1500, 500
"""Most points to choose from, and points of interest, all drawn at random from the design."""
POSTERIOR, RANDOM = "posterior", "random"


class Proposal(NamedTuple):
    """Points (point,) by column, and what chose each: `posterior` or `random` (point,)."""

    points: Columns
    chosen: np.ndarray


def next_points(
    surrogate: Surrogate,
    design: Design,
    taken: Mapping[str, np.ndarray],
    count: int,
    *,
    share: float = 0.2,
    seed: int = 0,
    output: str | None = None,
) -> Proposal:
    """Choose the next points of a design: random ones first, then those chosen by the posterior.

    A pool with fewer rows than `count` gives them all. Points at which the surrogate predicts
    nothing are proposed at random only.

    Parameters
    ----------
    surrogate
        Surrogate whose `inputs` are the columns of the design, in its units.
    design
        Distribution of points of interest, from which candidates are drawn.
    taken
        Points that are already computed (point,) by column.
    count
        Number of points.
    share
        Share of the points that is drawn at random.
    output
        Output of the surrogate whose variance is reduced; its target by default.
    """
    random = design.random(ceil(share * count), 3 * seed, taken)
    used = {name: np.concatenate([taken[name], values]) for name, values in random.items()}
    candidates = _usable(surrogate, design.random(CANDIDATES, 3 * seed + 1, used))
    reference = _usable(surrogate, design.random(REFERENCE, 3 * seed + 2, taken))
    drawn = len(random[surrogate.inputs[0]])
    wanted = min(count - drawn, len(candidates))
    if wanted and len(reference):
        both = np.concatenate([candidates, reference])
        numbers = np.arange(len(both))
        given = surrogate.covariances(both, output=output)
        noise = surrogate.noise_variances(both, output=output)
        at = numbers[: len(candidates)], numbers[len(candidates) :]
        candidates = candidates[choose(given, noise, *at, wanted)]
    points = {
        name: np.concatenate([random[name], candidates[:wanted, place]])
        for place, name in enumerate(surrogate.inputs)
    }
    return Proposal(points, np.repeat([RANDOM, POSTERIOR], [drawn, wanted]))


def as_good_as(
    surrogate: Surrogate, design: Design, *, seed: int = 0, output: str | None = None
) -> EquivalentRandom | None:
    """Estimate how many random points leave the variance that the surrogate has now.

    None for finite networks, which have no prior covariance. See `choosing.at_random`.
    """
    if not surrogate.of_process:
        return None
    none = {name: np.empty(0) for name in design.columns}
    order = _usable(surrogate, design.random(CANDIDATES, 3 * seed + 1, none))
    reference = _usable(surrogate, design.random(REFERENCE, 3 * seed + 2, none))
    both = np.concatenate([order, reference])
    variance = surrogate.covariances(reference, output=output)
    left = float(np.einsum("dpp->dp", variance).mean())
    numbers = np.arange(len(both))
    return equivalent_random(
        surrogate.covariances(both, prior=True, output=output),
        surrogate.noise_variances(both, output=output),
        numbers[: len(order)],
        numbers[len(order) :],
        left,
    )


def _usable(surrogate: Surrogate, points: Columns) -> np.ndarray:
    """Return the points (point, input) that have a prediction."""
    rows = np.column_stack([points[name] for name in surrogate.inputs])
    return rows[surrogate.usable(rows)]
