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
    from nlobayes.inference.landscape import tabulate_path, tabulate_plane

    _check_maps(start)
    model = builder.build_model(job.model, dataset, earlier)
    for number, one in enumerate(start):
        builder.check_finite(model, one.position, f"start[{number}]: the MAP of chain {one.chain}")
    rows = int((dataset.split == 0).sum())

    def energy_fn(position: Any) -> Any:
        return -model.sampled.logdensity_fn(position) / rows

    positions = builder.begin_chains(model, [one.position for one in start[:3]])
    key = builder.chain_key(job.seed, "landscape", 0)
    surface, maps = tabulate_plane(energy_fn, np.asarray(positions))
    chains = np.array([one.chain for one in start[:3]])
    return {
        "landscape": surface,
        "landscape_maps": {"chain": chains, **maps},
        "path": tabulate_path(key, energy_fn, positions),
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
