"""Fit a Bayesian deep ensemble of bde (MILE) to prepared rows, in an environment of its own.

    python3.11 -m venv env_bde && env_bde/bin/pip install sklearn-contrib-bde==1.0.2
    env_bde/bin/python bde_ensemble.py problem.npz settings.json draws.npz

The problem holds `features` and `target` of the train rows, standardised, and the `points` (point,
feature) that are predicted. The settings are those of `bde.BdeRegressor`, and `devices`, among
which its members are divided. The file that is written holds for every draw its mean `centres`
(chain, draw, point) and its `sd` of an observation, which broadcasts to it; a member is a chain.
Seconds are those of the fit, compilation included and imports not.
"""

import argparse
import json
import os
import resource
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SMALLEST_SD = 1e-6
"""What bde adds to the standard deviation of every draw."""


def main() -> None:
    """Fit, predict, and write what was predicted with its cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("problem", "settings", "draws"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    settings = json.loads(given.settings.read_text())
    devices = settings.pop("devices", 1)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    with np.load(given.problem) as arrays:
        found = fit(arrays["features"], arrays["target"], arrays["points"], settings)
    np.savez(given.draws, **found, version=f"sklearn-contrib-bde {version('sklearn-contrib-bde')}")


def fit(
    features: np.ndarray, target: np.ndarray, points: np.ndarray, settings: dict[str, Any]
) -> dict[str, Any]:
    """Fit the estimator and predict; the seconds of both, and the peak of memory."""
    from bde import BdeRegressor
    from bde.loss import GaussianNLL

    regressor = BdeRegressor(loss=GaussianNLL(), **settings)
    begun = time.process_time(), time.perf_counter()
    regressor.fit(features, target)
    fitted = time.process_time(), time.perf_counter()
    raw = np.asarray(regressor.predict(points, raw=True), np.float64)
    return {
        **law_of_draws(raw),
        "cpu_seconds": fitted[0] - begun[0],
        "seconds": fitted[1] - begun[1],
        "predict_seconds": time.perf_counter() - fitted[1],
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def law_of_draws(raw: np.ndarray) -> dict[str, np.ndarray]:
    """Read mean and standard deviation of every draw from raw outputs (member, draw, point, 2)."""
    return {"centres": raw[..., 0], "sd": np.logaddexp(0, raw[..., 1]) + SMALLEST_SD}


if __name__ == "__main__":
    main()
