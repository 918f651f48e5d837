"""What `devices` measures, in a process of its own: each stage of a run of four chains."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.common import Case, Row, model_job
from benchmarks.measure import draw_of, timed
from nlobayes import builder
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset

SIGMA, CHAINS, LEAPFROGS = 0.05, 4, 256
EPOCHS, FULL_EPOCHS, DRAWS, KEPT, POINTS = 100, 2000, 1000, 1000, 4096
LEAST_SECONDS = 3.0
"""A stage is repeated this long, so that the counter of the GPU sees it."""
LOOK = ("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100")


def stages(dataset: Dataset, case: Case, device: Any) -> list[Row]:
    """Time the stages of a run of four chains."""
    job = model_job(case, SIGMA, device)
    model = builder.build_model(job, dataset)
    draw = draw_of(model, "hmc", 1 if device == "cpu" else CHAINS, LEAPFROGS)
    seconds, busy = _repeated(draw, device)
    name = f"{DRAWS} draws of {LEAPFROGS} steps"
    rows = [{"stage": name, "seconds": DRAWS * seconds, "busy": busy}]
    lengths: tuple[tuple[int, Any], ...] = ((EPOCHS, 32), (FULL_EPOCHS, "full"))
    for epochs, batch in lengths:
        preset = Pretraining(epochs=epochs, batch=batch, learning_rate=1e-3)
        search = builder.build_search(model, dataset, preset, 0)
        search(0)
        seconds, busy = _repeated(partial(search, 1), device)
        name = f"{CHAINS} MAPs, {epochs} epochs, batch {batch}"
        rows.append({"stage": name, "seconds": CHAINS * seconds, "busy": busy})
    predict = builder.predict_with(model)
    positions = jnp.stack([model.density.draw_prior(0)] * KEPT)
    points = jnp.zeros((POINTS, dataset.features.shape[1]), positions.dtype)
    mean = jax.jit(lambda q: jax.lax.map(lambda one: predict(one, points), q).mean(axis=0))
    mean(positions)
    seconds, busy = _repeated(lambda: mean(positions), device)
    rows.append({"stage": f"{POINTS} predictions", "seconds": seconds, "busy": busy})
    return [{"case": str(case), **row} for row in rows]


def _repeated(call: Callable[[], Any], device: str) -> tuple[float, float]:
    """Repeat a call for a few seconds; the seconds of the fastest, and how busy a GPU was."""

    def repeat() -> float:
        each: list[float] = []
        while sum(each) < LEAST_SECONDS:
            each.append(timed(call, device)[1])
        return min(each)

    return _watched(repeat, device)


def _watched(call: Callable[[], Any], device: str) -> tuple[Any, float]:
    """Call, and give the mean share of time in which a GPU computed (NaN on a CPU)."""
    if device == "cpu":
        return call(), np.nan
    with subprocess.Popen(LOOK, stdout=subprocess.PIPE, text=True) as looking:
        shares: list[float] = []
        assert looking.stdout is not None
        reader = threading.Thread(target=lambda: shares.extend(map(float, looking.stdout or ())))
        reader.start()
        result = call()
        looking.terminate()
        reader.join()
    return result, float(np.mean(shares)) if shares else np.nan
