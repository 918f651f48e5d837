"""Time networks: gradients of the posterior, predictions of 1000 draws, loading of these draws."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
import xarray as xr

from nlobayes import runtime
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.netcdf import open_artifact, write_groups
from nlobayes.commands.stage import earlier_of
from nlobayes.diagnostics.trials import Trials, cores_used, milliseconds, quantiles, time_trials
from nlobayes.errors import InputError
from nlobayes.model.networks import network_of
from nlobayes.own_functions import bind_activations
from nlobayes.study.jobs_of_runs import SpeedJob, TimedRun
from nlobayes.study.read_jobs import read_job
from nlobayes.types import Columns, Dataset
from nlobayes.untyped import Document

DRAWS, POINTS = 1000, (1, 16, 256, 4096)
TRIALS, LOADINGS, GRADIENTS = 20, 1000, 8


class Timed(NamedTuple):
    """A timed network: its facts, the times of computations, and the times of loading."""

    facts: Document
    computed: dict[str, Trials]
    loading: Trials


def speed(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[list[Path], typer.Option(help="Dataset of each network, in order.")],
    out: Annotated[Path, typer.Option(help="Table to write (CSV).")],
    loadings: Annotated[Path, typer.Option(help="Table of every loading to write (CSV).")],
) -> None:
    """Write the times of every network; the machine should be idle otherwise.

    (No stage: it has one dataset and one model per network, and no record of its times.)
    """
    job = read_job(SpeedJob, spec)
    if len(dataset) != len(job.runs):
        raise InputError("commands.unequal_datasets", datasets=len(dataset), networks=len(job.runs))
    first = job.runs[0].model
    runtime.configure(first.precision, first.device, first.shards)
    runtime.choose_device(first.device, 0, first.shards)
    timed = [_time(run, read_dataset(path)) for run, path in zip(job.runs, dataset, strict=True)]
    rows = [_row(one) for one in timed]
    write_csv(out, {name: [row[name] for row in rows] for name in rows[0]})
    write_csv(loadings, _every_loading(timed))


def _row(timed: Timed) -> Document:
    """Summarise the times of all trials of a network in one row."""
    cores = cores_used(*timed.computed.values())
    row = {**timed.facts, "cores": cores, "trials": TRIALS, "loadings": LOADINGS}
    for name, trials in {**timed.computed, "load": timed.loading}.items():
        row |= milliseconds(name, trials)
    return row | quantiles("load", timed.loading)


def _every_loading(timed: list[Timed]) -> Columns:
    return {
        **{
            name: np.repeat([one.facts[name] for one in timed], LOADINGS)
            for name in ("run", "parameters")
        },
        "load_ms": np.concatenate([1e3 * one.loading.seconds for one in timed]),
    }


def _time(run: TimedRun, data: Dataset) -> Timed:
    import jax.numpy as jnp

    from nlobayes import builder

    model = builder.build_model(run.model, data, earlier_of(run.model))
    position = builder.draw_start(model, "prior", seed=0, chain=0)
    gradient = _gradient(model.sampled.logdensity_fn, model.sampled.reduce(position))
    median = float(np.median(gradient.seconds))
    typer.echo(f"{run.run}: {1e3 * median:.3g} ms per gradient", err=True)
    drawn = builder.name_variables(model, jnp.tile(position, (DRAWS, 1))).values
    facts = {
        "run": run.run,
        "device": runtime.device(),
        "parameters": model.density.size,
        "rows": int((data.split == 0).sum()),
        **_seconds_per_draw(run, median),
    }
    predictions = _predictions(drawn, run, len(data.feature_names))
    return Timed(facts, {"gradient": gradient, **predictions}, _loading(drawn))


def _seconds_per_draw(run: TimedRun, gradient: float) -> dict[str, float]:
    """Return the seconds of a draw of fixed length, and the most seconds of any draw."""
    steps, most = run.integration_steps, run.most_gradients
    return {
        "seconds_per_draw": np.nan if steps is None else gradient * steps,
        "seconds_per_draw_at_most": np.nan if most is None else gradient * most,
    }


def _gradient(logdensity_fn: Callable[..., Any], position: Any) -> Trials:
    """Time a chain of gradients, each at a position that depends on the gradient before."""
    import jax

    def move(here: Any, _: None) -> tuple[Any, None]:
        return here + 1e-6 * jax.grad(logdensity_fn)(here), None

    chain = jax.jit(lambda begin: jax.lax.scan(move, begin, length=GRADIENTS)[0])
    return time_trials(lambda: chain(position).block_until_ready(), TRIALS).per(GRADIENTS)


def _predictions(drawn: dict[str, np.ndarray], run: TimedRun, features: int) -> dict[str, Trials]:
    """Time mean and standard deviation over draws (`predict`), and all outputs of draws (`raw`)."""
    from nlobayes.surrogate.prediction import CompiledNetwork

    network = CompiledNetwork(
        network_of(drawn, bind_activations(run.model.network.activation)), drawn
    )
    points = np.random.default_rng(0).standard_normal((max(POINTS), features))
    ways: dict[str, Callable[..., Any]] = {"predict": network.mean_and_sd, "raw": network}
    return {
        f"{name}_{count}": time_trials(partial(way, points[:count]), TRIALS)
        for name, way in ways.items()
        for count in POINTS
    }


def _loading(drawn: dict[str, np.ndarray]) -> Trials:
    """Time reading a file of the draws."""
    dims = {
        n: ("chain", "draw", *(f"{n}_{i}" for i in range(v.ndim - 1))) for n, v in drawn.items()
    }
    posterior = xr.Dataset({name: (dims[name], drawn[name][None]) for name in drawn})
    groups = {
        "posterior": posterior,
        "observed_data": xr.Dataset({"target": ("point", np.zeros(1))}),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draws.nc"
        write_groups(path, "thinned", groups, {})
        return time_trials(partial(open_artifact, path, "thinned"), LOADINGS)
