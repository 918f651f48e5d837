"""Time networks: a gradient of the posterior, predictions of 1000 draws, loading these draws."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.netcdf import read_groups, write_groups
from nlobayes.commands.shared import runtime
from nlobayes.commands.shared.earlier import earlier_of
from nlobayes.errors import InputError
from nlobayes.model.networks import network_of
from nlobayes.own_functions import bind_activations
from nlobayes.study.jobs import SpeedJob, TimedRun, read_job
from nlobayes.types import Dataset

DRAWS, POINTS = 1000, (1, 256, 4096)
REPEATS, GRADIENTS = 5, 8


def speed(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[list[Path], typer.Option(help="Dataset of each network, in order.")],
    out: Annotated[Path, typer.Option(help="Table to write (CSV).")],
) -> None:
    """Write the best time of five for every network; the machine should do nothing else."""
    job = read_job(SpeedJob, spec)
    if len(dataset) != len(job.runs):
        raise InputError("commands.unequal_datasets", datasets=len(dataset), networks=len(job.runs))
    first = job.runs[0].model
    runtime.configure(first.precision, first.device, first.shards)
    runtime.choose_device(first.device, 0, first.shards)
    rows = [_time(run, read_dataset(path)) for run, path in zip(job.runs, dataset, strict=True)]
    write_csv(out, {name: [row[name] for row in rows] for name in rows[0]})


def _time(timed: TimedRun, data: Dataset) -> dict[str, Any]:
    import jax.numpy as jnp

    from nlobayes import builder

    model = builder.build_model(timed.model, data, earlier_of(timed.model))
    position = builder.draw_start(model, "prior", seed=0, chain=0)
    gradient = _seconds_per_gradient(model.sampled.logdensity_fn, model.sampled.reduce(position))
    steps = timed.integration_steps
    drawn = builder.name_variables(model, jnp.tile(position, (DRAWS, 1))).values
    row = {
        "run": timed.run,
        "device": runtime.device(),
        "parameters": model.density.size,
        "rows": int((data.split == 0).sum()),
        "seconds_per_gradient": gradient,
        "seconds_per_draw": np.nan if steps is None else gradient * steps,
        **_prediction_times(drawn, timed, len(data.feature_names)),
        "load_ms": 1e3 * _seconds_to_load(drawn),
    }
    typer.echo(f"{timed.run}: {1e3 * gradient:.3g} ms per gradient", err=True)
    return row


def _seconds_per_gradient(logdensity_fn: Callable[..., Any], position: Any) -> float:
    """Time a chain of gradients, each at the position that the one before led to."""
    import jax

    def move(here: Any, _: None) -> tuple[Any, None]:
        return here + 1e-6 * jax.grad(logdensity_fn)(here), None

    chain = jax.jit(lambda begin: jax.lax.scan(move, begin, length=GRADIENTS)[0])
    return _best(lambda: chain(position).block_until_ready()) / GRADIENTS


def _prediction_times(
    drawn: dict[str, np.ndarray], timed: TimedRun, features: int
) -> dict[str, float]:
    from nlobayes.surrogate.prediction import Compiled

    predict = Compiled(network_of(drawn, bind_activations(timed.model.network.activation)), drawn)
    points = np.random.default_rng(0).standard_normal((max(POINTS), features))
    return {
        f"predict_{count}_ms": 1e3 * _best(partial(predict, points[:count])) for count in POINTS
    }


def _seconds_to_load(drawn: dict[str, np.ndarray]) -> float:
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
        return _best(lambda: read_groups(path, "thinned"))


def _best(call: Callable[[], Any]) -> float:
    """Time a call that is already compiled: the least of several runs, in seconds."""
    call()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)
