"""Tabulate the energy between the MAPs of several chains."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, read_map
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import runtime
from nlobayes.commands.shared.earlier import earlier_files, earlier_of
from nlobayes.errors import InputError
from nlobayes.study.jobs import LandscapeJob, read_job
from nlobayes.types import MAPEstimate

GRID, MARGIN = 41, 0.3
"""Points along an axis of the plane, and the margin around the MAPs, relative to their range."""
PATH_POINTS, BEZIER_STEPS, LEARNING_RATE = 61, 300, 0.1
COMPARED = 6
"""Most chains whose pairwise distances are tabulated."""

Columns = dict[str, np.ndarray]


def landscape(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; at least three.")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables behind the figures.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Tabulate the energy on a plane and along paths between MAPs, and distances of searches.

    The energy is the negative log posterior per train row. Cells of the table are empty where it
    is not finite. If the output layer is marginalised, plane, paths and energy are those of the
    remaining parameters.
    """
    job = read_job(LandscapeJob, spec)
    starts = _read_maps(start)
    runtime.configure(job.model.precision, job.model.device, job.model.shards)
    runtime.choose_device(job.model.device, shards=job.model.shards)
    from nlobayes import builder

    data = read_dataset(dataset)
    model = builder.build_model(job.model, data, earlier_of(job.model))
    for path, one in zip(start, starts, strict=True):
        builder.check_finite(model, one.position, f"{path}: the MAP of chain {one.chain}")
    rows = int((data.split == 0).sum())

    def energy_fn(position: Any) -> Any:
        return -model.sampled.logdensity_fn(position) / rows

    positions = builder.begin_chains(model, [one.position for one in starts[:3]])
    key = builder.chain_key(job.seed, "landscape", 0)
    surface, maps = _plane(energy_fn, np.asarray(positions))
    chains = np.array([one.chain for one in starts[:3]])
    written = {
        "landscape": surface,
        "landscape_maps": {"chain": chains, **maps},
        "path": _path(key, energy_fn, positions),
        "distances": _distances(starts[:COMPARED], model.sampled.reduce),
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    made = provenance.record(
        "landscape",
        job.model_dump(),
        digests([dataset, *start, *earlier_files(job.model)]),
        device=runtime.device(),
        precision=job.model.precision,
    )
    write_record(record, made, [plots / f"{name}.csv" for name in written])


def _read_maps(paths: list[Path]) -> list[MAPEstimate]:
    if len(paths) < 3:
        raise InputError("commands.too_few_maps", where="landscape", maps=len(paths))
    starts = [read_map(path) for path in paths]
    chains = [one.chain for one in starts]
    if len(set(chains)) < len(chains):
        raise InputError("commands.repeated_chains", where="landscape", chains=chains)
    epochs = starts[0].path_epochs
    for path, one in zip(paths, starts, strict=True):
        if not np.array_equal(one.path_epochs, epochs):
            raise InputError("commands.other_epochs", where=path, first=paths[0])
    return starts


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
    from nlobayes.inference.landscape import along, fit_bezier, midpoint

    first, last = positions[0], positions[1]
    control = fit_bezier(
        key, energy_fn, first, last, steps=BEZIER_STEPS, learning_rate=LEARNING_RATE
    )
    t = np.linspace(0, 1, PATH_POINTS)
    straight = along(energy_fn, first, midpoint(first, last), last, t)
    curved = along(energy_fn, first, control, last, t)
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
