"""Tabulate the energy between the MAPs of several chains."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nlobayes.artifacts.contents import DatasetFile, StartFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.commands.stage import stage
from nlobayes.errors import InputError
from nlobayes.study.jobs import LandscapeJob
from nlobayes.types import Columns, EarlierData, MAPEstimate

GRID, MARGIN = 41, 0.3
"""Points along an axis of the plane, and the margin around the MAPs, relative to their range."""
PATH_POINTS, BEZIER_STEPS, LEARNING_RATE = 61, 300, 0.1
COMPARED = 6
"""Most chains whose pairwise distances are tabulated."""


@stage()
def landscape(
    job: LandscapeJob, dataset: DatasetFile, start: list[StartFile], earlier: EarlierData | None
) -> TableFiles:
    """Tabulate the energy on a plane and along paths between MAPs, and distances of searches.

    The energy is the negative log posterior per train row. Cells of the table are empty where it
    is not finite. If the output layer is marginalised, plane, paths and energy are those of the
    remaining parameters.

    Parameters
    ----------
    dataset
        Dataset of the posterior.
    start
        MAP of a chain; at least three.

    Returns
    -------
    plots
        Folder for the tables behind the figures.
    """
    from nlobayes import builder

    _check_maps(start)
    model = builder.build_model(job.model, dataset, earlier)
    for number, one in enumerate(start):
        builder.check_finite(model, one.position, f"start[{number}]: the MAP of chain {one.chain}")
    rows = int((dataset.split == 0).sum())

    def energy_fn(position: Any) -> Any:
        return -model.sampled.logdensity_fn(position) / rows

    positions = builder.begin_chains(model, [one.position for one in start[:3]])
    key = builder.chain_key(job.seed, "landscape", 0)
    surface, maps = _plane(energy_fn, np.asarray(positions))
    chains = np.array([one.chain for one in start[:3]])
    return {
        "landscape": surface,
        "landscape_maps": {"chain": chains, **maps},
        "path": _path(key, energy_fn, positions),
        "distances": _distances(start[:COMPARED], model.sampled.reduce),
    }


def _check_maps(starts: list[MAPEstimate]) -> None:
    if len(starts) < 3:
        raise InputError("commands.too_few_maps", where="landscape", maps=len(starts))
    chains = [one.chain for one in starts]
    if len(set(chains)) < len(chains):
        raise InputError("commands.repeated_chains", where="landscape", chains=chains)
    epochs = starts[0].path_epochs
    for number, one in enumerate(starts):
        if not np.array_equal(one.path_epochs, epochs):
            raise InputError("commands.other_epochs", where=f"start[{number}]")


def _plane(energy_fn: Any, positions: np.ndarray) -> tuple[Columns, Columns]:
    from nlobayes.inference.landscape import energies_on, plane_through

    plane = plane_through(positions)
    low, high = plane.maps.min(axis=0), plane.maps.max(axis=0)
    margin = MARGIN * (high - low)
    alphas, betas = np.linspace(low - margin, high + margin, GRID).T
    surface = {
        "alpha": np.repeat(alphas, GRID),
        "beta": np.tile(betas, GRID),
        "energy": _finite(energies_on(energy_fn, plane, alphas, betas).ravel()),
    }
    alpha, beta = plane.maps.T
    energy = _finite(np.array([energy_fn(position) for position in positions]))
    return surface, {"alpha": alpha, "beta": beta, "energy": energy}


def _path(key: Any, energy_fn: Any, positions: Any) -> Columns:
    from nlobayes.inference.landscape import energies_along, fit_bezier, midpoint

    first, last = positions[0], positions[1]
    control = fit_bezier(
        key, energy_fn, first, last, steps=BEZIER_STEPS, learning_rate=LEARNING_RATE
    )
    t = np.linspace(0, 1, PATH_POINTS)
    straight = energies_along(energy_fn, first, midpoint(first, last), last, t)
    curved = energies_along(energy_fn, first, control, last, t)
    return {"t": t, "straight": _finite(straight), "bezier": _finite(curved)}


def _distances(starts: list[MAPEstimate], reduce: Callable[[Any], Any]) -> Columns:
    from nlobayes.inference.landscape import distances

    between = distances(np.stack([reduce(one.path) for one in starts]))
    epochs = starts[0].path_epochs
    chains = np.array([[starts[place].chain for place in pair] for pair in between])
    return {
        "epoch": np.tile(epochs, len(between)),
        "first": np.repeat(chains[:, 0], len(epochs)),
        "second": np.repeat(chains[:, 1], len(epochs)),
        "distance": np.concatenate([*between.values()]),
    }


def _finite(energies: np.ndarray) -> np.ndarray:
    """Replace energies that are not finite by NaN."""
    return np.where(np.isfinite(energies), energies, np.nan)
